"""The engines: each gives the reference's counts, refuses what it cannot hold or do, and repeats itself with a seed."""

from __future__ import annotations

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit.random import random_circuit as random_gates
from qiskit.quantum_info import Statevector

from qjs_executor.child.adapted_circuit import Observable
from qjs_executor.child.circuits.measurement import measured_layout, with_measurements
from qjs_executor.child.engines import engine as engines
from qjs_executor.child.engines import memory, mps
from qjs_executor.child.engines.engine import ENGINES, check, is_available, simulate
from qjs_executor.child.engines.expectations import expectation_value
from qjs_executor.child.engines.noise import parse_noise_model
from qjs_executor.child.refusals import JobError

from ...support.decided_circuits import decided_circuits
from ...support.direct import QISKIT, STD, answer, counts, refusal
from ...support.noise_reference import within

LOCAL = ["statevector", "density_matrix", "mps", "noisy"]
NO_NOISE = {"gate_errors": {"nothing": 0.0}}
"""A noise model without effect: the circuit takes the whole way through the noise all the same."""


@pytest.mark.parametrize("engine", LOCAL)
def test_random_circuits_give_the_probabilities_of_their_unitary(engine: str) -> None:
    for seed in range(12):
        circuit = random_gates(4, 6, max_operands=4, seed=seed)
        # Qiskit's strings have qubit 0 on the right.
        probabilities = {key[::-1]: float(p) for key, p in Statevector(circuit).probabilities_dict().items()}
        measured = with_measurements(circuit)
        for noise in [None] if not ENGINES[engine].has_noise else [None, parse_noise_model(NO_NOISE, 14)]:
            memory_counts = simulate(measured, engine, 20_000, seed, 0 if noise else 1, None, noise)
            assert within(measured_layout(measured).counts(memory_counts), probabilities), f"seed {seed}"


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("engine", LOCAL)
def test_random_classical_control_gives_the_interpreters_answer(engine: str, noisy: bool) -> None:
    if noisy and not ENGINES[engine].has_noise:
        assert "noise_model" in refusal("openqasm", STD + "qubit q;", engine=engine, noise_model=NO_NOISE).message
        return
    compared = 0
    for seed, circuit, expected in decided_circuits(range(500, 530)):
        if engine == "density_matrix" and "store" in _names(circuit):
            with pytest.raises(JobError, match="'store'"):
                simulate(circuit, engine, 3, 1, 1, None)
            continue
        spec = parse_noise_model(NO_NOISE, 14) if noisy else None
        found = measured_layout(circuit).counts(simulate(circuit, engine, 3, 1, 0, None, spec))
        assert found == {expected: 3}, f"seed {seed}"
        compared += 1
    assert compared > 8


def _names(circuit: QuantumCircuit) -> set[str]:
    names = set()
    for item in circuit.data:
        names.add(item.operation.name)
        for block in getattr(item.operation, "blocks", ()):
            names |= _names(block)
    return names


@pytest.mark.parametrize("engine", LOCAL)
def test_a_seed_repeats_the_counts_on_every_engine_and_its_absence_does_not(engine: str) -> None:
    code = STD + "qubit[5] q; bit[6] c; h q; c[5] = measure q[0]; c[0:4] = measure q;"
    noise = {"gate_errors": {"all_1q": 0.1}, "t1_us": 50} if ENGINES[engine].has_noise else None
    fields = {"engine": engine, "noise_model": noise, "shots": 300}
    assert counts("openqasm", code, seed=7, **fields) == counts("openqasm", code, seed=7, **fields)
    assert counts("openqasm", code, seed=7, **fields) != counts("openqasm", code, seed=8, **fields)
    assert counts("openqasm", code, **fields) != counts("openqasm", code, **fields)


def test_a_ghz_state_of_100_qubits_runs_on_mps() -> None:
    code = STD + "qubit[100] q; h q[0]; for int i in [0:98] { cx q[i], q[i + 1]; }"
    given = counts("openqasm", code, engine="mps", max_qubits=100, shots=1000)
    assert within(given, {"0" * 100: 0.5, "1" * 100: 0.5})


def test_counts_of_256_bits_keep_their_places_on_mps() -> None:
    circuit = QuantumCircuit(100, 256)
    circuit.x([3, 99])
    circuit.measure(range(100), range(100))
    circuit.measure(range(100), range(100, 200))
    circuit.measure(range(56), range(200, 256))
    found = measured_layout(circuit).counts(simulate(circuit, "mps", 5, None, 1, None))
    once = "".join("1" if qubit in (3, 99) else "0" for qubit in range(100))
    assert found == {once + once + once[:56]: 5}


def test_a_state_that_mps_would_have_to_cut_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = with_measurements(random_gates(10, 12, max_operands=2, seed=3))
    assert sum(simulate(circuit, "mps", 10, 1, 1, None).values()) == 10
    monkeypatch.setattr(mps, "bond_dimension", lambda _: 4)
    for _ in range(2):
        with pytest.raises(JobError, match="memory: the circuit's entanglement needs a bond dimension above 4"):
            simulate(circuit, "mps", 10, 1, 1, None)
    ghz = QuantumCircuit(12)
    ghz.h(0)
    for qubit in range(11):
        ghz.cx(qubit, qubit + 1)
    assert set(simulate(with_measurements(ghz), "mps", 100, 1, 1, None)) == {0, 2**12 - 1}


