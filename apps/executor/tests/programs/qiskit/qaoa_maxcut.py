# expect: width 3
# expect-stdout: bound: 0 free parameters
import networkx as nx
from qiskit.circuit.library import qaoa_ansatz
from qiskit.quantum_info import SparsePauliOp

graph = nx.cycle_graph(3)
terms = [("ZZ", [u, v], 1.0) for u, v in graph.edges()]
cost_hamiltonian = SparsePauliOp.from_sparse_list(terms, 3)
ansatz = qaoa_ansatz(cost_hamiltonian, reps=2)
print(f"{ansatz.num_parameters} parameters")
qc = ansatz.assign_parameters([0.3, 0.7, 0.2, 0.5])
print("bound:", len(qc.parameters), "free parameters")
qc.measure_all()
