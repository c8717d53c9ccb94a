# expect: width 4
# expect-warning: arguments of its last call
import networkx as nx
import pennylane as qml
from pennylane import numpy as np
from pennylane import qaoa

graph = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
cost_h, mixer_h = qaoa.min_vertex_cover(graph, constrained=False)
wires = range(4)
depth = 2


def qaoa_layer(gamma, alpha):
    qaoa.cost_layer(gamma, cost_h)
    qaoa.mixer_layer(alpha, mixer_h)


def circuit(params, **kwargs):
    for w in wires:
        qml.Hadamard(wires=w)
    qml.layer(qaoa_layer, depth, params[0], params[1])


dev = qml.device("default.qubit", wires=wires)


@qml.qnode(dev)
def cost_function(params):
    circuit(params)
    return qml.expval(cost_h)


@qml.qnode(dev)
def probability_circuit(gamma, alpha):
    circuit([gamma, alpha])
    return qml.probs(wires=wires)


optimizer = qml.GradientDescentOptimizer()
params = np.array([[0.5, 0.5], [0.5, 0.5]], requires_grad=True)
for i in range(2):
    params = optimizer.step(cost_function, params)
probs = probability_circuit(params[0], params[1])
