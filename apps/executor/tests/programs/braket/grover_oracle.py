# expect: counts {"11": 1}
from braket.circuits import Circuit


class Grover:
    def __init__(self):
        self.circ = Circuit()

    def build(self):
        self.circ.h(range(2))
        self.circ.cz(0, 1)
        self.circ.h(range(2)).z(range(2)).cz(0, 1).h(range(2))
        return self.circ


circuit = Grover().build()
