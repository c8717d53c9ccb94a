# expect-error: Depolarizing
# expect-error: noise_model
# expect-line: 8
from braket.circuits import Circuit, Noise

circuit = Circuit().x(0).z(1)
noise = Noise.Depolarizing(probability=0.1)
circuit = circuit.apply_gate_noise(noise)
