"""The device of Amazon Braket, compared with Braket's own simulator of circuits."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from braket.circuits import Circuit, FreeParameter, Observable
from braket.devices import LocalSimulator
from braket.tasks import GateModelQuantumTaskResult

from quantum_job_service import Client, Refused
from quantum_job_service.braket import RemoteDevice

from .agreement import assert_sampled


@pytest.fixture(scope="module")
def device(client: Client) -> RemoteDevice:
    return RemoteDevice("local", client)


def _all_gates() -> Circuit:
    circuit = Circuit().rx(0, 0.3).ry(1, 1.3).h(2).v(0).vi(1).si(2).ti(0).phaseshift(1, 0.4).gphase(0.2)
    circuit.xx(0, 2, 0.3).yy(1, 0, 0.5).zz(2, 1, 0.7).xy(0, 1, 0.9).iswap(1, 2).pswap(0, 1, 0.2)
    circuit.cphaseshift(0, 1, 0.3).cphaseshift00(1, 2, 0.3).cphaseshift01(2, 0, 0.3).cphaseshift10(0, 2, 0.3)
    circuit.cv(0, 1).cy(1, 2).ecr(0, 2).cswap(0, 1, 2).ccnot(2, 0, 1).gpi(0, 0.3).gpi2(1, 0.2).ms(0, 2, 0.1, 0.2, 0.3)
    return circuit.u(1, 0.1, 0.2, 0.3).x(0, control=[2], control_state=[0]).rz(1, 0.4, power=0.5)


CIRCUITS = {
    "asymmetric": Circuit().x(0).ry(2, 0.4).i(1),
    "every gate": _all_gates(),
    "some measured, in their order": Circuit().x(0).i(1).ry(2, 0.7).measure([2, 0]),
}


@pytest.mark.parametrize("name", CIRCUITS)
def test_measurements_agree_with_brakets_simulator(device: RemoteDevice, name: str) -> None:
    ours = device.run(CIRCUITS[name], shots=2000).result()
    theirs = LocalSimulator().run(CIRCUITS[name], shots=10).result()
    assert isinstance(ours, GateModelQuantumTaskResult)
    assert ours.measured_qubits == theirs.measured_qubits
    assert ours.measurements.shape == (2000, len(theirs.measured_qubits))
    exact = Circuit(CIRCUITS[name].instructions if "measured" not in name else CIRCUITS[name].instructions[:-2])
    shares = LocalSimulator().run(exact.probability(target=ours.measured_qubits), shots=0).result().values[0]
    width = len(ours.measured_qubits)
    assert_sampled(ours.measurement_counts, {format(index, f"0{width}b"): one for index, one in enumerate(shares)})


def test_result_types_are_brakets_own(device: RemoteDevice) -> None:
    circuit = Circuit().x(0).ry(1, 0.6)
    circuit.expectation(Observable.Z() @ Observable.X(), target=[0, 1]).variance(Observable.Y(), target=2)
    circuit.i(2).probability(target=[0])
    result = device.run(circuit, shots=4000).result()
    theirs = LocalSimulator().run(circuit, shots=10).result()
    assert [one.type for one in result.result_types] == [one.type for one in theirs.result_types]
    assert abs(result.values[0] + np.sin(0.6)) < 5.2 / np.sqrt(4000)
    assert result.values[1] > 0.99
    assert np.allclose(result.values[2], [0, 1])
    assert result.get_value_by_result_type(circuit.result_types[2]).tolist() == [0, 1]


def test_inputs_and_batches_give_a_result_for_each(device: RemoteDevice) -> None:
    angle = FreeParameter("theta")
    circuit = Circuit().rx(0, angle).cnot(0, 1)
    batch = device.run_batch(circuit, shots=20, inputs=[{"theta": 0}, {"theta": np.pi}])
    assert [dict(result.measurement_counts) for result in batch.results()] == [{"00": 20}, {"11": 20}]
    batch = device.run_batch([circuit, CIRCUITS["asymmetric"]], shots=[5, 6], inputs={"theta": np.pi})
    assert [len(result.measurements) for result in batch.results()] == [5, 6]
    task = device.run(circuit, shots=3, inputs={"theta": np.pi})

    async def wait() -> Any:
        return await task.async_result()

    assert asyncio.run(wait()).measurement_counts == {"11": 3}
    assert task.state() == "COMPLETED"
    assert task.result().task_metadata.id == task.id


def test_what_cannot_be_sent_faithfully_is_refused_by_name(device: RemoteDevice) -> None:
    for circuit, shots, reason in (
        (Circuit().x(0), 0, "shots=0"),
        (Circuit().rx(0, FreeParameter("theta")), 1, "without a value: .'theta'"),
        (Circuit().x(0).depolarizing(0, 0.1), 1, "'noise depolarizing' cannot be sent"),
        (Circuit().unitary([0], np.eye(2)), 1, "'unitary' cannot be sent"),
        (Circuit().add_verbatim_box(Circuit().x(0)), 1, "'verbatim' cannot be sent"),
        ("OPENQASM 3.0;", 1, "str cannot be sent"),
    ):
        with pytest.raises(Refused, match=reason):
            device.run(circuit, shots=shots)
    with pytest.raises(Refused, match="disable_qubit_rewiring"):
        device.run(Circuit().x(0), shots=1, disable_qubit_rewiring=True)
