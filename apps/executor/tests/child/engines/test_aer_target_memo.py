"""The kept target is the one that qiskit-aer would build, whatever options change in between."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from qiskit import QuantumCircuit, transpile
from qiskit.circuit.library import XGate
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit_aer import AerError, AerSimulator, QasmSimulator
from qiskit_aer.backends.aerbackend import AerBackend
from qiskit_aer.noise import NoiseModel, depolarizing_error

from qjs_executor.child.engines import aer_target_memo

STEPS = 240


@pytest.fixture
def built() -> Iterator[Callable[[Any], Any]]:
    """The memo in place for a test; its value is the property as qiskit-aer ships it."""
    own = AerBackend.target
    assert aer_target_memo.install()
    yield own.fget
    AerBackend.target = own


def _noise(rng: random.Random) -> NoiseModel:
    model = NoiseModel(basis_gates=rng.choice([["cx", "rz", "sx", "x"], ["cz", "u"], None]))
    model.add_all_qubit_quantum_error(depolarizing_error(rng.random() / 10, 1), [rng.choice(["sx", "x", "u1", "h"])])
    return model


def _change(backend: Any, rng: random.Random) -> None:
    method = rng.choice(["automatic", "statevector", "density_matrix", "stabilizer", "matrix_product_state"])
    changes: list[Callable[[], Any]] = [
        lambda: backend.set_options(method=method),
        lambda: backend.set_options(noise_model=_noise(rng)),
        lambda: backend.set_options(noise_model=None),
        lambda: backend.set_options(coupling_map=rng.choice([None, [[0, 1], [1, 2]], [[0, 1], [1, 0], [1, 2]]])),
        lambda: backend.set_options(basis_gates=rng.choice([None, ["cx", "u"], ["cz", "sx", "rz"]])),
        lambda: backend.set_options(n_qubits=rng.randint(2, 12)),
        lambda: backend.set_options(device="CPU"),
        lambda: backend.set_max_qubits(rng.randint(2, 12)),
        lambda: backend.set_options(seed_simulator=rng.randint(0, 9)),
        backend.clear_options,
    ]
    # Some are refused by qiskit-aer, half way through: what they leave has to hold as well.
    with suppress(AerError, TypeError):
        rng.choice(changes)()


def _facts(target: Any) -> tuple[Any, ...]:
    coupling = target.build_coupling_map()
    return (
        sorted(target.operation_names),
        target.num_qubits,
        {name: sorted(target.qargs_for_operation_name(name) or [], key=str) for name in target.operation_names},
        target.dt,
        None if coupling is None else sorted(coupling.get_edges()),
    )


@pytest.mark.parametrize("kind", [AerSimulator, QasmSimulator])
def test_the_kept_target_is_never_stale(kind: type, built: Callable[[Any], Any]) -> None:
    rng = random.Random(7)
    backend = kind()
    before = aer_target_memo.hits
    for step in range(STEPS):
        if step % 60 == 0:
            backend = kind()
        _change(backend, rng)
        assert _facts(backend.target) == _facts(built(backend)), f"step {step}"
        assert _facts(backend.target) == _facts(built(backend)), f"step {step}, again"
    assert aer_target_memo.hits - before >= STEPS, "the second read of every step comes from the memo"


def test_a_devices_own_target_and_noise_are_kept_apart(built: Callable[[Any], Any]) -> None:
    for seed in range(3):
        device = GenericBackendV2(4, seed=seed)
        backend = AerSimulator.from_backend(device)
        assert _facts(backend.target) == _facts(built(backend)) == _facts(backend.target)
        backend.set_options(noise_model=NoiseModel.from_backend(device))
        assert _facts(backend.target) == _facts(built(backend))


def test_a_change_of_the_noise_model_is_a_miss(built: Callable[[Any], Any]) -> None:
    backend = AerSimulator()
    plain = backend.target
    assert backend.target is plain
    backend.set_options(noise_model=_noise(random.Random(1)))
    noisy = backend.target
    assert noisy is not plain
    backend.set_options(noise_model=None)
    assert _facts(backend.target) == _facts(plain) == _facts(built(backend))


def test_a_target_that_the_program_extends_stays_the_programs_own(built: Callable[[Any], Any]) -> None:
    backend = AerSimulator()
    backend.target.add_instruction(XGate(), name="own")
    assert "own" not in backend.target.operation_names
    assert _facts(backend.target) == _facts(built(backend))


@pytest.mark.usefixtures("built")
def test_one_transpile_builds_the_target_once() -> None:
    circuit = QuantumCircuit(2, 2)
    circuit.h(0)
    circuit.measure([0, 1], [0, 1])
    before = aer_target_memo.hits
    transpile(circuit, AerSimulator())
    assert aer_target_memo.hits - before > 50


def test_a_child_finds_the_memo_in_place() -> None:
    code = (
        "from qjs_executor.zygote.preload import preload; preload('circuits')\n"
        "from qiskit_aer import AerSimulator; simulator = AerSimulator()\n"
        "assert simulator.target is simulator.target"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
