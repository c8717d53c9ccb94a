"""Reports an execution to its caller as a stream of JSON lines. The last line is the outcome; its long texts follow as
they are, for a caller that takes them so."""

from __future__ import annotations

import base64
import json
from typing import Any

from starlette.types import Scope, Send

from ..job import KIB, Artifact, Asked, CircuitLeft, Completed, Failed, Lost, Outcome, PointsRun, Returned

ARTIFACT_CHUNK_BYTES = 1024 * 1024 // 4 * 3
"""A multiple of three, so that the pieces of base64 can be joined."""
APART_MIN = 64 * KIB
"""A text of so many characters is sent after its line. Within the line, 15 MiB hold the event loops of both sides for
0.1 s, while they are escaped here and parsed there."""
_PIECE_BYTES = 256 * KIB


def takes_texts_apart(scope: Scope) -> bool:
    """Whether the caller reads long texts after the line of the outcome."""
    return dict(scope["headers"]).get(b"x-executor-texts") == b"apart"


class Lines:
    """A response of JSON lines, each sent at once. `texts_apart`: the long texts of the outcome follow its line."""

    def __init__(self, send: Send, texts_apart: bool) -> None:
        self._send = send
        self._texts_apart = texts_apart
        self.opened = False

    async def open(self, value: dict[str, Any]) -> None:
        headers = [(b"content-type", b"application/x-ndjson"), (b"cache-control", b"no-store")]
        headers.append((b"x-accel-buffering", b"no"))
        self.opened = True
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self.line(value)

    async def line(self, value: dict[str, Any], more: bool = True) -> None:
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    async def artifact(self, artifact: Artifact) -> None:
        """Sends a file as base64, in lines of a bounded length."""
        starts = range(0, max(len(artifact.content), 1), ARTIFACT_CHUNK_BYTES)
        for start in starts:
            chunk = artifact.content[start : start + ARTIFACT_CHUNK_BYTES]
            await self.line(
                {
                    "artifact": {
                        "name": artifact.name,
                        "media_type": artifact.media_type,
                        "chunk": base64.b64encode(chunk).decode("ascii"),
                        "last": start == starts[-1],
                    }
                }
            )

    async def outcome(self, outcome: Outcome) -> None:
        """Ends the response."""
        value = outcome_json(outcome)
        texts = _taken_apart(value) if self._texts_apart else []
        await self.line({"outcome": value}, more=bool(texts))
        for number, text in enumerate(texts, 1):
            for start in range(0, len(text), _PIECE_BYTES):
                end = start + _PIECE_BYTES
                more = end < len(text) or number < len(texts)
                await self._send({"type": "http.response.body", "body": text[start:end], "more_body": more})


def _taken_apart(outcome: dict[str, Any]) -> list[bytes]:
    """The long texts of an outcome, in whose place it then says how many bytes follow, or that they are `result`'s."""
    texts: list[bytes] = []
    result = outcome.get("result")
    if isinstance(result, str) and len(result) >= APART_MIN and outcome.get("display") == result:
        outcome["display"] = {"same_as": "result"}
    points = [(point, "result") for point in outcome.get("points", [])]
    for holder, name in [(outcome, "result"), (outcome, "display"), *points]:
        text = holder.get(name)
        if isinstance(text, str) and len(text) >= APART_MIN:
            texts.append(text.encode("utf-8"))
            holder[name] = {"bytes": len(texts[-1])}
    return texts


def error_json(failed: Failed) -> dict[str, Any]:
    """A failure as callers see it."""
    error: dict[str, Any] = {"code": failed.code, "message": failed.message}
    if failed.line is not None:
        error["line"] = failed.line
    return error


def _result(point: Completed | CircuitLeft) -> str:
    assert isinstance(point, Completed)
    return point.result


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The last line of the stream."""
    if isinstance(outcome, Completed):
        return {"status": "completed", "execution_time_ms": outcome.execution_time_ms, "result": outcome.result}
    if isinstance(outcome, PointsRun):
        points = [
            {"error": error_json(one)} if isinstance(one, Failed) else {"result": _result(one)}
            for one in outcome.points
        ]
        printed = {"stdout": outcome.stdout} if outcome.stdout else {}
        return {"status": "completed", "execution_time_ms": outcome.execution_time_ms, "points": points, **printed}
    if isinstance(outcome, Returned):
        return {"status": "completed", **vars(outcome)}
    if isinstance(outcome, Asked):
        return {"status": "asked", **vars(outcome)}
    if isinstance(outcome, Failed):
        error = error_json(outcome)
        answer: dict[str, Any] = {
            "status": "failed",
            "execution_time_ms": outcome.execution_time_ms,
            "error": error,
        }
        if outcome.stdout:
            answer["stdout"] = outcome.stdout
        return answer
    assert isinstance(outcome, Lost)
    code = "executor_shut_down" if outcome.shut_down else "execution_service_lost"
    return {"status": "lost", "error": {"code": code, "message": outcome.message}}
