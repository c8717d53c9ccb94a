"""Programs that use what OpenQASM has beyond lists of gates, each with the plain circuit that it means, or with the
statement that is refused by name."""

from __future__ import annotations

from ..circuit import Circuit, circuit
from .table_families import ghz, measured

HEAD = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
Q3 = HEAD + "qubit[3] q;\nbit[3] c;\n"
READ = "c = measure q;\n"
GHZ = measured(ghz(3), [0, 1, 2])


def _measured(*steps: tuple[object, ...]) -> Circuit:
    return circuit(measured(list(steps), [0, 1, 2]))


MEANT: dict[str, tuple[str, Circuit]] = {
    "a loop over a range": (f"{Q3}h q[0];\nfor int i in [0:1] {{ cx q[i], q[i + 1]; }}\n{READ}", circuit(GHZ)),
    "a loop over a range with a step": (
        f"{Q3}for int i in [0:2:2] {{ x q[i]; }}\n{READ}",
        _measured(("x", 0), ("x", 2)),
    ),
    "a loop over a set": (
        f"{Q3}for int i in {{2, 1}} {{ rx(0.3 * i) q[i]; }}\n{READ}",
        _measured(("rx", 0.6, 2), ("rx", 0.3, 1)),
    ),
    "a loop in a loop": (
        f"{Q3}for int i in [0:1] {{ for int j in [0:1] {{ rx(0.2) q[i + j]; }} }}\n{READ}",
        _measured(("rx", 0.2, 0), ("rx", 0.4, 1), ("rx", 0.2, 2)),
    ),
    "a loop that reads nothing": (f"{Q3}for int i in [1:3] {{ sx q[0]; }}\n{READ}", _measured(("sx", 0), ("x", 0))),
    "a loop until a bit is set": (
        f"{Q3}x q[1];\nwhile (!c[0]) {{ x q[0]; c[0] = measure q[0]; }}\n{READ}",
        _measured(("x", 0), ("x", 1)),
    ),
    "a condition with an else": (
        f"{Q3}h q[0];\nc[0] = measure q[0];\nif (c[0]) {{ x q[1]; }} else {{ x q[2]; }}\n{READ}",
        circuit(
            [("h", 0), ("measure", 0, "c", 0), ("if", ("c", 0, 1), [("x", 1)], [("x", 2)]), *measured([], [0, 1, 2])]
        ),
    ),
    "a comparison of a register": (
        f"{Q3}x q[1];\nc[1] = measure q[1];\nif (c == 2) x q[2];\n{READ}",
        _measured(("x", 1), ("x", 2)),
    ),
    "a negated comparison of two bits": (
        f"{Q3}x q[0];\nc[0] = measure q[0];\nc[1] = measure q[1];\nif (c[0] != c[1]) x q[2];\n{READ}",
        _measured(("x", 0), ("x", 2)),
    ),
    "a switch over a register": (
        f"{Q3}x q[0];\nc[0] = measure q[0];\nswitch (c) {{ case 1 {{ x q[1]; }} case 0, 2 {{ x q[2]; }} default {{ h q[2]; }} }}\n{READ}",
        _measured(("x", 0), ("x", 1)),
    ),
    "a gate with parameters in an order of its own": (
        f"{HEAD}gate turn(z, a) p, b {{ rx(z) p; ry(a) b; cx p, b; }}\nqubit[3] q;\nbit[3] c;\nturn(0.4, 1.1) q[2], q[0];\n{READ}",
        _measured(("rx", 0.4, 2), ("ry", 1.1, 0), ("cx", 2, 0)),
    ),
    "a gate of gates": (
        f"{HEAD}gate one a {{ h a; t a; }}\ngate two a, b {{ one a; cx a, b; inv @ one b; }}\nqubit[3] q;\nbit[3] c;\ntwo q[1], q[0];\n{READ}",
        _measured(("h", 1), ("t", 1), ("cx", 1, 0), ("tdg", 0), ("h", 0)),
    ),
    "constants and arithmetic": (
        f"{HEAD}const int n = 3;\nconst float a = pi / 8;\nqubit[n] q;\nbit[n] c;\nrx(2 * a + 0.1) q[n - 1];\n{READ}",
        _measured(("rx", 0.7853981633974483 + 0.1, 2)),
    ),
    "a gate on a whole register": (
        f"{Q3}ry(0.8) q;\n{READ}",
        _measured(("ry", 0.8, 0), ("ry", 0.8, 1), ("ry", 0.8, 2)),
    ),
    "a gate between two registers": (
        f"{HEAD}qubit[2] a;\nqubit[2] b;\nbit[2] c;\nx a[1];\ncx a, b;\nc = measure b;\n",
        circuit([("x", 1), ("cx", 0, 2), ("cx", 1, 3), ("measure", 2, "c", 0), ("measure", 3, "c", 1)], qubits=(2, 2)),
    ),
    "an alias of a slice": (f"{Q3}let last = q[1:2];\nx last[0];\n{READ}", _measured(("x", 1))),
    "an alias of joined registers": (
        f"{HEAD}qubit a;\nqubit[2] b;\nbit[3] c;\nlet all = b ++ a;\n".replace("qubit a;", "qubit[1] a;")
        + "x all[2];\nc[0] = measure a[0];\nc[1] = measure b[0];\nc[2] = measure b[1];\n",
        circuit(measured([("x", 0)], [0, 1, 2]), qubits=(1, 2)),
    ),
    "a repeated control": (
        f"{Q3}x q[0];\nx q[1];\nctrl(2) @ x q[0], q[1], q[2];\n{READ}",
        _measured(("x", 0), ("x", 1), ("x", 2)),
    ),
    "a negative control of a phase": (
        f"{Q3}h q[0];\nnegctrl @ gphase(pi) q[0];\nh q[0];\n{READ}",
        _measured(("x", 0)),
    ),
    "single bits": (
        f"{HEAD}qubit[2] q;\nbit a;\nbit b;\nx q[1];\nb = measure q[1];\na = measure q[0];\n",
        circuit([("x", 1), ("measure", 1, "b", 0), ("measure", 0, "a", 0)], registers={"a": 1, "b": 1}),
    ),
    "a bit that is measured where it is declared": (
        f"{HEAD}qubit[2] q;\nx q[1];\nbit[2] c = measure q;\n",
        circuit([("x", 1), ("measure", 0, "c", 0), ("measure", 1, "c", 1)]),
    ),
    "barriers and comments": (
        f"{Q3}x q[0]; // x\nbarrier q[0], q[1];\n/* h q[1]; */\nbarrier q;\n{READ}",
        _measured(("x", 0)),
    ),
    "no measurement": (f"{HEAD}qubit[2] q;\nx q[1];\n", circuit([("id", 0), ("x", 1)])),
    "version 2: a gate on a register": (
        'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg a[2];\nqreg b[1];\ncreg c[3];\nx a;\ncx a[0],b[0];\n'
        "measure a[0]->c[0];\nmeasure a[1]->c[1];\nmeasure b[0]->c[2];\n",
        circuit(measured([("x", 0), ("x", 1), ("cx", 0, 2)], [0, 1, 2]), qubits=(2, 1)),
    ),
    "version 2: a gate with parameters": (
        'OPENQASM 2.0;\ninclude "qelib1.inc";\ngate turn(z,a) p,b { rx(z/2) p; u1(-a) b; cx p,b; }\nqreg q[2];\nh q[1];\n'
        "turn(0.8,1.1) q[0],q[1];\nh q[1];\n",
        circuit([("h", 1), ("rx", 0.4, 0), ("u1", -1.1, 1), ("cx", 0, 1), ("h", 1)]),
    ),
    "version 2: a condition on a register": (
        'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[2];\ncreg a[2];\ncreg b[1];\nx q[0];\nmeasure q[0]->a[1];\n'
        "if(a==2) x q[1];\nmeasure q[1]->b[0];\n",
        circuit([("x", 0), ("measure", 0, "a", 1), ("if", ("a", 2), [("x", 1)]), ("measure", 1, "b", 0)]),
    ),
    "version 2: a measured register and functions": (
        'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[2];\ncreg c[2];\nry(acos(0.0)+sin(0)) q[1];\nmeasure q->c;\n'.replace(
            "acos(0.0)", "pi/2*cos(0)"
        ),
        circuit(measured([("ry", 1.5707963267948966, 1)], [0, 1])),
    ),
}
"""A text, and the circuit that it means."""

REFUSED: dict[str, tuple[str, str]] = {
    "a subroutine": (f"{Q3}def flip(qubit a) {{ x a; }}\nflip(q[0]);\n{READ}", "'def'"),
    "an external function": (f"{HEAD}extern f(int) -> int;\nqubit q;\n", "'extern'"),
    "an input": (f"{HEAD}input float a;\nqubit q;\nrx(a) q;\n", "unbound parameters: a"),
    "a classical variable": (f"{Q3}int n = 0;\nn = n + 1;\n{READ}", "'int'"),
    "a shift": (f"{Q3}c[0] = measure q[0];\nif ((c << 1) == 2) x q[1];\n", "<<"),
    "a pulse": (f'{HEAD}defcalgrammar "openpulse";\nqubit q;\n', "defcalgrammar"),
    "an end": (f"{Q3}x q[0];\nend;\n", "'end'"),
    "a classical assignment": (f"{Q3}c[0] = 1;\n{READ}", "classical"),
}
"""A text, and a part of the refusal, which names the statement."""
