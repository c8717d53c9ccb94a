"""The conformance table: every circuit, and its program in each language that can express it."""

from __future__ import annotations

from ..circuit import Circuit
from ..converters import WRITERS
from .gaps import gap
from .table_algorithms import ALGORITHM_ROWS
from .table_dynamic import DYNAMIC_ROWS
from .table_gates import GATE_ROWS

TABLE: dict[str, Circuit] = {**GATE_ROWS, **ALGORITHM_ROWS, **DYNAMIC_ROWS}

PROGRAMS: dict[tuple[str, str], str] = {
    (name, language): write(circuit)
    for name, circuit in TABLE.items()
    for language, write in WRITERS.items()
    if gap(language, name) is None
}
"""By row and language."""
