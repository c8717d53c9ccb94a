"""The method `matrix_product_state`: how large its bonds may grow, and the refusal of a state that was cut.

With a bond dimension that is too small the simulator drops part of the state and reports it only in a log. A bond
dimension that memory can hold is set, and an execution that dropped anything of weight is refused.
"""

from __future__ import annotations

import re
from typing import Any

from ..refusals import JobError
from .memory import bond_dimension

METHOD = "matrix_product_state"
DISCARDED_MAX = 1e-8
"""Weight of the state that may go missing: it shifts probabilities by less than 1e-4 in all, below what shots show."""

RECORD_BYTES_MAX = 512 * 1024**2
"""Limit of the log, which grows with every entangling gate of every shot that is run separately."""

_DISCARDED = re.compile(r"discarded_value=([0-9.eE+-]+)")


# The simulator's log continues across the simulations of a process; this is what earlier ones dropped.
_discarded_before = 0.0


def options(num_qubits: int, entangling_gates: int) -> dict[str, Any]:
    """The options of a simulator with this many qubits. A bond never needs more than 2^(n/2), so a small state is
    never cut and needs no log. `entangling_gates` counts those of all shots that are run alone. Raises JobError."""
    bond = bond_dimension(num_qubits)
    if num_qubits // 2 < bond.bit_length():
        return {}
    record = entangling_gates * (5 * num_qubits + 60)
    if record > RECORD_BYTES_MAX:
        raise JobError(
            f"memory: the run is too long to be watched for lost entanglement ({entangling_gates} entangling gates over"
            " all shots); measure at the end only, or use fewer shots"
        )
    return {"matrix_product_state_max_bond_dimension": bond, "mps_log_data": True}


def check_exact(metadata: dict[str, Any]) -> None:
    """Raises JobError if the execution dropped part of the state."""
    global _discarded_before
    if "MPS_log_data" not in metadata:
        return
    total = sum(float(value) for value in _DISCARDED.findall(metadata["MPS_log_data"]))
    discarded, _discarded_before = total - _discarded_before, total
    if discarded > DISCARDED_MAX:
        bond = metadata.get("matrix_product_state_max_bond_dimension")
        raise JobError(
            f"memory: the circuit's entanglement needs a bond dimension above {bond}, the most that fits in memory; use"
            " fewer qubits or entangling gates, or a state vector engine"
        )
