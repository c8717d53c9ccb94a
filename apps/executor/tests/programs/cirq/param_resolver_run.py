# expect-error: theta
# expect-error: cirq.resolve_parameters
# expect-line: 9
import cirq
import sympy

q = cirq.LineQubit(0)
theta = sympy.Symbol("theta")
circuit = cirq.Circuit(cirq.rx(theta).on(q), cirq.measure(q, key="z"))
simulator = cirq.Simulator()
print(simulator.run(circuit, param_resolver=cirq.ParamResolver({"theta": 0.3}), repetitions=5))
