# expect: counts {"00": 0.5, "11": 0.5}
# expect-stdout: 0.71|00⟩ + 0.71|11⟩
import cirq

a, b = cirq.LineQubit.range(2)
circuit = cirq.Circuit(cirq.H(a), cirq.CNOT(a, b))
result = cirq.Simulator().simulate(circuit)
print(cirq.dirac_notation(result.final_state_vector))
