# expect: counts {"1": 1}
import cirq
from cirq.contrib.svg import SVGCircuit

circuit = cirq.Circuit(cirq.X(cirq.q(0)))
SVGCircuit(circuit)
