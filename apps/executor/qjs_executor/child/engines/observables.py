"""Computes the expectation values that a job asks for with `params.observables`, for the state before the final
measurements: exactly from the simulator's state, or from shots in the bases of the terms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from qiskit import ClassicalRegister, QuantumCircuit
from qiskit.circuit import Clbit, Measure, Qubit
from qiskit.quantum_info import Pauli
from qiskit_aer import AerSimulator
from qiskit_aer.library import SaveExpectationValue

from ...pauli_sums import PauliSum
from ..refusals import Unsupported
from ..replay import derived_seed
from .aer_target import check_operations, method_target, translated_for, without_saved_data
from .engine import ENGINES, check, run, simulate
from .noise import NoiseSpec
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


@dataclass(frozen=True)
class Sampling:
    """How a circuit is sampled: as the counts of the job are."""

    engine: str
    shots: int
    seed: int | None
    optimization_level: int
    source: str | None
    noise: NoiseSpec | None


def observe(
    circuit: QuantumCircuit, observables: Sequence[PauliSum], method: Method | None, sampling: Sampling
) -> Observed:
    """The values of the observables. Without a method, they are exact where the engine has the state. Raises
    Unsupported for another number of qubits, and where exact values are asked for that do not exist."""
    for observable in observables:
        if observable.num_qubits != circuit.num_qubits:
            raise Unsupported(
                f"observables: '{_short(observable.text)}' has {observable.num_qubits} letters, the circuit has"
                f" {circuit.num_qubits} qubits; write one letter for each qubit, I where nothing is measured"
            )
    circuit = without_saved_data(circuit)
    words = sorted({word for one in observables for word in one.terms if set(word) != {"I"}})
    unitary = None if method == "sampled" else _with_state(circuit, sampling, asked=method == "exact")
    if unitary is not None:
        means = _exact_means(unitary, words, sampling)
        return Observed([_exact(one, means) for one in observables], None)
    groups = grouped(words)
    ended = without_final_measurements(written_out(circuit))
    samples = [_sampled(ended, basis, sampling, number) for number, basis in enumerate(groups, 1)]
    return Observed([_estimated(one, groups, samples) for one in observables], len(groups))


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


def _sampled(ended: QuantumCircuit, basis: str, sampling: Sampling, number: int) -> dict[str, int]:
    """Counts of all qubits in a basis at the end of a circuit, qubit 0 leftmost."""
    measured = ended.copy()
    before = measured.num_clbits
    taken = {register.name for register in [*measured.cregs, *measured.qregs]}
    name = "observed"
    while name in taken:
        name += "_"
    register = ClassicalRegister(measured.num_qubits, name)
    measured.add_register(register)
    for qubit, letter in zip(measured.qubits, basis, strict=True):
        if letter == "Y":
            measured.sdg(qubit)
        if letter in "XY":
            measured.h(qubit)
    measured.measure(measured.qubits, register)
    seed = None if sampling.seed is None else derived_seed(sampling.seed, number)
    memory = simulate(
        measured, sampling.engine, sampling.shots, seed, sampling.optimization_level, sampling.source, sampling.noise
    )
    counts: dict[str, int] = {}
    for value, count in memory.items():
        key = format(value >> before & (1 << measured.num_qubits) - 1, f"0{measured.num_qubits}b")[::-1]
        counts[key] = counts.get(key, 0) + count
    return counts


def _estimated(observable: PauliSum, bases: Sequence[str], samples: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    """The sum of the terms' means. Its variance is that of each group's sum of terms, shot by shot, so that terms that
    are measured together keep their covariance; groups are independent."""
    shares: list[dict[str, float]] = [{} for _ in bases]
    constant = 0.0
    for word, factor in observable.terms.items():
        if set(word) == {"I"}:
            constant += factor
            continue
        shares[next(place for place, basis in enumerate(bases) if _fits(word, basis))][word] = factor
    means: list[float] = []
    variances: list[float] = []
    for terms, counts in zip(shares, samples, strict=True):
        if terms:
            mean, variance = _mean_and_its_variance(terms, counts)
            means.append(mean)
            variances.append(variance)
    error = math.sqrt(math.fsum(variances))
    return {
        "observable": observable.text,
        "value": math.fsum([constant, *means]),
        # One shot says nothing about its spread.
        "standard_error": None if math.isnan(error) else error,
        "method": "sampled",
    }


def _fits(word: str, basis: str) -> bool:
    return all(letter in ("I", known) for letter, known in zip(word, basis, strict=True))


def _mean_and_its_variance(terms: Mapping[str, float], counts: Mapping[str, int]) -> tuple[float, float]:
    """The mean over the shots of a sum of terms, and the estimated variance of that mean: NaN for one shot."""
    shots = sum(counts.values())
    places = [([place for place, letter in enumerate(word) if letter != "I"], factor) for word, factor in terms.items()]
    drawn = [(_sample(places, key), count) for key, count in counts.items()]
    mean = math.fsum(value * count for value, count in drawn) / shots
    if shots == 1:
        return mean, math.nan
    spread = math.fsum((value - mean) ** 2 * count for value, count in drawn) / (shots - 1)
    return mean, spread / shots


def _sample(places: Sequence[tuple[Sequence[int], float]], key: str) -> float:
    """The sum of the terms in one shot; each is its factor times the parity of some places of the key."""
    return math.fsum(-factor if sum(key[place] == "1" for place in listed) % 2 else factor for listed, factor in places)


def without_final_measurements(circuit: QuantumCircuit) -> QuantumCircuit:
    """The circuit without the measurements after which nothing happens to the qubit or to the bit."""
    kept: list[Any] = []
    used: set[Qubit | Clbit] = set()
    for item in reversed(circuit.data):
        if item.operation.name == "barrier":
            # One that only separates the measurements says nothing about what is left.
            if not used.isdisjoint(item.qubits):
                kept.append(item)
            continue
        if isinstance(item.operation, Measure) and used.isdisjoint([*item.qubits, *item.clbits]):
            continue
        used.update(_touched(circuit, item))
        kept.append(item)
    left = circuit.copy_empty_like()
    for item in reversed(kept):
        left._append(item)
    return left


def _touched(circuit: QuantumCircuit, item: Any) -> Iterator[Qubit | Clbit]:
    yield from item.qubits
    yield from item.clbits
    # Conditions on variables read bits that the instruction does not list.
    if item.operation.name == "store" or getattr(item.operation, "blocks", ()):
        yield from circuit.clbits


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."
