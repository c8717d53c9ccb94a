# expect: value {"energy": -1.0}
# expect-warning: shots, engine, engine_version and optimization_level are null
from braket.circuits import Circuit, FreeParameter, Observable
from braket.devices import LocalSimulator
from scipy.optimize import minimize

theta = FreeParameter("theta")
ansatz = Circuit().ry(0, theta).expectation(Observable.Z(), target=0)
simulator = LocalSimulator()


def energy(x):
    return simulator.run(ansatz, shots=0, inputs={"theta": float(x[0])}).result().values[0]


def main():
    result = minimize(energy, [0.5], method="COBYLA", options={"maxiter": 30})
    return {"energy": round(float(result.fun), 2)}
