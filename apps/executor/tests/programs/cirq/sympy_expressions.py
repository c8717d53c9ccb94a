# expect: counts {"0": cos(0.3)**2, "1": sin(0.3)**2}
import cirq
import sympy

a, b = sympy.symbols("a b")
q = cirq.NamedQubit("q")
circuit = cirq.Circuit(cirq.ry(a + 2 * b)(q), cirq.measure(q))
circuit = cirq.resolve_parameters(circuit, {a: 0.2, b: 0.2})
