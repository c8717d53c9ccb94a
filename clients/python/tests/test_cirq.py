"""The sampler of Cirq, compared with ``cirq.Simulator``."""

from __future__ import annotations

from typing import Any

import cirq
import duet
import numpy as np
import pytest
import sympy

from quantum_job_service import Client, Refused
from quantum_job_service.cirq import RemoteSampler

from .agreement import assert_sampled

A, B, C = cirq.NamedQubit("c"), cirq.LineQubit(0), cirq.GridQubit(1, 2)
T = sympy.Symbol("t")


@pytest.fixture(scope="module")
def sampler(client: Client) -> RemoteSampler:
    return RemoteSampler("local", client)


def _all_gates() -> cirq.Circuit:
    circuit = cirq.Circuit(cirq.ry(0.3 + place)(qubit) for place, qubit in enumerate((A, B, C)))
    circuit.append(
        [cirq.X(A) ** 0.3, cirq.Y(B) ** -0.4, cirq.Z(C) ** 0.7, cirq.H(A) ** 0.5, cirq.S(B), cirq.T(C) ** -1]
    )
    circuit.append([cirq.rx(0.4)(A), cirq.rz(-2.2)(B), cirq.PhasedXPowGate(phase_exponent=0.2, exponent=0.6)(C)])
    circuit.append([cirq.CX(A, B) ** 0.4, cirq.CZ(C, A) ** 1.3, cirq.ISWAP(B, C) ** 0.5, cirq.FSimGate(0.3, 0.8)(C, A)])
    circuit.append([cirq.CCX(A, C, B), cirq.CSWAP(B, A, C), cirq.XX(A, C) ** 0.2, cirq.SWAP(B, A) ** 0.6])
    circuit.append(cirq.ControlledGate(cirq.rx(0.9))(B, A))
    circuit.append(cirq.MatrixGate(cirq.testing.random_unitary(4, random_state=5))(C, B))
    circuit.append(cirq.ControlledOperation([A], cirq.Y(B) ** 0.3, control_values=[0]))
    return circuit


HALF, SIN = 0.5, float(np.sin(0.25) ** 2)
CIRCUITS: dict[str, tuple[cirq.Circuit, dict[str, float] | None]] = {
    "asymmetric": (
        cirq.Circuit(cirq.X(B), cirq.ry(0.5)(C), cirq.measure(C, B, A, key="m")),
        {"010": 1 - SIN, "110": SIN},
    ),
    "every gate": (_all_gates() + cirq.Circuit(cirq.measure(B, A, C, key="m")), None),
    "two keys": (
        cirq.Circuit(cirq.X(A), cirq.I(B), cirq.measure(B, key="z"), cirq.measure(A, B, key="a b")),
        {"100": 1},
    ),
    "inverted": (cirq.Circuit(cirq.X(A), cirq.measure(A, B, key="m", invert_mask=(True,))), {"00": 1}),
    "repeated key": (
        cirq.Circuit(cirq.X(A), cirq.measure(A, key="k"), cirq.X(A), cirq.measure(A, key="k")),
        {"10": 1},
    ),
    "within": (
        cirq.Circuit(cirq.H(A), cirq.measure(A, key="1"), cirq.reset(A), cirq.X(A), cirq.measure(A, key="2")),
        {"01": HALF, "11": HALF},
    ),
    "pauli": (
        cirq.Circuit(cirq.H(A), cirq.X(B), cirq.PauliMeasurementGate([cirq.X, cirq.Z], key="p")(A, B)),
        {"1": 1},
    ),
    "nested": (
        cirq.Circuit(
            cirq.CircuitOperation(cirq.FrozenCircuit(cirq.X(A), cirq.H(B), cirq.measure(A, B, key="i")), repetitions=2)
        ),
        {first + "0" + second: 0.25 for first in ("10", "11") for second in "01"},
    ),
}
"""Each with the probabilities of its records, of all keys in their order; None: those of its state."""
INVERTED = CIRCUITS["inverted"][0]


def _distribution(result: cirq.Result) -> dict[str, int]:
    """Of all records together, so that what belongs to one shot stays together."""
    rows = np.concatenate(
        [result.records[key].reshape(result.repetitions, -1) for key in sorted(result.records)], axis=1
    )
    keys, counts = np.unique(["".join(map(str, row)) for row in rows], return_counts=True)
    return {str(key): int(count) for key, count in zip(keys, counts, strict=True)}


