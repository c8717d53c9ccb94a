"""Randomized benchmarking: the average error of a one-qubit Clifford gate.

A random sequence of m Cliffords is followed by the one that undoes them: without errors the answer is certain. Errors
make the right answer rarer as 1/2 + A alpha^m, and the error per Clifford is (1 - alpha)/2. Each sequence runs twice,
once with a flip at its end; their mean leaves an uneven readout out. Each Clifford is one gate `u` here, so that a
depolarizing error p of every gate (noise_model {"gate_errors": {"all_1q": p}}) gives alpha = 1 - p and an error of p/2.
Without noise alpha is 1.
"""

import random
from functools import reduce

import numpy as np
from qiskit import QuantumCircuit
from qiskit.synthesis import OneQubitEulerDecomposer
from scipy.optimize import curve_fit

H, S, X = np.array([[1, 1], [1, -1]]) / np.sqrt(2), np.diag([1, 1j]), np.array([[0, 1], [1, 0]])
angles_of = OneQubitEulerDecomposer("U").angles


def clifford_group() -> list[np.ndarray]:
    """The 24 gates that H and S make; a phase, which nothing can observe, makes no other gate."""
    group = [np.eye(2)]
    for gate in group:
        for product in (H @ gate, S @ gate):
            if all(abs(np.trace(known.conj().T @ product)) < 2 - 1e-9 for known in group):
                group.append(product)
    return group


def sequence(gates: list[np.ndarray]) -> QuantumCircuit:
    """The gates one after another; a barrier keeps a compiler from merging two of them."""
    circuit = QuantumCircuit(1)
    for gate in gates:
        circuit.u(*angles_of(gate), 0)
        circuit.barrier()
    circuit.measure_all()
    return circuit


# The device reads noise_model itself; naming it here lets a job give it. `seed` also fixes the choice of sequences.
def main(
    shots: int,
    lengths: list[int] = [1, 8, 16, 32, 64],
    sequences: int = 3,
    noise_model: dict | None = None,
    seed: int | None = None,
):
    if len(set(lengths)) < 3 or not all(1 <= length <= 1000 for length in lengths) or not 1 <= sequences <= 100:
        raise ValueError("lengths: at least three different ones, each from 1 to 1000; sequences: from 1 to 100")
    chance = random.Random(seed) if seed is not None else random
    group = clifford_group()
    points, survival, spread = [], [], []
    for length in lengths:
        for _ in range(sequences):
            gates = chance.choices(group, k=length)
            undo = reduce(lambda done, gate: done @ gate.conj().T, gates, np.eye(2))
            plain, flipped = (device.run(sequence([*gates, last]), shots) for last in (undo, X @ undo))
            points.append(length)
            survival.append((plain.get("0", 0) + flipped.get("1", 0)) / sum([*plain.values(), *flipped.values()]))
        mean = np.mean(survival[-sequences:])
        spread += [max(np.sqrt(mean * (1 - mean)), 1 / shots)] * sequences

    decay = lambda m, a, alpha: 0.5 + a * alpha**m
    fit, covariance = curve_fit(decay, points, survival, p0=[0.5, 0.99], sigma=spread, bounds=(0, 1))
    alpha, error = float(fit[1]), float(1 - fit[1]) / 2
    return {
        "alpha": alpha,
        "alpha_standard_error": float(np.sqrt(covariance[1, 1])),
        "error_per_clifford": error,
        "survival": [{"length": m, "probability": p} for m, p in zip(points, survival)],
        "_summary": {
            "Error per Clifford": f"{error:.2e} (fitted decay alpha = {alpha:.5f})",
            "Measured": f"{len(points)} sequences of {min(lengths)} to {max(lengths)} Cliffords, {shots} shots twice",
        },
    }
