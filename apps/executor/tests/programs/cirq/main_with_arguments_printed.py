# expect: value None
# expect-stdout: m=1111
# expect-warning: main() returned nothing
# expect-warning: shots, engine, engine_version and optimization_level are null
import cirq


def main(repetitions):
    q = cirq.LineQubit(0)
    print(cirq.Simulator().run(cirq.Circuit(cirq.X(q), cirq.measure(q, key="m")), repetitions=repetitions))


if __name__ == "__main__":
    main(4)
