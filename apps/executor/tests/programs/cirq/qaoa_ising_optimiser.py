# expect: value {"improved": True}
# expect-warning: shots, engine, engine_version and optimization_level are null
import cirq
import numpy as np
import sympy

length = 3
gamma, beta = sympy.symbols("gamma beta")
qubits = cirq.LineQubit.range(length)
edges = [(0, 1), (1, 2), (0, 2)]


def qaoa_circuit():
    yield cirq.H.on_each(*qubits)
    for u, v in edges:
        yield cirq.ZZPowGate(exponent=gamma)(qubits[u], qubits[v])
    yield [cirq.XPowGate(exponent=beta)(q) for q in qubits]


ansatz = cirq.Circuit(qaoa_circuit())
observable = sum(cirq.Z(qubits[u]) * cirq.Z(qubits[v]) for u, v in edges)


def energy(g, b):
    resolver = {"gamma": g, "beta": b}
    return cirq.Simulator().simulate_expectation_values(ansatz, observables=[observable], param_resolver=resolver)[0].real


def main():
    grid = [(energy(g, b), g, b) for g in np.linspace(0, 1, 5) for b in np.linspace(0, 1, 5)]
    best = min(grid)
    return {"improved": best[0] < -0.5, "best": best[0], "gamma": best[1], "beta": best[2]}
