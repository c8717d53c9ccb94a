# expect-error: classical control
# expect-error: a + b
# expect-line: 9
import cirq
import sympy

q = cirq.LineQubit.range(3)
a, b = sympy.symbols("a b")
circuit = cirq.Circuit(
    cirq.measure(q[0], key="a"),
    cirq.measure(q[1], key="b"),
    cirq.X(q[2]).with_classical_controls(a + b > 1),
)
