# expect: value {"zz": 1.0, "labels": ["ZZ", "XX"], "counts": {"00": 3}}
# expect-warning: shots, engine, engine_version and optimization_level are null
from collections import Counter

import numpy as np
from qiskit import QuantumCircuit
from qiskit.quantum_info import SparsePauliOp, Statevector


def main(shots: int, backend: str):
    state = Statevector(QuantumCircuit(2))
    zz = SparsePauliOp("ZZ")
    return {
        "zz": np.real(state.expectation_value(zz)),
        "labels": ("ZZ", "XX"),
        "counts": Counter(["00"] * 3),
        "table": np.eye(2, dtype=np.int64),
        "shots": shots,
    }
