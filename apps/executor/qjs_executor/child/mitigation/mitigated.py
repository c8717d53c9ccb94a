"""Mitigates the errors of a job's values: runs the calibration circuits and the folded ones, and states the mitigated
values next to the raw ones."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qiskit import QuantumCircuit

from ...mitigation import Mitigation, Zne
from ...pauli_sums import PauliSum
from ..engines.estimates import Estimate, Shots, weighted_sum
from ..engines.noise import NoiseSpec
from ..engines.observables import estimated, grouped, sampled_value, standard_error, words_of
from ..engines.sampling import Sampler, without_final_measurements
from ..engines.state_vector import written_out
from ..refusals import Unsupported
from .readout import (
    CALIBRATION_CIRCUITS,
    OBSERVED_MAX,
    Calibration,
    calibrate,
    corrected_qubits,
    errors_by_qubit,
    quasi_probabilities,
)

NOT_CORRECTED = (
    f"mitigation.readout: quasi_probabilities is null: the counts have {{:,}} different results, of which at most"
    f" {OBSERVED_MAX:,} can be corrected, or their assignment matrix has no inverse"
)


@dataclass(frozen=True)
class Mitigated:
    """Fields of the answer, and warnings."""

    fields: dict[str, Any]
    warnings: list[str]


@dataclass(frozen=True)
class Scaled:
    """The circuits whose values are extrapolated: with their factors, the first of them 1, and the weights."""

    circuits: list[QuantumCircuit]
    reached: list[float]
    weights: list[float]


def mitigated(
    circuit: QuantumCircuit,
    observables: Sequence[PauliSum],
    asked: Mitigation,
    counts: Mapping[str, int],
    sample: Sampler,
    known: Mapping[str, Mapping[str, int]],
    spec: NoiseSpec | None,
    source: str | None,
) -> Mitigated:
    """`circuit` as it was measured for `counts`, the first of the circuits; `known` are counts of it that are there
    already, by their basis. The noise is known on an engine. Raises Unsupported for what cannot be mitigated, before
    any further circuit is run."""
    qubits = corrected_qubits(circuit) if asked.readout else {}
    bases = grouped(words_of(observables))
    scaled = _scaled(circuit, asked.zne, spec, source)
    numbers = itertools.count(1)
    own: list[Mapping[str, int]] = [
        known.get(basis) or sample(scaled.circuits[0], basis, next(numbers)) for basis in bases
    ]
    further = [[sample(one, basis, next(numbers)) for basis in bases] for one in scaled.circuits[1:]]
    samples = [[Shots.of(one) for one in own], *([Shots.of(one) for one in taken] for taken in further)]
    calibration = calibrate(circuit.num_qubits, sample, next(numbers)) if asked.readout else None
    errors = None if calibration is None else calibration.errors
    raw = [estimated(one, bases, samples[0]) for one in observables]
    by_factor = [
        [estimated(one, bases, samples[place], errors) for place in range(len(scaled.circuits))] for one in observables
    ]
    values = [
        {
            **sampled_value(one, _with_calibration(weighted_sum(scaled.weights, estimates), calibration)),
            "raw": {"value": before.value, "standard_error": standard_error(before.variance)},
        }
        for one, estimates, before in zip(observables, by_factor, raw, strict=True)
    ]
    run = next(numbers) + (CALIBRATION_CIRCUITS - 1 if calibration else 0)
    done: dict[str, Any] = {"circuits": run}
    fields: dict[str, Any] = {"mitigation": done}
    if observables:
        fields |= {"expectation_values": values, "observable_groups": len(bases)}
    warnings: list[str] = []
    if asked.zne is not None:
        done["zne"] = _zne_done(asked.zne, scaled, by_factor, calibration)
    if calibration is not None:
        corrected = quasi_probabilities(counts, qubits, calibration.errors)
        if corrected is None:
            warnings.append(NOT_CORRECTED.format(len(counts)))
        shares, overhead = corrected or (None, None)
        fields["quasi_probabilities"] = shares
        done["readout"] = {"errors": errors_by_qubit(calibration.errors), "overhead": overhead}
    return Mitigated(fields, warnings)


def _scaled(circuit: QuantumCircuit, zne: Zne | None, spec: NoiseSpec | None, source: str | None) -> Scaled:
    ended = without_final_measurements(written_out(circuit))
    if zne is None or spec is None:
        return Scaled([ended], [1.0], [1.0])
    # PennyLane takes a second to import.
    from .extrapolation import weights_of
    from .folding import foldable, folded

    gates = foldable(circuit, spec, source)
    further = [folded(gates, factor) for factor in zne.factors[1:]]
    reached = [1.0, *(factor for _, factor in further)]
    if len(set(reached)) < len(reached):
        raise Unsupported(
            f"mitigation.zne: the circuit has {len(gates.data)} gates, too few to tell the factors"
            f" {', '.join(f'{factor:g}' for factor in zne.factors)} apart"
        )
    return Scaled([ended, *(one for one, _ in further)], reached, weights_of(zne, reached))


def _with_calibration(given: Estimate, calibration: Calibration | None) -> Estimate:
    if calibration is None:
        return given
    return Estimate(given.value, given.variance + calibration.variance(given.slopes), given.slopes)


def _zne_done(
    zne: Zne, scaled: Scaled, by_factor: Sequence[Sequence[Estimate]], calibration: Calibration | None
) -> dict[str, Any]:
    return {
        "factors": zne.factors,
        "reached": scaled.reached,
        "fit": zne.fit,
        "order": zne.order,
        "weights": scaled.weights,
        "values": [
            [
                {"value": one.value, "standard_error": standard_error(_with_calibration(one, calibration).variance)}
                for one in estimates
            ]
            for estimates in by_factor
        ],
    }
