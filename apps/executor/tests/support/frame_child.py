"""Children that run jobs, spoken to in frames, without the shell and without a sandbox: only trusted code runs here.

A server process imports the packages once and forks a child for each job, as a zygote does.
"""

from __future__ import annotations

import gc
import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

from qjs_executor import frames
from qjs_executor.execution_request import ExecutionRequest, ScriptTerms

FOLDER = Path(__file__).resolve().parents[2]
NOW = 1_700_000_000.25


def job(
    code: str, *, framework: str = "marqov", params: dict[str, Any] | None = None, **script: Any
) -> ExecutionRequest:
    """A request to execute a script; `script` are its terms."""
    given = {"shots": 100, "backend": "aer-statevector", **(params or {})}
    asks = "ask" in (script.get("graphs"), script.get("circuits"))
    return ExecutionRequest(
        kind="run",
        source={"kind": "code", "framework": framework, "code": code},
        backend="aer-statevector",
        max_qubits=28,
        shots=given["shots"],
        seed=given.get("seed"),
        optimization_level=1,
        params=given,
        script=ScriptTerms(**{**({"seed": 7, "now": NOW} if asks else {}), **script}),
    )


class FrameChildren:
    """The server. One child runs at a time: `start` a request, `answer` its own requests; each returns the child's next
    message, {"exit": code} where it exited without one."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-B", "-m", "tests.support.frame_child"],
            cwd=FOLDER,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._to, self._from = self._server.stdin.fileno(), self._server.stdout.fileno()

    def start(self, request: ExecutionRequest, without: str | None = None) -> dict[str, Any]:
        """Executes a request up to the child's first message; `without`: a package that it does not find."""
        frames.send(self._to, frames.pack({"request": request.message(), "without": without}))
        return self._next()

    def answer(self, ask: dict[str, Any], **answer: Any) -> dict[str, Any]:
        """Answers a request: `values` of encoded results, `counts` or `error`."""
        frames.send(self._to, frames.pack({"answer": answered(ask, **answer)}))
        return self._next()

    def wait(self, seconds: float) -> None:
        """Has the child that waits for its answer wait for so long."""
        assert not select.select([self._from], [], [], seconds)[0]

    def drop(self) -> None:
        """Leaves a child that waits for its answer without one."""
        frames.send(self._to, frames.pack({"answer": None}))
        self._next()

    def _next(self) -> dict[str, Any]:
        message = frames.receive(self._from)
        assert message is not None, "the server ended"
        if "ask" not in message or message["ask"]["final"]:
            ended = message if "exit" in message else frames.receive(self._from)
            assert ended is not None
            assert "exit" in ended, ended
        return message

    def close(self) -> None:
        """Ends the server."""
        for stream in (self._server.stdin, self._server.stdout):
            assert stream is not None
            stream.close()
        self._server.wait(60)


def answered(ask: dict[str, Any], **answer: Any) -> dict[str, Any]:
    """An answer to a request, as the service remembers it."""
    reply: dict[str, Any] = {"digest": ask["digest"]}
    if "values" in answer:
        reply |= {"values": {key: json.dumps(value) for key, value in answer["values"].items()}, "metadata": None}
    if "counts" in answer:
        reply["counts"] = json.dumps(answer["counts"])
    return reply | ({"error": answer["error"]} if "error" in answer else {})


def _serve() -> None:
    from qjs_executor.child.main import answer
    from qjs_executor.library_generators import seed_all
    from qjs_executor.zygote.preload import preload

    gc.disable()
    preload("frameworks")
    gc.freeze()
    gc.enable()
    jobs, results = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while (message := frames.receive(jobs)) is not None:
        if "request" not in message:
            continue
        pid = os.fork()
        if pid == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            seed_all(os.urandom)
            if message["without"] is not None:
                sys.modules[message["without"]] = None  # type: ignore[assignment]
            answer(ExecutionRequest.parse(message["request"]), results, jobs)
        _, status = os.waitpid(pid, 0)
        frames.send(results, frames.pack({"exit": os.waitstatus_to_exitcode(status)}))
    os._exit(0)


if __name__ == "__main__":
    _serve()
