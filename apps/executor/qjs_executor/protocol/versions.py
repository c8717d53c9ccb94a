"""Versions of the installed engines and frameworks, read from package metadata without importing them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

PROTOCOL = 1
"""Counts the changes of this service's HTTP interface after which a caller of before would be misread. A caller sends
its own number as `x-executor-protocol`; services/executor has the same one."""

ENGINE_VERSION = f"qiskit-aer {version('qiskit-aer')}"

_PACKAGES = {
    "qiskit": "qiskit",
    "cirq": "cirq-core",
    "pennylane": "pennylane",
    "openqasm": "qiskit-qasm3-import",
    "marqov": "marqov",
}


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


FRAMEWORKS = {name: found for name, package in _PACKAGES.items() if (found := _installed(package)) is not None}
"""The installed frameworks and their versions; `marqov` needs Python 3.12."""


def framework_version(framework: str) -> str:
    """Name and version of the package that reads a framework's circuits, as results show it."""
    package = "qiskit" if framework == "openqasm" else _PACKAGES.get(framework, framework)
    return f"{package} {_installed(package)}"
