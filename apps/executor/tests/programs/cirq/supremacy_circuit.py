# expect: width 4
import cirq

circuit = cirq.experiments.random_rotations_between_grid_interaction_layers_circuit(
    cirq.GridQubit.rect(2, 2), depth=4, seed=7
)
circuit.append(cirq.measure(*sorted(circuit.all_qubits())))
