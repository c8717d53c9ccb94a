# expect: counts {"1010": 1}
from marqov import Circuit


def pattern(bits: str) -> Circuit:
    c = Circuit()
    for i, bit in enumerate(bits):
        c.x(i) if bit == "1" else c.rz(0.0, i)
    return c


circuit = pattern("1010")
