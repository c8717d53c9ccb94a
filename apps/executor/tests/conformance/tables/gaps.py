"""What a language of the table cannot express, by language and reason: a row that can be written leaves this list."""

from __future__ import annotations

GAPS: dict[tuple[str, str], list[str]] = {
    ("braket", "only gates, then measurements"): [
        "measured in the middle", "measured in the middle, entangled", "a register measured in the middle", "a register measured in parts",
        "a bit measured twice", "reset at the start", "reset in the middle", "reset of an entangled qubit", "measured and reset",
        "one qubit used three times", "if on a register of one bit", "if on zero", "if on a bit", "if on a bit being zero",
        "if on a register of two bits", "if on each value of a register", "if on a register of three bits", "if with several gates",
        "else on one bit", "else on a register", "nested if", "nested if and else", "measured under a condition", "reset under a condition",
        "teleportation", "correction of a flipped bit", "phase estimation with one counting qubit", "reset until zero, unrolled",
    ],
    **{(language, "bits that nothing measures"): ["bits that nothing writes"] for language in ("braket", "cirq", "pennylane")},
    ("cirq", "measurement under a condition"): ["measured under a condition"],
    ("cirq", "register measured in parts"): ["a register measured in parts"],
    ("cirq", "register measured twice"): ["a bit measured twice"],
    ("marqov", "gate CX"): ["cx both ways"],
    ("marqov", "gate U"): ["built-in u"],
    ("marqov", "gate c3sqrtx"): ["root of c3x"],
    ("marqov", "gate c3x"): ["c3x"],
    ("marqov", "gate c4x"): ["c4x"],
    ("marqov", "gate ccx"): ["ccx", "grover of 3", "adder"],
    ("marqov", "gate ccz"): ["ccz"],
    ("marqov", "gate ch"): ["ch"],
    ("marqov", "gate cp"): [
        "controlled phases", "fourier of 3", "fourier of 4", "fourier of 5", "fourier there and back", "phase estimation of 3/8",
        "phase estimation of a third",
    ],
    ("marqov", "gate crx"): ["crx"],
    ("marqov", "gate cry"): ["cry"],
    ("marqov", "gate crz"): ["crz"],
    ("marqov", "gate cs"): ["cs and csdg"],
    ("marqov", "gate cswap"): ["cswap", "swap test"],
    ("marqov", "gate csx"): ["csx"],
    ("marqov", "gate cu"): ["cu"],
    ("marqov", "gate cu3"): ["cu3"],
    ("marqov", "gate cy"): ["cy"],
    ("marqov", "gate dcx"): ["dcx"],
    ("marqov", "gate ecr"): ["ecr"],
    ("marqov", "gate gphase"): ["phase of everything"],
    ("marqov", "gate id"): [
        "paulis", "hadamards", "cz", "x on the first of 4",
    ],
    ("marqov", "gate iswap"): ["iswap"],
    ("marqov", "gate p"): ["phases by angle", "angles beyond a turn", "angles next to fractions of pi"],
    ("marqov", "gate rc3x"): ["rc3x"],
    ("marqov", "gate rccx"): ["rccx"],
    ("marqov", "gate rxx"): ["rxx", "heisenberg chain"],
    ("marqov", "gate ryy"): ["ryy"],
    ("marqov", "gate rzx"): ["rzx"],
    ("marqov", "gate rzz"): ["rzz"],
    ("marqov", "gate sdg"): ["phase gates", "random clifford 1", "random clifford 2"],
    ("marqov", "gate sx"): ["roots of x", "random clifford 0", "random clifford 3"],
    ("marqov", "gate u2"): ["u2 and u3"],
    ("marqov", "gate u3"): [
        "random dense 0", "random dense 1", "random dense 2", "random dense 3", "random dense of 6",
    ],
    ("marqov", "gate xx_minus_yy"): ["xx minus yy"],
    ("marqov", "gate xx_plus_yy"): ["xx plus yy"],
    ("marqov", "measurement"): [
        "all measured", "all measured the other way round", "all measured in a circle", "two of three measured", "one of three measured",
        "bits that nothing writes", "two registers", "three registers of one bit", "registers in an order not of the alphabet",
        "two quantum registers", "three quantum registers, two classical", "one register measured, one not",
    ],
    ("marqov", "modifiers"): [
        "ctrl x", "ctrl rotations", "ctrl phases", "ctrl h", "ctrl swap", "ctrl gphase", "ctrl of a controlled gate", "ctrl of a custom gate",
        "two ctrls", "three ctrls", "negctrl x", "negctrl rotation", "negctrl then ctrl", "ctrl then negctrl", "negctrl of a controlled gate", "inv",
        "inv of rotations", "inv of two-qubit gates", "inv of a custom gate", "inv ctrl", "pow of whole numbers", "pow of roots", "pow of rotations",
        "pow of two-qubit gates", "negative roots", "ctrl pow", "pow of a ctrl rotation", "ctrl negctrl inv pow",
    ],
    ("marqov", "only gates, then measurements"): [
        "measured in the middle", "measured in the middle, entangled", "a register measured in the middle", "a register measured in parts",
        "a bit measured twice", "reset at the start", "reset in the middle", "reset of an entangled qubit", "measured and reset",
        "one qubit used three times", "if on a register of one bit", "if on zero", "if on a bit", "if on a bit being zero",
        "if on a register of two bits", "if on each value of a register", "if on a register of three bits", "if with several gates",
        "else on one bit", "else on a register", "nested if", "nested if and else", "measured under a condition", "reset under a condition",
        "teleportation", "correction of a flipped bit", "phase estimation with one counting qubit", "reset until zero, unrolled",
    ],
    ("openqasm2", "condition on one bit of a register"): ["if on a bit", "if on a bit being zero"],
    ("openqasm2", "gphase"): ["phase of everything"],
    ("openqasm2", "modifiers"): [
        "ctrl x", "ctrl rotations", "ctrl phases", "ctrl h", "ctrl swap", "ctrl gphase", "ctrl of a controlled gate", "ctrl of a custom gate",
        "two ctrls", "three ctrls", "negctrl x", "negctrl rotation", "negctrl then ctrl", "ctrl then negctrl", "negctrl of a controlled gate", "inv",
        "inv of rotations", "inv of two-qubit gates", "inv of a custom gate", "inv ctrl", "pow of whole numbers", "pow of roots", "pow of rotations",
        "pow of two-qubit gates", "negative roots", "ctrl pow", "pow of a ctrl rotation", "ctrl negctrl inv pow",
    ],
    ("openqasm2", "nested conditions"): ["nested if", "nested if and else"],
    ("pennylane", "measurement under a condition"): ["measured under a condition"],
    ("pennylane", "reset under a condition"): ["reset under a condition"],
}  # fmt: skip


def gap(language: str, name: str) -> str | None:
    """Why a language cannot express a row, or None."""
    return next((reason for (of, reason), names in GAPS.items() if of == language and name in names), None)
