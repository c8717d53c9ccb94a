# expect-error: 'experiments' is a dict of circuits
# expect-error: circuit = experiments['t1']
import cirq

experiments = {
    "t1": cirq.Circuit(cirq.X(cirq.q(0))),
    "t2": cirq.Circuit(cirq.H(cirq.q(0))),
}
