"""Measures the readout errors of each qubit, and corrects counts by them.

Counts are corrected by the method of M3 (Nation et al., PRX Quantum 2, 040326): the assignment matrix, a product of one
matrix for each qubit, restricted to the results that were observed. docs/decisions/0019 says why not by its package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qiskit import QuantumCircuit
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import LinearOperator, onenormest

from ..engines.estimates import Floats, ReadoutErrors, Shots
from ..engines.sampling import Sampler, measured_qubits
from ..refusals import Unsupported

CALIBRATION_CIRCUITS = 2
CONTRAST_MIN = 0.1
"""Below it, a reading says hardly anything, and a correction multiplies its error tenfold."""
OBSERVED_MAX = 4_096
"""Different results that are corrected: as many need a matrix of 128 MiB."""
INVERTED_MAX = 1_024
"""Up to here the overhead is exact. Above, it is a lower bound that is rarely missed by much."""


@dataclass(frozen=True)
class Calibration:
    """The shots of the two calibration circuits as flips: 1 where a qubit was read wrongly."""

    flips: tuple[Shots, Shots]

    @property
    def errors(self) -> ReadoutErrors:
        """The estimated probabilities."""
        first, second = (shots.counts @ shots.bits / shots.counts.sum() for shots in self.flips)
        ones = _prepared(len(first), 0) == 1
        return ReadoutErrors(np.where(ones, second, first), np.where(ones, first, second))

    def variance(self, slopes: Floats) -> float:
        """That of a value which comes from the uncertain probabilities, to first order. Qubits that flip together are
        measured together here, so that their covariance is in it."""
        if len(slopes) == 1:
            return 0.0
        of_0, of_1 = np.split(slopes, 2)
        return sum(
            shots.mean(shots.bits @ np.where(_prepared(len(of_0), number) == 1, of_1, of_0))[1]
            for number, shots in enumerate(self.flips)
        )


def _prepared(num_qubits: int, number: int) -> NDArray[np.uint8]:
    """The states of the qubits in a calibration circuit: every other one is 1, so that each is 0 in one circuit and 1
    in the other, next to neighbours of the other kind."""
    return ((np.arange(num_qubits) + number) % 2).astype(np.uint8)


def calibrate(num_qubits: int, sample: Sampler, number: int) -> Calibration:
    """Measures prepared states: the job's circuits of this number and the next. Raises Unsupported where a qubit's
    readout says too little."""
    first, second = (_flips(num_qubits, sample, number, place) for place in range(CALIBRATION_CIRCUITS))
    calibration = Calibration((first, second))
    for qubit, contrast in enumerate(calibration.errors.contrast):
        if contrast < CONTRAST_MIN:
            errors = calibration.errors
            raise Unsupported(
                f"mitigation.readout: qubit {qubit} reads 1 for {errors.p1_given0[qubit]:.0%} of its zeros and 0 for"
                f" {errors.p0_given1[qubit]:.0%} of its ones, which says too little to correct anything"
            )
    return calibration


def _flips(num_qubits: int, sample: Sampler, number: int, place: int) -> Shots:
    prepared = _prepared(num_qubits, place)
    circuit = QuantumCircuit(num_qubits)
    for qubit in np.flatnonzero(prepared):
        circuit.x(int(qubit))
    if not prepared.any():
        # Providers take no circuit without a gate; this one does nothing to 0.
        circuit.z(0)
    shots = Shots.of(sample(circuit, "Z" * num_qubits, number + place))
    return Shots(shots.bits ^ prepared, shots.counts)


def corrected_qubits(circuit: QuantumCircuit) -> dict[int, int]:
    """The qubit that each place of a bit string shows; bits that nothing measures have none. Raises Unsupported for a
    circuit that does not measure at its end only."""
    qubits = measured_qubits(circuit)
    if qubits is None:
        raise Unsupported(
            "mitigation.readout: the circuit measures or branches before its end, where a wrong reading also changes"
            " what follows"
        )
    return qubits


def quasi_probabilities(
    counts: Mapping[str, int], qubits: Mapping[int, int], errors: ReadoutErrors
) -> tuple[dict[str, float], float] | None:
    """The corrected share of each observed result, which can be below 0 and adds up to 1; and by how much the
    correction multiplies variances at most. None for too many different results."""
    observed = sorted(key for key, count in counts.items() if count > 0)
    if len(observed) > OBSERVED_MAX:
        return None
    shots = sum(counts.values())
    matrix = _assignment(Shots.of({key: counts[key] for key in observed}), qubits, errors)
    factors = lu_factor(matrix, overwrite_a=True, check_finite=False)
    shares = lu_solve(factors, np.array([counts[key] for key in observed]) / shots, check_finite=False)
    if not np.isfinite(shares).all():
        return None
    return dict(zip(observed, map(float, shares), strict=True)), _norm_of_inverse(factors) ** 2


def _norm_of_inverse(factors: tuple[Any, Any]) -> float:
    """The largest sum of a column's absolute values, from the factors of a matrix; estimated for a large one, where an
    inverse would take longer than all else."""
    size = len(factors[0])
    if size <= INVERTED_MAX:
        return float(np.abs(lu_solve(factors, np.eye(size), check_finite=False)).sum(axis=0).max())
    inverse = LinearOperator(
        (size, size),
        matvec=lambda vector: lu_solve(factors, vector, check_finite=False),
        rmatvec=lambda vector: lu_solve(factors, vector, trans=1, check_finite=False),
        dtype=np.float64,
    )
    return float(onenormest(inverse, t=8))


def _assignment(shots: Shots, qubits: Mapping[int, int], errors: ReadoutErrors) -> Floats:
    """The probability of each observed result (row) for each of them as the state (column). What would be read as a
    result that nobody saw is shared out among the observed ones."""
    matrix = np.ones((len(shots.bits), len(shots.bits)))
    for place, qubit in qubits.items():
        of_0, of_1 = errors.p1_given0[qubit], errors.p0_given1[qubit]
        bits = shots.bits[:, place]
        matrix *= np.array([[1 - of_0, of_1], [of_0, 1 - of_1]])[np.ix_(bits, bits)]
    normal: Floats = matrix / matrix.sum(axis=0)
    return normal


def errors_by_qubit(errors: ReadoutErrors) -> list[dict[str, Any]]:
    """As a result states them, under the names of a noise model."""
    pairs = zip(errors.p0_given1.tolist(), errors.p1_given0.tolist(), strict=True)
    return [
        {"qubit": qubit, "p0_given1": p0_given1, "p1_given0": p1_given0}
        for qubit, (p0_given1, p1_given0) in enumerate(pairs)
    ]