@pytest.mark.parametrize(
    ("engine", "qubits", "message"),
    [
        ("density_matrix", 18, "memory: a density matrix of 18 qubits needs 1024 GiB, limit 4 GiB"),
        ("statevector", 29, "memory: a state of 29 qubits needs 8 GiB, limit 4 GiB"),
        ("noisy", 30, "memory: a state of 30 qubits needs 16 GiB, limit 4 GiB"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_size(
    engine: str, qubits: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_free", lambda _: 5 * memory.GIB)
    with pytest.raises(JobError, match=message):
        check(engine, qubits)
    check(engine, 14)
    check("mps", 100)


@pytest.mark.long
def test_noise_beyond_the_density_matrix_runs_as_trajectories(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = parse_noise_model({"gate_errors": {"x": 0.5}}, 28)
    circuit = with_measurements(QuantumCircuit(15))
    assert engines._noisy_method(circuit, 10**6, spec) == "statevector"
    small = with_measurements(QuantumCircuit(8))
    assert engines._noisy_method(small, 1000, spec) == "density_matrix"
    found = counts(
        "openqasm", STD + "qubit[16] q; x q[0];", engine="noisy", noise_model={"gate_errors": {"x": 1}}, shots=400
    )
    assert within(found, {"0" * 16: 0.5, "1" + "0" * 15: 0.5})
    monkeypatch.setattr(memory, "_free", lambda _: 1024)
    assert engines._noisy_method(small, 1000, spec) == "statevector"


def test_engines_that_are_unknown_or_absent_are_refused_by_name() -> None:
    assert refusal("openqasm", STD + "qubit q;", engine="magic").message.startswith("engine: 'magic' is not known")
    for name in ("gpu_statevector", "gpu_tensor_network"):
        if not is_available(name):
            assert f"'{name}' is not available" in refusal("openqasm", STD + "qubit q;", engine=name).message


@pytest.mark.parametrize(
    ("engine", "code", "message"),
    [
        ("density_matrix", "circuit = QuantumCircuit(1, 2)\ncircuit.store(circuit.clbits[1], True)\ncircuit.measure(0, 0)",
         "'store'"),
        ("density_matrix", "circuit = QuantumCircuit(1)\ncircuit.set_statevector([0, 1])\ncircuit.measure_all()",
         "operation 'set_statevector' on qubit 0 is not available"),
        ("mps", "from qiskit.circuit import Gate\ncircuit = QuantumCircuit(2)\ncircuit.append(Gate('magic', 2, []), [1, 0])",
         "operation 'magic' on qubit 1, 0 cannot be simulated"),
        ("mps", "circuit = QuantumCircuit(2)\ncircuit.set_density_matrix([[1, 0, 0, 0]] + 3 * [4 * [0]])\n"
         "circuit.measure_all()", "operation 'set_density_matrix' on qubit 0, 1 is not available"),
    ],
)  # fmt: skip
def test_what_an_engine_has_no_meaning_for_is_refused_by_name(engine: str, code: str, message: str) -> None:
    assert message in refusal("qiskit", QISKIT + "import qiskit_aer\n" + code, engine=engine).message


@pytest.mark.parametrize("engine", LOCAL)
def test_saved_simulator_data_is_ignored_with_a_warning_on_every_engine(engine: str) -> None:
    code = QISKIT + "import qiskit_aer\ncircuit = QuantumCircuit(2)\ncircuit.x(0)\ncircuit.save_statevector()"
    given = answer("qiskit", code, engine=engine)
    assert given["counts"] == {"10": 100}
    assert any("save_statevector is ignored" in warning for warning in given["warnings"])


@pytest.mark.parametrize("engine", LOCAL)
def test_custom_gates_keep_their_meaning_on_every_engine(engine: str) -> None:
    code = "OPENQASM 3.0; gate h a { U(pi, 0, pi) a; } qubit[2] q; h q[1];"
    assert counts("openqasm", code, engine=engine) == {"01": 100}


@pytest.mark.parametrize(
    ("kind", "constant", "terms", "expected"),
    [
        ("expval", 0.0, [(1.0, [0])], 0.5),
        ("expval", 0.25, [(2.0, [0, 1]), (-1.0, [])], 0.25 + 2 * 0.4 - 1),
        ("var", 3.0, [(1.0, [0])], 0.75),
        ("var", 0.0, [(1.0, [0]), (1.0, [1])], None),
    ],
)
def test_values_of_observables_are_those_of_the_samples(
    kind: str, constant: float, terms: list[tuple[float, list[int]]], expected: float | None
) -> None:
    given = {"00": 50, "01": 25, "10": 5, "11": 20}
    samples = [value for key, count in given.items() for value in [_value(key, constant, terms)] * count]
    reference = np.mean(samples) if kind == "expval" else np.var(samples)
    found = expectation_value(Observable("O", kind, constant, terms), given)  # type: ignore[arg-type]
    assert found == pytest.approx(reference)
    assert expected is None or found == pytest.approx(expected, abs=1e-9)


def _value(key: str, constant: float, terms: list[tuple[float, list[int]]]) -> float:
    return constant + sum(c * float(np.prod([1 - 2 * int(key[bit]) for bit in bits])) for c, bits in terms)


def test_an_observable_of_a_bit_that_is_not_counted_is_refused() -> None:
    with pytest.raises(JobError, match=r"Z\(5\) needs bits \[5\]; the counts have 2"):
        expectation_value(Observable("Z(5)", "expval", 0.0, [(1.0, [5])]), {"00": 1})
