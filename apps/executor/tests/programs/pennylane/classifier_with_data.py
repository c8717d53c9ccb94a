# expect: value {"accuracy_known": True}
# expect-warning: shots, engine, engine_version and optimization_level are null
import pennylane as qml
from pennylane import numpy as np

dev = qml.device("default.qubit", wires=2)


@qml.qnode(dev)
def circuit(weights, x):
    qml.BasisState(x, wires=[0, 1])
    for layer in weights:
        for wire in range(2):
            qml.Rot(*layer[wire], wires=wire)
        qml.CNOT([0, 1])
    return qml.expval(qml.PauliZ(0))


def variational_classifier(weights, bias, x):
    return circuit(weights, x) + bias


def square_loss(labels, predictions):
    return np.mean((labels - qml.math.stack(predictions)) ** 2)


def main():
    np.random.seed(0)
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], requires_grad=False)
    Y = np.array([-1, 1, 1, -1], requires_grad=False)
    weights = 0.01 * np.random.randn(1, 2, 3, requires_grad=True)
    bias = np.array(0.0, requires_grad=True)
    opt = qml.NesterovMomentumOptimizer(0.5)

    def cost(weights, bias, X, Y):
        return square_loss(Y, [variational_classifier(weights, bias, x) for x in X])

    for _ in range(3):
        weights, bias, _, _ = opt.step(cost, weights, bias, X, Y)
    predictions = [np.sign(variational_classifier(weights, bias, x)) for x in X]
    accuracy = sum(abs(p - y) < 1e-5 for p, y in zip(predictions, Y)) / len(Y)
    return {"accuracy_known": bool(0 <= accuracy <= 1), "weights": weights, "bias": bias}
