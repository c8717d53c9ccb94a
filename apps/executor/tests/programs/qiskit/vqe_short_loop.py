# expect: value {"energy": -1.0}
# expect-stdout: iteration 0
# expect-warning: shots, engine, engine_version and optimization_level are null
import numpy as np
from qiskit.circuit.library import efficient_su2
from qiskit.primitives import StatevectorEstimator
from qiskit.quantum_info import SparsePauliOp
from scipy.optimize import minimize

hamiltonian = SparsePauliOp.from_list([("ZZ", 0.5), ("XX", 0.5), ("II", 0.0)])
ansatz = efficient_su2(2, reps=1)
estimator = StatevectorEstimator()
history = []


def cost(x):
    energy = estimator.run([(ansatz, hamiltonian, x)]).result()[0].data.evs
    if len(history) % 20 == 0:
        print(f"iteration {len(history)}: {energy:.4f}")
    history.append(float(energy))
    return energy


def main():
    x0 = np.random.default_rng(1).random(ansatz.num_parameters)
    result = minimize(cost, x0, method="BFGS", options={"maxiter": 60})
    return {"energy": round(float(result.fun), 3), "evaluations": len(history)}
