# expect: width 3
import math

from marqov import Circuit


def cp(c, theta, a, b):
    c.rz(theta / 2, a).rz(theta / 2, b).cx(a, b).rz(-theta / 2, b).cx(a, b)


circuit = Circuit()
n = 3
for i in range(n):
    circuit.h(i)
    for j in range(i + 1, n):
        cp(circuit, math.pi / 2 ** (j - i), j, i)
for i in range(n // 2):
    circuit.swap(i, n - 1 - i)
