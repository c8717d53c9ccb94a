# expect: counts {"0": 0.5, "1": 0.5}
# expect: registers ["m"]
# expect-stdout: X^0.5
import cirq

# Pick a qubit.
qubit = cirq.GridQubit(0, 0)

# Create a circuit.
circuit = cirq.Circuit(
    cirq.X(qubit) ** 0.5,  # Square root of NOT.
    cirq.measure(qubit, key="m"),  # Measurement.
)
print("Circuit:")
print(circuit)

# Simulate the circuit several times.
simulator = cirq.Simulator()
result = simulator.run(circuit, repetitions=20)
print("Results:")
print(result)
