# expect: counts {"101": 1}
import cirq


def main(secret="101"):
    n = len(secret)
    *inputs, target = cirq.LineQubit.range(n + 1)
    circuit = cirq.Circuit(
        cirq.X(target),
        cirq.H.on_each(*inputs, target),
        [cirq.CX(q, target) for q, s in zip(inputs, secret) if s == "1"],
        cirq.H.on_each(*inputs),
        cirq.measure(*inputs, key="guess"),
    )
    return circuit


if __name__ == "__main__":
    main()
