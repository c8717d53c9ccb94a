"""Computes the expectation values that a job asks for with `params.observables`, for the state before the final
measurements: exactly from the simulator's state, or from shots in the bases of the terms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from qiskit import QuantumCircuit
from qiskit.quantum_info import Pauli
from qiskit_aer import AerSimulator
from qiskit_aer.library import SaveExpectationValue

from ...pauli_sums import PauliSum
from ..refusals import Unsupported
from .aer_target import check_operations, method_target, translated_for, without_saved_data
from .engine import ENGINES, check, run
from .estimates import Estimate, ReadoutErrors, Shots, estimate, weighted_sum
from .sampling import Sampler, Sampling, without_final_measurements
from .state_vector import before_measurements, written_out

Method = Literal["exact", "sampled"]
EXACT_METHODS = ("statevector", "density_matrix")
"""The simulation methods that hold the whole state."""


@dataclass(frozen=True)
class Observed:
    """`values` are `{observable, value, standard_error, method}` in the order of the observables; `groups` is the
    number of circuits that were measured for them, None for exact values."""

    values: list[dict[str, Any]]
    groups: int | None


def observe(
    circuit: QuantumCircuit, observables: Sequence[PauliSum], method: Method | None, sampling: Sampling
) -> Observed:
    """The values of the observables. Without a method, they are exact where the engine has the state. Raises
    Unsupported for another number of qubits, and where exact values are asked for that do not exist."""
    check_widths(circuit, observables)
    circuit = without_saved_data(circuit)
    unitary = None if method == "sampled" else _with_state(circuit, sampling, asked=method == "exact")
    if unitary is not None:
        means = _exact_means(unitary, words_of(observables), sampling)
        return Observed([_exact(one, means) for one in observables], None)
    return observe_samples(circuit, observables, sampling.counts, {})


def observe_samples(
    circuit: QuantumCircuit,
    observables: Sequence[PauliSum],
    sample: Sampler,
    known: Mapping[str, Mapping[str, int]],
) -> Observed:
    """The values of the observables from shots. `known` are counts of the circuit that are there already, by their
    basis."""
    bases = grouped(words_of(observables))
    ended = without_final_measurements(written_out(circuit))
    samples = [Shots.of(known.get(basis) or sample(ended, basis, number)) for number, basis in enumerate(bases, 1)]
    estimates = [estimated(one, bases, samples) for one in observables]
    return Observed([sampled_value(one, given) for one, given in zip(observables, estimates, strict=True)], len(bases))


def sampled_value(observable: PauliSum, given: Estimate) -> dict[str, Any]:
    """An entry of the result."""
    return {
        "observable": observable.text,
        "value": given.value,
        "standard_error": standard_error(given.variance),
        "method": "sampled",
    }


def standard_error(variance: float) -> float | None:
    """None for one shot, which says nothing about its spread."""
    return None if math.isnan(variance) else math.sqrt(variance)


def check_widths(circuit: QuantumCircuit, observables: Sequence[PauliSum]) -> None:
    """Raises Unsupported for an observable of another number of qubits."""
    for observable in observables:
        if observable.num_qubits != circuit.num_qubits:
            raise Unsupported(
                f"observables: '{_short(observable.text)}' has {observable.num_qubits} letters, the circuit has"
                f" {circuit.num_qubits} qubits; write one letter for each qubit, I where nothing is measured"
            )


def words_of(observables: Sequence[PauliSum]) -> list[str]:
    """The different products that have to be measured. Their order decides how they are grouped, which
    domain/jobs/params/observables.ts repeats for the price."""
    return sorted({word for one in observables for word in one.terms if set(word) != {"I"}})


def grouped(words: Sequence[str]) -> list[str]:
    """The bases in which the words are measured, one letter for each qubit: words that agree wherever both have a
    letter share the first basis that fits. A `Z` stands where no word has a letter."""
    bases: list[list[str]] = []
    for word in words:
        for basis in bases:
            if all("I" in pair or pair[0] == pair[1] for pair in zip(word, basis, strict=True)):
                basis[:] = [letter if known == "I" else known for letter, known in zip(word, basis, strict=True)]
                break
        else:
            bases.append(list(word))
    return ["".join(basis).replace("I", "Z") for basis in bases]


def _with_state(circuit: QuantumCircuit, sampling: Sampling, asked: bool) -> QuantumCircuit | None:
    """The circuit before its final measurements, where the engine has its state. Raises Unsupported when `asked`."""
    if ENGINES[sampling.engine].method not in EXACT_METHODS:
        problem = f"the engine '{sampling.engine}' does not hold the whole state; use aer-statevector"
    elif sampling.noise is not None:
        problem = "values under a noise_model are sampled"
    else:
        try:
            return before_measurements(circuit, sampling.source, "observables_method exact")
        except Unsupported:
            if asked:
                raise
            return None
    if asked:
        raise Unsupported(f"observables_method: exact is not possible: {problem}")
    return None


def _exact_means(unitary: QuantumCircuit, words: Sequence[str], sampling: Sampling) -> dict[str, float]:
    engine = check(sampling.engine, unitary.num_qubits)
    check_operations(unitary, method_target(engine.method), sampling.source)
    compiled = translated_for(engine.method, unitary, 0)
    for place, word in enumerate(words):
        # The simulator's label has qubit 0 as its last letter.
        compiled.append(SaveExpectationValue(Pauli(word[::-1]), label=f"word_{place}"), compiled.qubits)
    if not words:
        return {}
    data: Any = run(AerSimulator(method=engine.method, device=engine.device), compiled, 1, 0, None).data
    return {word: float(getattr(data, f"word_{place}")) for place, word in enumerate(words)}


def _exact(observable: PauliSum, means: Mapping[str, float]) -> dict[str, Any]:
    value = math.fsum(factor * means.get(word, 1.0) for word, factor in observable.terms.items())
    return {"observable": observable.text, "value": value, "standard_error": 0.0, "method": "exact"}


def estimated(
    observable: PauliSum, bases: Sequence[str], samples: Sequence[Shots], errors: ReadoutErrors | None = None
) -> Estimate:
    """The sum of the terms' means. Its variance is that of each group's sum of terms, shot by shot, so that terms that
    are measured together keep their covariance; groups are independent."""
    shares: list[dict[str, float]] = [{} for _ in bases]
    constant = 0.0
    for word, factor in observable.terms.items():
        if set(word) == {"I"}:
            constant += factor
            continue
        shares[next(place for place, basis in enumerate(bases) if _fits(word, basis))][word] = factor
    parts = [estimate(terms, shots, errors) for terms, shots in zip(shares, samples, strict=True) if terms]
    return weighted_sum([1.0] * len(parts), parts, constant)


def _fits(word: str, basis: str) -> bool:
    return all(letter in ("I", known) for letter, known in zip(word, basis, strict=True))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."
