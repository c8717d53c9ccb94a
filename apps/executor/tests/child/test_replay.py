"""A script that is run again from its start sees and draws what it saw and drew before."""

from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from ..support.frame_child import NOW, FrameChildren, job

HEAD = (
    "import random, os, secrets, uuid, time, datetime, math\nimport numpy as np\n"
    "from qiskit import QuantumCircuit, transpile\n"
)
H3 = "c = QuantumCircuit(3)\nc.h(range(3))\nc.measure_all()\n"
SOURCES = {
    "random": "random.random()",
    "random after a seed of nothing": "(random.seed(), random.random())",
    "a generator of its own": "random.Random().random()",
    "system random": "random.SystemRandom().random()",
    "numpy": "np.random.rand(3)",
    "numpy after a seed of nothing": "(np.random.seed(), np.random.rand())",
    "numpy generator": "np.random.default_rng().random()",
    "numpy random state": "np.random.RandomState().rand()",
    "urandom": "os.urandom(16)",
    "secrets": "(secrets.token_hex(8), secrets.randbelow(10**9), secrets.choice(range(10**9)))",
    "uuid4": "uuid.uuid4()",
    "uuid1": "uuid.uuid1()",
    "time": "(time.time(), time.time_ns())",
    "now": "(datetime.datetime.now(), datetime.datetime.now(datetime.timezone.utc), datetime.datetime.today())",
    "utcnow": "datetime.datetime.utcnow()",
    "today": "datetime.date.today()",
    "a date of its own class": "type('D', (datetime.datetime,), {}).now()",
    "calendar functions": "(time.ctime(), time.asctime(), time.strftime('%H:%M:%S'), time.localtime(), time.gmtime())",
    "time after sleep": "(time.sleep(0.05), time.time())",
    "order of a set of texts": "list({'a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff'})",
    "hash of a text": "hash('text')",
    "device": "device.run(QuantumCircuit.from_qasm_str('OPENQASM 2.0;include \"qelib1.inc\";qreg q[3];h q;'), 64)",
    "simulator of its own": "AerSimulator().run(c, shots=64).result().get_counts()",
    "sampler of qiskit": "StatevectorSampler().run([c], shots=64).result()[0].data.meas.get_counts()",
    "sampler of aer": "SamplerV2().run([c], shots=64).result()[0].data.meas.get_counts()",
    "transpilation": "str(transpile(dense(), coupling_map=CouplingMap.from_line(6), basis_gates=['cx', 'u3']).draw())",
    "unitary of qiskit": "random_unitary(2).data.tolist()",
    "number of sympy": "sympy.core.random.random()",
    "cirq": "cirq.Simulator().run(cirq.Circuit(cirq.H(cirq.q(0)), cirq.measure(cirq.q(0), key='m')), repetitions=64).measurements['m'].tolist()",
    "pennylane": "sampled()",
    "braket": "LocalSimulator().run(BraketCircuit().h(0), shots=64).result().measurements.tolist()",
}  # fmt: skip
IMPORTS = {
    "AerSimulator": "from qiskit_aer import AerSimulator\n",
    "random_unitary": "from qiskit.quantum_info import random_unitary\n",
    "sympy": "import sympy.core.random\n",
    "StatevectorSampler": "from qiskit.primitives import StatevectorSampler\n",
    "SamplerV2": "from qiskit_aer.primitives import SamplerV2\n",
    "cirq": "import cirq\n",
    "CouplingMap": (
        "from qiskit.transpiler import CouplingMap\ndef dense():\n    c = QuantumCircuit(6)\n"
        "    for i in range(6):\n        for j in range(i): c.cx(j, i)\n    return c\n"
    ),
    "sampled": (
        "import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=1), shots=64)\ndef sampled():\n"
        "    qml.Hadamard(0)\n    return qml.sample()\n"
    ),
    "LocalSimulator": "from braket.devices import LocalSimulator\nfrom braket.circuits import Circuit as BraketCircuit\n",
}
FIXED_BY_NOW = ("time", "now", "utcnow", "today", "a date of its own class", "calendar functions", "time after sleep")
FIXED_ALWAYS = ("order of a set of texts", "hash of a text")


