"""Uses the emulated AWS through Amazon's own client, unmodified, and prints what it found as JSON.

Arguments: the bucket, and the control address of the emulator. Addresses and keys come from the environment.
"""

import json
import sys
import urllib.request

from braket.ahs import AnalogHamiltonianSimulation, AtomArrangement, DrivingField
from braket.aws import AwsDevice, AwsQuantumTask, AwsSession
from braket.circuits import Circuit
from braket.timings.time_series import TimeSeries

BUCKET, CONTROL = sys.argv[1:]
POLL = {"poll_interval_seconds": 0.05, "poll_timeout_seconds": 60}
SV1 = "arn:aws:braket:::device/quantum-simulator/amazon/sv1"
FORTE = "arn:aws:braket:us-east-1::device/qpu/ionq/Forte-1"
GARNET = "arn:aws:braket:eu-north-1::device/qpu/iqm/Garnet"
AQUILA = "arn:aws:braket:us-east-1::device/qpu/quera/Aquila"


def steer(path, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(CONTROL + path, data, {"content-type": "application/json"})
    urllib.request.urlopen(request, timeout=30).read()


def devices(session):
    found = {}
    for device in AwsDevice.get_devices(aws_session=session):
        # `properties` parses the capabilities under amazon-braket-schemas.
        found[device.name] = {
            "arn": device.arn,
            "status": device.status,
            "queue": device.queue_depth().quantum_tasks["Normal"],
            "schema": device.properties.braketSchemaHeader.name,
            "edges": len(device.topology_graph.edges) if device.topology_graph else None,
        }
    return found


def gates(session, arn):
    device = AwsDevice(arn, aws_session=session)
    circuit = Circuit().x(0).cnot(0, 2).rx(1, 0.0)
    task = device.run(circuit, shots=100, **POLL)
    result = task.result()
    duration = getattr(result.additional_metadata.simulatorMetadata, "executionDuration", None)
    return {
        "state": task.state(),
        "counts": dict(result.measurement_counts),
        "qubits": list(result.measured_qubits),
        "duration": duration,
        "shots": result.task_metadata.shots,
    }


def subset(session):
    circuit = Circuit().x(0).h(1).h(1).x(2).measure(2).measure(1)
    result = AwsDevice(FORTE, aws_session=session).run(circuit, shots=10, **POLL).result()
    return {"counts": dict(result.measurement_counts), "qubits": list(result.measured_qubits)}


def analog(session):
    register = AtomArrangement().add((0, 0)).add((0, 37e-6)).add((0, 74e-6))
    times = [0, 1e-7, 1.1e-6, 1.2e-6]
    pi = 3.141592653589793
    amplitude = TimeSeries()
    for time, value in zip(times, [0, pi / 1.1e-6, pi / 1.1e-6, 0], strict=True):
        amplitude.put(time, value)
    flat = TimeSeries().put(0, 0).put(times[-1], 0)
    drive = DrivingField(amplitude=amplitude, phase=flat, detuning=flat)
    program = AnalogHamiltonianSimulation(register=register, hamiltonian=drive)
    program = program.discretize(AwsDevice(AQUILA, aws_session=session))
    result = AwsDevice(AQUILA, aws_session=session).run(program, shots=50, **POLL).result()
    return {"counts": result.get_counts()}


def cancelled(session):
    steer("/timing", {"queue_ms": 3_600_000})
    device = AwsDevice(FORTE, aws_session=session)
    task = device.run(Circuit().x(0), shots=10, **POLL)
    position = task.queue_position().queue_position
    task.cancel()
    steer("/clock", {"advance_ms": 10_000})
    listed = session.braket_client.get_paginator("search_quantum_tasks").paginate(
        filters=[{"name": "status", "operator": "EQUAL", "values": ["CANCELLED"]}]
    )
    arns = [one["quantumTaskArn"] for page in listed for one in page["quantumTasks"]]
    again = AwsQuantumTask(task.id, aws_session=session)
    return {"position": position, "state": again.state(), "found": arns == [task.id]}


def refused(session):
    try:
        AwsDevice(FORTE, aws_session=session).run(Circuit().x(0), shots=100_000)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


def main():
    session = AwsSession(default_bucket=BUCKET)
    found = {
        "account": session.account_id,
        "devices": devices(session),
        "sv1": gates(session, SV1),
        "garnet": gates(session, GARNET),
        "subset": subset(session),
        "analog": analog(session),
        "refused": refused(session),
        "cancelled": cancelled(session),
    }
    print(json.dumps(found))


main()
