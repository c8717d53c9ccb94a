# expect: value None
# expect-warning: main() returned nothing
# expect-stdout: Depth
# expect-warning: shots, engine, engine_version and optimization_level are null
from marqov import Circuit


def main():
    circuit = Circuit().h(0).cnot(0, 1)
    print("Depth of", circuit.num_qubits, "qubits")


if __name__ == "__main__":
    main()
