# expect: counts {"0111": 0.5, "0000": 0.5}
# expect: registers ["b", "a", "r"]
# Keys stand in the order of measurement: b is measured in the first moment, a in the second.
import cirq
import sympy

q = cirq.LineQubit.range(4)
a, b = sympy.symbols("a b")
circuit = cirq.Circuit(
    cirq.H(q[0]),
    cirq.measure(q[0], key="a"),
    cirq.measure(q[1], key="b"),
    cirq.X(q[2]).with_classical_controls("a"),
    cirq.X(q[3]).with_classical_controls(sympy.Eq(a, 1)),
    cirq.measure(q[2], q[3], key="r"),
)
