"""Versions of the installed engines and frameworks, read from package metadata without importing them."""

from __future__ import annotations

from importlib.metadata import version

ENGINE_NAME = "statevector"
ENGINE_VERSION = f"qiskit-aer {version('qiskit-aer')}"
FRAMEWORK_VERSION = f"qiskit {version('qiskit')}"
FRAMEWORKS = {
    "qiskit": version("qiskit"),
    "openqasm": f"2.0, 3 (qiskit-qasm3-import {version('qiskit-qasm3-import')})",
}
