"""The gates of Amazon Braket in terms of those of OpenQASM 3."""

from __future__ import annotations

import re

_XX = "h {0}; h {1}; cx {0}, {1}; rz(%a) {1}; cx {0}, {1}; h {0}; h {1};"
_YY = "rx(pi/2) {0}; rx(pi/2) {1}; cx {0}, {1}; rz(%a) {1}; cx {0}, {1}; rx(-pi/2) {0}; rx(-pi/2) {1};"
BODIES = {
    **{name: name + " {0};" for name in ("h", "x", "y", "z", "s", "t")},
    **{name: name + "(%a) {0};" for name in ("rx", "ry", "rz")},
    "i": "id {0};",
    "si": "sdg {0};",
    "ti": "tdg {0};",
    "v": "sx {0};",
    "vi": "inv @ sx {0};",
    "phaseshift": "p(%a) {0};",
    "U": "p(%c) {0}; ry(%a) {0}; p(%b) {0};",
    "gpi": "x {0}; rz(2*(%a)) {0};",
    "gpi2": "rz(-(%a)) {0}; rx(pi/2) {0}; rz(%a) {0};",
    "prx": "rz(-(%b)) {0}; rx(%a) {0}; rz(%b) {0};",
    "cnot": "cx {0}, {1};",
    "cv": "ctrl @ sx {0}, {1};",
    "cy": "cy {0}, {1};",
    "cz": "cz {0}, {1};",
    "swap": "swap {0}, {1};",
    "iswap": "s {0}; s {1}; h {0}; cx {0}, {1}; cx {1}, {0}; h {1};",
    "pswap": "swap {0}, {1}; cx {0}, {1}; p(%a) {1}; cx {0}, {1};",
    "cphaseshift": "cp(%a) {0}, {1};",
    "cphaseshift00": "x {0}; x {1}; cp(%a) {0}, {1}; x {0}; x {1};",
    "cphaseshift01": "x {0}; cp(%a) {0}, {1}; x {0};",
    "cphaseshift10": "x {1}; cp(%a) {0}, {1}; x {1};",
    "xx": _XX,
    "yy": _YY,
    "zz": "cx {0}, {1}; rz(%a) {1}; cx {0}, {1};",
    "xy": f"{_XX} {_YY}".replace("%a", "-(%a)/2.0"),
    "ms": f"rz(-(%a)) {{0}}; rz(-(%b)) {{1}}; {_XX.replace('%a', '%c')} rz(%a) {{0}}; rz(%b) {{1}};",
    "ccnot": "ccx {0}, {1}, {2};",
    "cswap": "cswap {0}, {1}, {2};",
}
"""The exporter's gates in terms of "stdgates.inc", global phase included, so that each can be controlled; %a, %b and %c
are the parameters."""

_FIRST = {name: re.split(r"[ (]", body, maxsplit=1)[0] for name, body in BODIES.items()}
ALIASES = {
    name: _FIRST[name]
    for name, body in BODIES.items()
    if body.count(";") == 1 and "@" not in body and _FIRST[name] != name
}
"""Gates that only have another name there: cnot is cx."""
DEFINED = tuple(name for name in BODIES if name not in ALIASES and _FIRST[name] != name and name != "U")
"""Gates that are not there under any name."""
