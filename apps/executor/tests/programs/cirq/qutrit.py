# expect-error: q(0)
# expect-error: 3 levels
# expect-line: 11
import cirq


class QutritPlus(cirq.Gate):
    def _qid_shape_(self):
        return (3,)
q0 = cirq.LineQid(0, dimension=3)
circuit = cirq.Circuit(QutritPlus().on(q0), cirq.measure(q0, key="m"))
