# expect-error: depolarize
# expect-error: q(0)
# expect-error: noise_model
# expect-line: 8
import cirq

q = cirq.LineQubit(0)
noisy = cirq.Circuit(cirq.H(q), cirq.depolarize(p=0.02)(q), cirq.measure(q, key="m"))
