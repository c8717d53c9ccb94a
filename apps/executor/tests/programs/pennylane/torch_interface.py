# expect-error: No module named 'torch'
# expect-error: remove what needs it
# expect-line: 5
import pennylane as qml
import torch

dev = qml.device("default.qubit", wires=1)
