"""The backend and the primitives of Qiskit, compared with Qiskit's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from qiskit import ClassicalRegister, QuantumCircuit, generate_preset_pass_manager, transpile
from qiskit.circuit import Gate
from qiskit.circuit.library import GlobalPhaseGate
from qiskit.primitives import PrimitiveResult, StatevectorEstimator, StatevectorSampler
from qiskit.primitives.containers import BitArray
from qiskit.providers import JobStatus
from qiskit.quantum_info import Pauli, SparsePauliOp, Statevector

from quantum_job_service import Client, JobFailed, Refused
from quantum_job_service._qiskit_text import pauli_sum, text_of
from quantum_job_service.qiskit import RemoteBackend

from .agreement import assert_sampled
from .qiskit_circuits import PARAMETERS, REGISTERS, STATES, A, measured

SHOTS = 2000
OBSERVABLES = [
    SparsePauliOp(["IZZ", "XIY", "III"], [0.5, -1.25, 0.1]),
    Pauli("ZXI"),
    {"+0r": 1.5, "1IZ": -0.5},
]


@pytest.fixture(scope="module")
def backend(client: Client) -> RemoteBackend:
    return RemoteBackend("local", client)


def test_every_text_is_the_same_circuit_with_exact_numbers() -> None:
    text = text_of(measured(STATES["exact angle"]))
    assert "1.5707963271948966" in text
    assert "pi" not in text.replace("bit", "")


@pytest.mark.parametrize("name", STATES)
def test_the_sampler_agrees_with_qiskits_own(backend: RemoteBackend, name: str) -> None:
    circuit = measured(STATES[name])
    ours = backend.sampler().run([circuit], shots=SHOTS).result()
    theirs = StatevectorSampler(seed=1).run([circuit], shots=10).result()
    assert _shape(ours) == _shape(theirs, SHOTS)
    probabilities = Statevector(STATES[name]).probabilities_dict()
    assert_sampled(ours[0].data.meas.get_counts(), probabilities)


def test_registers_keep_their_names_sizes_and_joint_shots(backend: RemoteBackend) -> None:
    ours = backend.sampler(default_shots=500).run([REGISTERS]).result()[0]
    theirs = StatevectorSampler(default_shots=500, seed=1).run([REGISTERS]).result()[0]
    assert list(ours.data) == list(theirs.data) == ["alpha", "wide", "unused"]
    assert {name: (ours.data[name].num_bits, ours.data[name].array.shape) for name in ours.data} == {
        name: (theirs.data[name].num_bits, theirs.data[name].array.shape) for name in theirs.data
    }
    assert ours.data.alpha.get_counts() == theirs.data.alpha.get_counts() == {"01": 500}
    assert ours.data.unused.get_counts() == {"0": 500}
    assert set(ours.data.wide.get_counts()) == set(theirs.data.wide.get_counts())
    assert set(ours.join_data().get_counts()) == set(theirs.join_data().get_counts())


def test_parameters_are_broadcast_as_by_qiskit(backend: RemoteBackend) -> None:
    circuit = measured(PARAMETERS)
    values = np.array([[[0.1, 0.2], [0.3, -0.4]], [[1.0, 2.0], [-1.5, 0.0]], [[0.0, 0.0], [2.5, 3.1]]])
    assert [one.name for one in circuit.parameters] == ["a", "β[0]"]
    [ours] = backend.sampler(seed=11).run([(circuit, values, 300)]).result()
    [theirs] = StatevectorSampler(seed=1).run([(circuit, values, 300)]).result()
    assert ours.data.shape == theirs.data.shape == (3, 2)
    assert ours.data.meas.array.shape == theirs.data.meas.array.shape
    for index in np.ndindex(3, 2):
        state = Statevector(PARAMETERS.assign_parameters(values[index]))
        assert_sampled(ours.data.meas.get_counts(index), state.probabilities_dict())
    [again] = backend.sampler(seed=11).run([(circuit, values, 300)]).result()
    assert (again.data.meas.array == ours.data.meas.array).all()


@pytest.mark.parametrize("name", [name for name in STATES if STATES[name].num_qubits == 3])
def test_the_estimator_agrees_with_qiskits_own(backend: RemoteBackend, name: str) -> None:
    pub = (STATES[name], OBSERVABLES)
    ours = backend.estimator().run([pub]).result()
    expected = [Statevector(STATES[name]).expectation_value(SparsePauliOp(*_paulis(one))).real for one in OBSERVABLES]
    assert isinstance(ours, PrimitiveResult)
    assert np.allclose(ours[0].data.evs, expected, atol=1e-9)
    assert (ours[0].data.stds == 0).all()
    theirs = StatevectorEstimator().run([(STATES[name], OBSERVABLES[:2])]).result()
    assert np.allclose(ours[0].data.evs[:2], theirs[0].data.evs, atol=1e-9)
    assert ours[0].metadata == {**theirs[0].metadata, "circuit_metadata": STATES[name].metadata}


def test_observables_and_parameters_are_broadcast_together(backend: RemoteBackend) -> None:
    observables = [[SparsePauliOp(["ZI", "XX"], [1, 0.5])], [Pauli("IY")]]
    values = np.array([[0.1, 0.2], [0.3, -0.4], [1.0, 2.0]])
    pubs: list[Any] = [(PARAMETERS, observables, values), (PARAMETERS, Pauli("ZZ"), values[0])]
    ours = backend.estimator().run(pubs).result()
    theirs = StatevectorEstimator().run(pubs).result()
    assert ours[0].data.evs.shape == (2, 3)
    assert ours[1].data.evs.shape == ()
    for one, other in zip(ours, theirs, strict=True):
        assert np.allclose(one.data.evs, other.data.evs, atol=1e-9)
        assert one.data.stds.shape == other.data.stds.shape


def test_a_precision_is_reached_with_errors_that_say_so(backend: RemoteBackend) -> None:
    pub = (STATES["asymmetric"], [Pauli("ZII"), Pauli("XII"), Pauli("IIZ")])
    [result] = backend.estimator(seed=4).run([pub], precision=0.02).result()
    exact = np.array([np.cos(0.3), np.sin(0.3), -1.0])
    assert (result.data.stds <= 0.0201).all()
    assert (np.abs(result.data.evs - exact) <= 5.2 * result.data.stds + 1e-12).all()
    assert result.metadata["shots"] == 2500


def test_an_ordinary_program_runs_unmodified_but_for_the_backend(backend: RemoteBackend) -> None:
    circuit = QuantumCircuit(2, 2)
    circuit.x(0)
    circuit.rxx(0.4, 0, 1)
    circuit.measure([0, 1], [0, 1])
    job = backend.run(transpile(circuit, backend), shots=200, seed_simulator=5, memory=True)
    counts = job.result().get_counts()
    assert set(counts) <= {"01", "10"}
    assert counts["01"] > 150
    assert len(job.result().get_memory()) == 200
    assert job.status() is JobStatus.DONE
    isa = generate_preset_pass_manager(1, backend).run(circuit)
    assert sum(backend.sampler().run([isa], shots=7).result()[0].data.c.get_counts().values()) == 7
    two = backend.run([circuit, REGISTERS], shots=20).result()
    assert two.get_counts(1).keys() <= {"0 000000000 01", "0 010000001 01"}


def test_circuits_with_conditions_run(backend: RemoteBackend) -> None:
    circuit = QuantumCircuit(2, 2)
    circuit.x(0)
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], 1)):
        circuit.x(1)
    circuit.measure(1, 1)
    assert backend.run(transpile(circuit, backend), shots=20).result().get_counts() == {"11": 20}


def test_what_cannot_be_sent_faithfully_is_refused_by_name(backend: RemoteBackend) -> None:
    with pytest.raises(Refused, match="without a value: a"):
        backend.run(PARAMETERS)
    shared = QuantumCircuit(1)
    register = ClassicalRegister(1, "one")
    shared.add_register(register, ClassicalRegister(name="two", bits=list(register)))
    with pytest.raises(Refused, match="share bits"):
        backend.run(shared)
    named = QuantumCircuit(1)
    named.add_register(ClassicalRegister(1, "qubit"))
    named.measure(0, 0)
    with pytest.raises(Refused, match="'qubit' cannot keep its name"):
        backend.run(named)
    with pytest.raises(Refused, match="complex factor"):
        pauli_sum({"XY": 1j})
    with pytest.raises(Refused, match="are not known"):
        backend.run(measured(STATES["asymmetric"]), shot=3)
    phase = QuantumCircuit(1, name="phase")
    phase.append(GlobalPhaseGate(0.3))
    within = QuantumCircuit(1, 1)
    within.append(phase.to_gate(), [0])
    with pytest.raises(Refused, match="a global phase within a gate"):
        backend.run(within)
    opaque = QuantumCircuit(1, 1)
    opaque.append(Gate("secret", 1, []), [0])
    opaque.measure(0, 0)
    with pytest.raises((Refused, JobFailed), match="secret"):
        backend.run(opaque).result()


def test_single_jobs_give_the_same_as_one_sweep(single_jobs: Client) -> None:
    backend = RemoteBackend("local", single_jobs)
    job = backend.run([measured(STATES["asymmetric"])] * 2, shots=3)
    assert len(job.jobs) == 2
    [one] = backend.estimator().run([(PARAMETERS, Pauli("ZZ"), {A: [0.1, 0.2], "β[0]": [0.3, 0.4]})]).result()
    [other] = StatevectorEstimator().run([(PARAMETERS, Pauli("ZZ"), {A: [0.1, 0.2], "β[0]": [0.3, 0.4]})]).result()
    assert np.allclose(one.data.evs, other.data.evs, atol=1e-9)


def _shape(result: PrimitiveResult[Any], shots: int | None = None) -> list[Any]:
    found: list[Any] = [type(result), result.metadata]
    for pub in result:
        found.append((type(pub), pub.metadata if shots is None else {**pub.metadata, "shots": shots}, pub.data.shape))
        for name, bits in pub.data.items():
            assert isinstance(bits, BitArray)
            found.append((name, bits.num_bits, bits.num_shots if shots is None else shots))
    return found


def _paulis(observable: Any) -> tuple[list[str], list[float]]:
    from qiskit.primitives.containers.observables_array import ObservablesArray

    coerced = ObservablesArray([observable])[0]
    terms: dict[str, float] = {}
    for label, factor in coerced.items():
        parts = [("", float(factor))]
        for letter in label:
            choices = _LETTERS.get(letter, [(letter, 1.0)])
            parts = [(word + one, share * part) for word, share in parts for one, part in choices]
        for word, share in parts:
            terms[word] = terms.get(word, 0.0) + share
    return list(terms), list(terms.values())


_LETTERS = {
    "0": [("I", 0.5), ("Z", 0.5)],
    "1": [("I", 0.5), ("Z", -0.5)],
    "+": [("I", 0.5), ("X", 0.5)],
    "-": [("I", 0.5), ("X", -0.5)],
    "r": [("I", 0.5), ("Y", 0.5)],
    "l": [("I", 0.5), ("Y", -0.5)],
}