@pytest.fixture(scope="module")
def others() -> Iterator[FrameChildren]:
    """Children of another server: other addresses, other states that packages began with."""
    started = FrameChildren()
    yield started
    started.close()


def script(source: str) -> str:
    """A `main` that returns what a source gives, as text."""
    imports = "".join(text for name, text in IMPORTS.items() if name in source)
    return f"{HEAD}{imports}{H3}def main(): return [repr({source}), repr({source})]\n"


def said(children: FrameChildren, source: str, **terms: Any) -> list[str]:
    """What a source gave, twice in one run."""
    reply = children.start(job(script(source), framework="qiskit", **terms))
    assert "value" in reply, reply
    value: list[str] = reply["value"]
    return value


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_script_draws_and_sees_is_the_same_when_it_is_run_again(
    children: FrameChildren, others: FrameChildren, name: str
) -> None:
    source = SOURCES[name]
    first = said(children, source, graphs="ask")
    assert said(others, source, graphs="ask") == first
    if name in FIXED_ALWAYS:
        return
    other = said(children, source, graphs="ask", **({"now": NOW + 90_000} if name in FIXED_BY_NOW else {"seed": 8}))
    assert other != first
    if name not in ("today", "calendar functions", "transpilation"):
        assert first[0] != first[1]


@pytest.mark.parametrize(
    "name", ["random", "numpy", "urandom", "uuid4", "device", "time", "unitary of qiskit", "number of sympy"]
)
def test_without_a_seed_runs_draw_freely(children: FrameChildren, name: str) -> None:
    assert said(children, SOURCES[name]) != said(children, SOURCES[name])


def test_the_jobs_own_seed_takes_precedence_over_the_scripts(children: FrameChildren) -> None:
    reply = [
        children.start(
            job(
                script(SOURCES["device"]).replace("main()", "main(seed)"),
                framework="qiskit",
                params={"seed": 3},
                graphs="ask",
                seed=seed,
            )
        )
        for seed in (7, 8)
    ]
    assert reply[0]["value"] == reply[1]["value"]


def test_the_clock_begins_with_the_job_and_advances_by_what_is_slept(children: FrameChildren) -> None:
    first, second = said(children, "(time.time(), time.sleep(0.5))", graphs="ask")
    assert 0 < float(first.split(",")[0][1:]) - NOW < 0.001
    assert 0.5 < float(second.split(",")[0][1:]) - NOW < 0.501
    now = said(children, "datetime.datetime.now(datetime.timezone.utc)", graphs="ask")[0]
    assert abs(eval(now, {"datetime": __import__("datetime")}) - datetime.fromtimestamp(NOW, UTC)).total_seconds() < 1


def test_clocks_that_only_measure_keep_running(children: FrameChildren) -> None:
    code = "import time\ndef main():\n    a = time.perf_counter(), time.monotonic()\n    time.sleep(0.05)\n    return [time.perf_counter() - a[0], time.monotonic() - a[1]]\n"  # fmt: skip
    reply = children.start(job(code, framework="qiskit", graphs="ask"))
    assert all(0.05 <= seconds < 600 for seconds in reply["value"])


def test_dates_keep_their_class_and_can_be_pickled(children: FrameChildren) -> None:
    code = (
        "import datetime, pickle, copy\ndef main():\n    n = datetime.datetime.now()\n"
        "    return [type(n) is datetime.datetime, pickle.loads(pickle.dumps(n)) == n, copy.deepcopy(n) == n,\n"
        "            isinstance(n, datetime.date), n.year, datetime.datetime.now(tz=datetime.timezone.utc).tzname()]\n"
    )
    reply = children.start(job(code, framework="qiskit", graphs="ask"))
    assert reply["value"] == [True, True, True, True, 2023, "UTC"]


@pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")
def test_a_repeated_script_draws_the_same_requests(children: FrameChildren) -> None:
    code = (
        "from marqov import task, workflow\nimport random, time, uuid\n@task\ndef f(*a): return a\n"
        "@workflow\ndef wf(*a): return f(*a)\n"
        "async def main(client, params):\n    for _ in range(2):\n"
        "        await wf(random.random(), time.time(), str(uuid.uuid4()), sorted({'a', 'b'})).run(client)\n"
    )
    first = children.start(job(code, graphs="ask"))["ask"]
    second = children.answer(first, values={"task_0001": None})["ask"]
    children.drop()
    again = children.start(job(code, graphs="ask"))["ask"]
    assert again["digest"] == first["digest"]
    assert children.answer(again, values={"task_0001": None})["ask"]["digest"] == second["digest"] != first["digest"]
    children.drop()
    assert json.loads(first["graph"]["nodes"][0]["arguments"])["args"][1] == pytest.approx(NOW, abs=0.001)


IMPORTED = (
    "from marqov import task, workflow\nfrom time import time, sleep, time_ns, localtime, strftime\n"
    "from os import urandom\nfrom uuid import uuid1, uuid4\nfrom datetime import datetime\nfrom random import random, gauss\n"
    "from numpy.random import rand\nfrom secrets import token_hex\nimport numpy as np\nnow = datetime.now\n"
    "@task\ndef f():\n    sleep(0)\n"
    "    clock = [time(), time_ns(), now().timestamp(), localtime()[0], strftime('%Y')]\n"
    "    drawn = [random(), gauss(0, 1), float(rand()), urandom(4).hex(), str(uuid1()), str(uuid4()), token_hex(4)]\n"
    "    return [clock, drawn]\n@workflow\ndef wf(): return [f(), f()]\n"
)


@pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")
@pytest.mark.parametrize("asks", [True, False])
def test_a_task_draws_from_its_own_child_what_its_script_has_imported_by_name(
    children: FrameChildren, asks: bool
) -> None:
    reply = children.start(job(IMPORTED, graphs="ask"))["ask"]["graph"]["nodes"]
    if not asks:
        reply = capture_of(children, IMPORTED)
    task = {"name": "f", "function": reply[0]["function"], "arguments": '{"args": [], "kwargs": {}}', "values": {}}
    free = [json.loads(children.start(job(IMPORTED, task=task))["result"]) for _ in range(2)]
    assert all(abs(seen - datetime.now(UTC).timestamp()) < 60 for seen in (free[0][0][0], free[0][0][2]))
    assert all(one != other for one, other in zip(free[0][1], free[1][1], strict=True))
    seeded = [
        json.loads(children.start(job(IMPORTED, task=task, circuits="ask", seed=seed))["result"]) for seed in (1, 1, 2)
    ]
    assert seeded[0] == seeded[1]
    assert all(one != other for one, other in zip(seeded[0][1], seeded[2][1], strict=True))
    assert abs(seeded[0][0][0] - NOW) < 1
    assert abs(seeded[0][0][2] - NOW) < 1


def capture_of(children: FrameChildren, code: str) -> list[dict[str, Any]]:
    """The nodes that a question for a script's graph shows."""
    request = replace(job(code), kind="capture", details={"entrypoint": None, "arguments": None})
    nodes: list[dict[str, Any]] = children.start(request)["nodes"]
    return nodes


@pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")
def test_tasks_that_run_here_draw_one_after_another(children: FrameChildren) -> None:
    value = children.start(job(IMPORTED))["value"]
    assert all(one != other for one, other in zip(value[0][1], value[1][1], strict=True))


@pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")
def test_a_generator_of_the_scripts_own_reaches_a_task_with_its_state(children: FrameChildren) -> None:
    code = (
        "from marqov import task, workflow\nimport random, numpy as np\nr, n = random.Random(5), np.random.RandomState(5)\n"
        "@task\ndef f(): return [r.random(), n.rand()]\n@workflow\ndef wf(): return f()\n"
    )
    expected = [random.Random(5).random(), np.random.RandomState(5).rand()]
    assert children.start(job(code))["value"] == expected
