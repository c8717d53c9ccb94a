# expect: width 6
import random

from marqov import Circuit

random.seed(5)
circuit = Circuit()
for layer in range(4):
    for q in range(6):
        getattr(circuit, random.choice(["rx", "ry", "rz"]))(random.uniform(0, 6.28), q)
    for q in range(layer % 2, 5, 2):
        circuit.cz(q, q + 1)
