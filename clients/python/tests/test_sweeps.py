"""Many circuits as one job, against a service that takes them."""

from __future__ import annotations

import asyncio

import cirq
import numpy as np
import pennylane as qml
import pytest
import sympy
from braket.circuits import Circuit as BraketCircuit
from qiskit.primitives import StatevectorEstimator, StatevectorSampler
from qiskit.quantum_info import Pauli

from quantum_job_service import AsyncClient, Client, JobFailed
from quantum_job_service.braket import RemoteDevice as BraketDevice
from quantum_job_service.cirq import RemoteSampler
from quantum_job_service.pennylane import RemoteDevice
from quantum_job_service.qiskit import RemoteBackend
from quantum_job_service.submissions import Circuit

from .qiskit_circuits import PARAMETERS, STATES, measured

ANSATZ = """OPENQASM 3.0;
include "stdgates.inc";
input float theta;
qubit[2] q;
bit[2] c;
rx(theta) q[0];
c = measure q;
"""
FLIPPED, NOT = (
    f'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[2] c; {gate} q[0]; c = measure q;' for gate in ("x", "id")
)


def test_simulators_take_sweeps_and_backends_of_providers_do_not(client: Client) -> None:
    assert client.takes_sweeps("local")
    assert client.takes_sweeps("auto")
    assert not client.takes_sweeps("ionq-direct-simulator")


def test_points_of_one_circuit_come_in_their_order_with_their_own_shots(client: Client) -> None:
    sweep = client.sweep(
        ANSATZ, shots=20, points=[{"theta": 0}, {"theta": float(np.pi), "shots": 5}, {"theta": 0.5}], timeout=300
    )
    assert [point.index for point in sweep] == [0, 1, 2]
    assert sweep[0].result.counts == {"00": 20}
    assert sweep[1].result.counts == {"10": 5}
    assert sweep[1].params == {"theta": float(np.pi), "shots": 5}
    assert set(sweep[2].result.counts) <= {"00", "10"}
    assert "theta" in sweep._repr_html_()


def test_many_circuits_are_one_job(client: Client) -> None:
    circuits: list[str | Circuit] = [FLIPPED, Circuit(NOT, {"shots": 3})] * 10
    sweep = client.sweep(circuits=circuits, shots=7, timeout=300)
    assert [result.counts for result in sweep.results()] == [{"10": 7}, {"00": 3}] * 10

    async def again() -> int:
        async with AsyncClient() as other:
            return len(await other.sweep(circuits=circuits, shots=1, timeout=300))

    assert asyncio.run(again()) == 20


def test_a_point_that_fails_names_itself_and_spares_the_others(client: Client) -> None:
    sweep = client.sweep(circuits=[FLIPPED, "OPENQASM 3.0; qubit q; nothing q;", NOT], shots=2, timeout=300)
    assert [point.index for point in sweep.failed] == [1]
    assert sweep.result_of(2).counts == {"00": 2}
    with pytest.raises(JobFailed, match="point 1"):
        sweep.results()


def test_qiskits_primitives_send_one_job_for_all_points(client: Client) -> None:
    backend = RemoteBackend("local", client)
    values = np.linspace(-2, 2, 12).reshape(6, 2)
    [ours] = backend.estimator().run([(PARAMETERS, [[Pauli("ZI")], [Pauli("XY")]], values)]).result()
    [theirs] = StatevectorEstimator().run([(PARAMETERS, [[Pauli("ZI")], [Pauli("XY")]], values)]).result()
    assert np.allclose(ours.data.evs, theirs.data.evs, atol=1e-9)
    [sampled] = backend.sampler().run([(measured(PARAMETERS), values, 9)]).result()
    [expected] = StatevectorSampler().run([(measured(PARAMETERS), values, 9)]).result()
    assert sampled.data.meas.array.shape == expected.data.meas.array.shape
    job = backend.run([measured(STATES["asymmetric"])] * 3, shots=4)
    assert len(job.jobs) == 1
    assert [sum(counts.values()) for counts in job.result().get_counts()] == [4, 4, 4]


def test_the_other_frameworks_send_one_job_too(client: Client) -> None:
    qubit = cirq.LineQubit(0)
    circuit = cirq.Circuit(cirq.X(qubit) ** sympy.Symbol("t"), cirq.measure(qubit, key="m"))
    results = RemoteSampler("local", client).run_sweep(circuit, cirq.Points("t", [0, 1, 1]), repetitions=4)
    assert [result.histogram(key="m") for result in results] == [{0: 4}, {1: 4}, {1: 4}]

    batch = BraketDevice("local", client).run_batch([BraketCircuit().x(0), BraketCircuit().v(0).v(0)], shots=3)
    assert [task.id for task in batch.tasks] == [batch.tasks[0].id] * 2
    assert [result.measurement_counts for result in batch.results()] == [{"1": 3}, {"1": 3}]

    @qml.qnode(RemoteDevice(1, client=client))
    def expectation(angle: float) -> float:
        qml.RX(angle, wires=0)
        return qml.expval(qml.Z(0))  # type: ignore[no-any-return]

    assert np.allclose(expectation(np.array([0.1, 0.2, 0.3])), np.cos([0.1, 0.2, 0.3]), atol=1e-9)