@pytest.mark.parametrize("name", CIRCUITS)
def test_samples_look_as_cirqs_own_and_have_the_probabilities_of_the_circuit(sampler: RemoteSampler, name: str) -> None:
    circuit, probabilities = CIRCUITS[name]
    ours = sampler.run(circuit, repetitions=2000)
    theirs = cirq.Simulator(seed=7).run(circuit, repetitions=20)
    assert type(ours) is type(theirs)
    assert {key: one.shape[1:] for key, one in ours.records.items()} == {
        key: one.shape[1:] for key, one in theirs.records.items()
    }
    if probabilities is None:
        state = cirq.final_state_vector(_all_gates(), qubit_order=[B, A, C], dtype=np.complex128)
        probabilities = {format(index, "03b"): float(abs(one) ** 2) for index, one in enumerate(state)}
    assert set(_distribution(theirs)) <= {key for key, share in probabilities.items() if share > 0}
    assert_sampled(_distribution(ours), probabilities)


def test_a_sweep_gives_a_result_for_each_value(sampler: RemoteSampler) -> None:
    circuit = cirq.Circuit(cirq.X(A) ** T, cirq.measure(A, B, key="m"))
    results = sampler.run_sweep(circuit, cirq.Points("t", [0, 1, 2]), repetitions=10)
    assert [result.params["t"] for result in results] == [0, 1, 2]
    assert [result.histogram(key="m") for result in results] == [{0: 10}, {2: 10}, {0: 10}]
    frame = sampler.sample(circuit, repetitions=2, params=[{"t": 1}, {"t": 0}])
    assert frame["m"].tolist() == [2, 2, 0, 0]
    [[one], [other]] = sampler.run_batch([circuit, INVERTED], [{"t": 1}, None], [3, 4])
    assert (one.repetitions, other.repetitions) == (3, 4)
    assert sampler.run(circuit, {"t": 1}, repetitions=0).records["m"].shape == (0, 1, 2)


def test_the_collectors_of_cirq_work_run_on_it(sampler: RemoteSampler) -> None:
    circuit = cirq.Circuit(cirq.X(A), cirq.ry(0.7)(B))
    collector = cirq.PauliSumCollector(circuit, cirq.Z(A) * cirq.X(B) + 0.5 * cirq.Z(B), samples_per_term=2000)
    collector.collect(sampler)
    exact = -np.sin(0.7) + 0.5 * np.cos(0.7)
    assert abs(collector.estimated_energy() - exact) < 5.2 * np.sqrt((1 + 0.25) / 2000)
    settings = list(cirq.work.observables_to_settings([cirq.Z(A), cirq.X(B)], [A, B]))
    measured = cirq.work.measure_grouped_settings(
        circuit,
        cirq.work.group_settings_greedy(settings),
        sampler=sampler,
        stopping_criteria=cirq.work.RepetitionsStoppingCriteria(1000),
        readout_symmetrization=True,
    )
    means = [one.mean for one in cirq.work.flatten_grouped_results(measured)]
    assert np.allclose(sorted(means), sorted([-1, np.sin(0.7)]), atol=0.17)
    [value] = sampler.sample_expectation_values(circuit, cirq.Z(A), num_samples=50)
    assert np.allclose(value, [-1])


def test_the_async_methods_of_a_sampler_work(sampler: RemoteSampler) -> None:
    result = duet.run(sampler.run_async, INVERTED, None, 5)
    assert result.histogram(key="m") == {0: 5}


@pytest.mark.parametrize(
    ("circuit", "reason"),
    [
        (cirq.Circuit(cirq.X(A)), "no measurements"),
        (cirq.Circuit(cirq.X(A) ** T, cirq.measure(A)), "symbols without a value"),
        (cirq.Circuit(cirq.depolarize(0.1)(A), cirq.measure(A)), "no gate that OpenQASM 3 has"),
        (cirq.Circuit(cirq.measure(A, key="k"), cirq.X(B).with_classical_controls("k")), "classical control"),
        (cirq.Circuit(cirq.MeasurementGate(1, "k", confusion_map={(0,): np.eye(2)[::-1]})(A)), "confusion map"),
        (cirq.Circuit(cirq.measure(cirq.LineQid(0, 3), key="k")), "only qubits"),
    ],
)
def test_what_cannot_be_sent_faithfully_is_refused_by_name(sampler: RemoteSampler, circuit: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        sampler.run(circuit)
