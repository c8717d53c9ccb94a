"""Suggests what to change when a program fails because of where it runs: without a network, a terminal or further
packages."""

from __future__ import annotations

import re
import subprocess
import sys

_PREFIXES = "|".join(re.escape(prefix) for prefix in sorted({sys.prefix, sys.base_prefix}))
_PATH = re.compile(rf" \((?:unknown location|/[^()\s]*)\)|(?:{_PREFIXES}|/[^\s'\"()]*site-packages)/[^\s'\"():,]*")
"""Where Python and its packages are on this machine; the user's own paths and addresses are kept."""
_NO_NETWORK = "there is no network here: put data into the code or the job's params"
_CHOOSE_BACKEND = "the job's backend runs the circuit: remove the code that connects to a provider, leave the circuit"
_AER = "use AerSimulator from qiskit_aer: counts = AerSimulator().run(circuit).result().get_counts()"
_PACKAGES = {
    "qiskit_ibm_runtime": _CHOOSE_BACKEND,
    "qiskit_ibm_provider": _CHOOSE_BACKEND,
    "qiskit_braket_provider": _CHOOSE_BACKEND,
    "qiskit_ionq": _CHOOSE_BACKEND,
    "cirq_google": "cirq_google is not installed: write its gates and devices with cirq alone, for example"
    " cirq.FSimGate(np.pi / 2, np.pi / 6) for SYC; the job's backend runs the circuit",
    "cirq_ionq": _CHOOSE_BACKEND,
    "IPython": "remove what belongs to a notebook, and print() what you want to see",
    "qiskit.providers.aer": _AER,
    "qiskit.aqua": "this package was discontinued in 2021; use qiskit.circuit.library and qiskit.primitives",
    "qiskit.opflow": "this module was removed with qiskit 1; use SparsePauliOp from qiskit.quantum_info",
}
_REMOVED = {
    "execute": f"qiskit 1 removed it; {_AER}",
    "Aer": f"qiskit 1 removed it; {_AER}",
    "BasicAer": f"qiskit 1 removed it; {_AER}",
    "IBMQ": _CHOOSE_BACKEND,
    "c_if": "qiskit 2 removed it; write 'with circuit.if_test((bit, value)):' around the gate",
    "bind_parameters": "qiskit 1 removed it; use assign_parameters",
    "qasm": "qiskit 1 removed it; use qiskit.qasm2.dumps(circuit) or qiskit.qasm3.dumps(circuit)",
    "Sampler": "qiskit 2 removed it; use StatevectorSampler",
    "Estimator": "qiskit 2 removed it; use StatevectorEstimator",
}
"""Names of qiskit that older tutorials use."""
_NETWORK_ERRORS = {"gaierror", "NameResolutionError", "NewConnectionError", "EndpointConnectionError", "ConnectError"}
_CREDENTIALS = {"NoRegionError", "NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"}
_NOTEBOOK_LINE = re.compile(r"\s*([%!]\s*\w.*|\?\w+|\w[\w.]*\?+)\s*$")


def without_paths(message: str) -> str:
    """The message without paths of this machine."""
    return _PATH.sub("", message)


def hint(error: BaseException, text: str) -> str:
    """The hint to add to the error's own message, `text`; empty where that message already contains it."""
    found = _for(error, text)
    return f". To fix this: {found}" if found else ""


def syntax_hint(line: str, message: str = "") -> str:
    """The same for a line that is not Python."""
    if "outside function" in message and "await" in message:
        return " (await at the top level works only in a notebook: write asyncio.run(...))"
    if line.lstrip().startswith(("```", ">>> ", "... ", "In [", "Out[")):
        return f" ('{line.strip().split()[0]}' is not part of the program: copy the code without what surrounds it)"
    if message == "unexpected indent":
        return " (move the whole code to the left, so that its first line has no indentation)"
    found = _NOTEBOOK_LINE.match(line)
    return f" ('{found[1][:80]}' works only in a notebook: remove the line)" if found else ""


def _for(error: BaseException, text: str) -> str | None:
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and len(chain) < 20:
        chain.append(step)
        reason = getattr(step, "reason", None)
        step = step.__cause__ or step.__context__ or (reason if isinstance(reason, BaseException) else None)
    names = {name for one in chain for name in (kind.__name__ for kind in type(one).__mro__)}
    if not names.isdisjoint(_CREDENTIALS):
        return f"{_CHOOSE_BACKEND}; store credentials of a provider in the team's secrets"
    if not names.isdisjoint(_NETWORK_ERRORS):
        return _NO_NETWORK
    if isinstance(error, EOFError) and "reading a line" in text:
        return "input() has no terminal here: read the value from the job's params, for example params['n']"
    if isinstance(error, ImportError):
        return _for_import(error, text)
    if isinstance(error, AttributeError) and error.name in _REMOVED:
        return _REMOVED[error.name]
    if isinstance(error, subprocess.SubprocessError):
        return "no other program can be run here and no package can be installed: use the packages of this service"
    if isinstance(error, PermissionError):
        return "files can be written only in the working directory, and no other program can be run"
    return None


def _for_import(error: ImportError, text: str) -> str:
    known = [fix for package, fix in _PACKAGES.items() if package in (error.name or "") or f"'{package}'" in text]
    if known:
        return known[0]
    wanted = re.search(r"cannot import name '(\w+)' from 'qiskit", text)
    if wanted and wanted[1] in _REMOVED:
        return _REMOVED[wanted[1]]
    if wanted or "cannot import name" in text:
        return "look the name up in the package's documentation for the installed version, or remove the import"
    return "only the packages of this service can be imported, and none can be installed: remove what needs it"
