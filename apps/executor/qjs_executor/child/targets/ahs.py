"""Passes analog programs (Amazon Braket's analog Hamiltonian simulation) on to a device, unchanged: they are checked
against its limits instead of written anew."""

from __future__ import annotations

from typing import Any

from ..analog import text
from ..refusals import Unsupported
from .target import Target

FORMAT = "ahs"
MEDIA_TYPE = "application/json"
REGISTER = "sites"


def compile_analog(source: dict[str, str], target: Target) -> dict[str, Any]:
    """The answer to the compilation of an analog program, or of anything else for a device that runs only those.
    `readout` is of kind `sites`: letter k of a result is that of site k. Raises Unsupported."""
    if source.get("format") != FORMAT:
        raise Unsupported("target ahs: the device runs analog programs (ahs) only, no circuits")
    if target.format != FORMAT or target.limits is None:
        raise Unsupported(
            f"target {target.format}: the source is an analog program (ahs), and the device runs circuits"
        )
    # Imported here: Amazon's validators take as long as a framework.
    from ..analog.amazon_checks import check_by_amazon
    from ..analog.device_checks import check_count, check_for_device

    payload = source["payload"]
    program = text.read(payload)
    check_count(program, target.limits, target.num_qubits)
    check_by_amazon(program, target.limits)
    check_for_device(program, target.limits)
    sites = len(program["setup"]["ahs_register"]["sites"])
    return {
        "format": FORMAT,
        "program": payload,
        "media_type": MEDIA_TYPE,
        "qubits": sites,
        "readout": {"kind": "sites", "bits": list(range(sites))},
        "openqasm3": None,
        "registers": [{"name": REGISTER, "size": sites}],
        "circuit_info": _described(program),
        "warnings": [],
    }


def _described(program: dict[str, Any]) -> dict[str, Any]:
    register, hamiltonian = program["setup"]["ahs_register"], program["hamiltonian"]
    [driving] = hamiltonian["drivingFields"]
    return {
        "num_qubits": len(register["sites"]),
        "num_atoms": sum(register["filling"]),
        "duration_seconds": float(driving["amplitude"]["time_series"]["times"][-1]),
        "has_local_detuning": bool(hamiltonian["localDetuning"]),
    }
