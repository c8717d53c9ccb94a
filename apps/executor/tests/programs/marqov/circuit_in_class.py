# expect: counts {"00": 0.25, "01": 0.25, "10": 0.25, "11": 0.25}
from dataclasses import dataclass, field

from marqov import Circuit


@dataclass
class Walk:
    steps: int = 2
    circuit: Circuit = field(default_factory=Circuit)

    def run(self) -> Circuit:
        for step in range(self.steps):
            self.circuit.h(step)
        return self.circuit


walked = Walk().run()
