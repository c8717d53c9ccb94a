"""The device of PennyLane, compared with ``default.qubit``; the long lane runs PennyLane's own tests of devices too."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pennylane as qml
import pytest
from pennylane import numpy as pnp
from pennylane.devices.tests import get_device_tests
from pennylane.exceptions import DeviceError

from quantum_job_service import Client, Refused
from quantum_job_service.pennylane import RemoteDevice

from .agreement import assert_sampled

WIRES = ["b", 0, "a"]


def _program() -> None:
    """Tells wires, directions and gates apart."""
    qml.PauliX("a")
    qml.RY(0.3, wires="b")
    qml.CNOT(wires=["b", 0])
    qml.Rot(0.1, 0.7, -0.4, wires=0)
    qml.IsingXY(0.6, wires=["a", "b"])
    qml.adjoint(qml.S("b"))
    qml.ctrl(qml.RX(1.1, wires="a"), control=["b"], control_values=[0])
    qml.QubitUnitary(qml.matrix(qml.SISWAP([0, 1])), wires=[0, "a"])
    qml.GlobalPhase(0.3)


MEASUREMENTS: dict[str, Any] = {
    "pauli words": lambda: [qml.expval(qml.Z("b") @ qml.Y(0)), qml.expval(qml.X("a"))],
    "a Hamiltonian": lambda: [
        qml.expval(qml.Hamiltonian([0.5, -1.2, 2], [qml.X("b") @ qml.Z("a"), qml.Y(0), qml.I(0)]))
    ],
    "a Hermitian matrix": lambda: [qml.expval(qml.Hermitian(np.array([[1, 2j], [-2j, 0.5]]), wires="a"))],
    "projectors and products": lambda: [
        qml.expval(qml.Projector([1, 0], ["a", "b"])),
        qml.expval(qml.H(0) @ qml.X("a")),
    ],
    "variances": lambda: [qml.var(qml.Y("b") @ qml.Z("a")), qml.var(qml.X(0))],
    "probabilities": lambda: [qml.probs(wires=["a", "b"]), qml.probs(op=qml.X(0)), qml.expval(qml.Z("a"))],
    "all wires": lambda: [qml.probs()],
    "the state": lambda: [qml.state()],
    "the state beside values in other bases": lambda: [
        qml.expval(qml.Hermitian(np.array([[1, 2j], [-2j, 0.5]]), wires="a")),
        qml.state(),
        qml.probs(op=qml.X("b")),
        qml.density_matrix(["a", 0]),
    ],
    "entropies": lambda: [qml.vn_entropy(["b"]), qml.purity(["a"]), qml.density_matrix([0])],
}


def _run(device: Any, measurements: Any, shots: Any = None) -> Any:
    def circuit() -> Any:
        _program()
        found = measurements()
        return found[0] if len(found) == 1 else tuple(found)

    return qml.set_shots(qml.QNode(circuit, device), shots)()


@pytest.fixture(scope="module")
def device(client: Client) -> RemoteDevice:
    return RemoteDevice(WIRES, client=client)


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_exact_values_agree_with_default_qubit(device: RemoteDevice, name: str) -> None:
    ours = _run(device, MEASUREMENTS[name])
    theirs = _run(qml.device("default.qubit", wires=WIRES), MEASUREMENTS[name])
    assert isinstance(ours, tuple) is isinstance(theirs, tuple)
    both = zip(ours, theirs, strict=True) if isinstance(ours, tuple) else [(ours, theirs)]
    for one, other in both:
        assert np.shape(one) == np.shape(other)
        assert np.allclose(one, other, atol=1e-8)


def test_shots_agree_with_the_exact_probabilities(device: RemoteDevice) -> None:
    exact = _run(qml.device("default.qubit", wires=WIRES), lambda: [qml.probs()])
    expected = {format(index, "03b"): float(one) for index, one in enumerate(exact)}
    counts = _run(device, lambda: [qml.counts()], 3000)
    assert_sampled({key: int(count) for key, count in counts.items()}, expected)
    samples = _run(device, lambda: [qml.sample(wires=["a"])], 3000)
    assert samples.shape == (3000, 1)
    assert samples.dtype == np.int64
    marginal = sum(share for key, share in expected.items() if key[2] == "1")
    assert abs(samples.mean() - marginal) < 5.2 * np.sqrt(marginal * (1 - marginal) / 3000)
    values = _run(device, lambda: [qml.sample(qml.X(0))], 40)
    assert set(values) <= {-1.0, 1.0}


def test_parts_of_the_shots_are_independent(device: RemoteDevice) -> None:
    parts = _run(device, lambda: [qml.expval(qml.Z("b")), qml.expval(qml.X("b"))], [2000, 10, 2000])
    assert len(parts) == 3
    exact = _run(qml.device("default.qubit", wires=WIRES), lambda: [qml.expval(qml.Z("b")), qml.expval(qml.X("b"))])
    for part in (parts[0], parts[2]):
        assert np.allclose(part, exact, atol=0.12)


def test_the_device_is_found_by_its_name() -> None:
    if "QJS_WHEEL" not in os.environ:
        pytest.skip("the sources have no entry points; the wheel does")
    assert isinstance(qml.device("qjs.remote", wires=1), RemoteDevice)


def test_gradients_and_batches_work_as_on_any_device(device: RemoteDevice) -> None:
    @qml.qnode(device)
    def circuit(angle: Any) -> Any:
        qml.RX(angle, wires="a")
        qml.CNOT(wires=["a", 0])
        return qml.expval(qml.Z(0))

    angle = pnp.array(0.4, requires_grad=True)
    assert np.isclose(qml.grad(circuit)(angle), -np.sin(0.4), atol=1e-8)
    assert np.allclose(circuit(np.array([0.1, 0.2])), np.cos([0.1, 0.2]), atol=1e-8)
    with qml.Tracker(device) as tracker:
        circuit(angle)
    assert tracker.totals["executions"] == 1


def test_measurements_within_a_circuit_are_deferred(device: RemoteDevice) -> None:
    @qml.qnode(RemoteDevice(3, client=device.client))
    def circuit() -> Any:
        qml.X(0)
        seen = qml.measure(0)
        qml.cond(seen, qml.X)(1)
        return qml.expval(qml.Z(1))

    assert np.isclose(circuit(), -1)


def test_what_cannot_be_done_faithfully_is_refused_by_name(device: RemoteDevice) -> None:
    with pytest.raises(DeviceError, match="not accepted"):
        _run(device, lambda: [qml.sample(wires="a")])
    with pytest.raises(DeviceError, match="AmplitudeDamping"):
        noisy = qml.QNode(lambda: (qml.AmplitudeDamping(0.1, wires="a"), qml.expval(qml.Z("a")))[1], device)
        noisy()
    with pytest.raises(DeviceError, match="not supported"):
        _run(device, lambda: [qml.expval(qml.SparseHamiltonian(qml.X(0).sparse_matrix(), wires=[0]))])
    wide = RemoteDevice(15, client=device.client)
    with pytest.raises(Refused, match="up to 14"):
        qml.QNode(lambda: qml.probs(wires=[0]), wide)()
    assert qml.QNode(lambda: qml.expval(qml.Z(14)), wide)() == 1


@pytest.mark.long
@pytest.mark.parametrize("shots", ["None", "20000"])
def test_pennylanes_own_tests_of_devices_pass(shots: str, tmp_path: Any) -> None:
    if "QJS_WHEEL" not in os.environ:
        pytest.skip("the sources have no entry points; the wheel does")
    # As pl-device-test does, which finds pytest on the PATH only.
    command = [sys.executable, "-m", "pytest", get_device_tests(), "--device=qjs.remote", f"--shots={shots}"]
    options = ["--skip-ops", "--no-flaky-report", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis"]
    ran = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-12_000:]
    assert " passed" in ran.stdout
