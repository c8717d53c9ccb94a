# expect: counts {"0": cos(0.25*pi/2)**2, "1": sin(0.25*pi/2)**2}
import cirq
import sympy

q = cirq.LineQubit(0)
theta = sympy.Symbol("theta")
parameterised = cirq.Circuit(cirq.X(q) ** theta, cirq.measure(q, key="z"))
circuit = cirq.resolve_parameters(parameterised, {"theta": 0.25})
