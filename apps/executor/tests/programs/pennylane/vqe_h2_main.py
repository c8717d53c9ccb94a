# expect: value {"converged": True}
# expect-warning: shots, engine, engine_version and optimization_level are null
import pennylane as qml
from pennylane import numpy as np

coeffs = [-0.0996, 0.1711, 0.1711, -0.2225, -0.2225, 0.1686, 0.0453, -0.0453, -0.0453, 0.0453]
obs = [
    qml.Identity(0), qml.Z(0), qml.Z(1), qml.Z(2), qml.Z(3), qml.Z(0) @ qml.Z(1),
    qml.Y(0) @ qml.X(1) @ qml.X(2) @ qml.Y(3), qml.Y(0) @ qml.Y(1) @ qml.X(2) @ qml.X(3),
    qml.X(0) @ qml.X(1) @ qml.Y(2) @ qml.Y(3), qml.X(0) @ qml.Y(1) @ qml.Y(2) @ qml.X(3),
]
H = qml.Hamiltonian(coeffs, obs)
dev = qml.device("lightning.qubit", wires=4)


@qml.qnode(dev)
def circuit(theta):
    qml.BasisState(np.array([1, 1, 0, 0]), wires=range(4))
    qml.DoubleExcitation(theta, wires=[0, 1, 2, 3])
    return qml.expval(H)


def main():
    opt = qml.GradientDescentOptimizer(stepsize=0.4)
    theta = np.array(0.0, requires_grad=True)
    energies = []
    for _ in range(12):
        theta, energy = opt.step_and_cost(circuit, theta)
        energies.append(energy)
    return {"converged": bool(energies[-1] < energies[0]), "theta": theta, "energies": energies}
