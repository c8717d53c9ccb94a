# expect: counts {"0": cos(0.35)**2, "1": sin(0.35)**2}
# params: {"theta": 0.7, "unused": null}
import cirq


def main(client, params):
    q = cirq.q(0)
    return cirq.Circuit(cirq.ry(params["theta"])(q), cirq.measure(q, key="m"))
