# expect: counts {"01111111110": cos(0.2)**2, "01111111111": sin(0.2)**2}
from braket.circuits import Circuit

circuit = Circuit()
for q in range(1, 10):
    circuit.x(q)
circuit.rx(10, 0.4, control=range(10), control_state=[0] + [1] * 9)
