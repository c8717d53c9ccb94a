"""Chooses the adapter that turns a value into a circuit."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_ADAPTERS = {
    "cirq": "cirq_circuits",
    "pennylane": "pennylane_circuits",
    "braket": "braket_circuits",
    "marqov": "marqov_circuits",
}
"""The adapters by the package in which a value's class is defined; an adapter is imported when its first value is
seen."""


def adapter_of(value: object) -> ModuleType | None:
    """The module whose `to_found` takes this value, or None for a value that is not a circuit."""
    for kind in type(value).__mro__:
        name = _ADAPTERS.get(kind.__module__.split(".")[0])
        if name is not None:
            adapter = import_module(f".{name}", __package__)
            return adapter if adapter.is_circuit(value) else None
    return None


def watch_calls(code: str) -> None:
    """Lets adapters whose circuits are functions store the arguments with which `code` calls them."""
    if "pennylane" in code:
        try:
            import_module(".qnode_calls", __package__).remember_calls()
        except ImportError:
            return  # The code's own import reports what is missing.
