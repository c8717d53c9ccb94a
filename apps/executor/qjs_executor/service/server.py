"""The HTTP side: /health, /metrics, /run, and the questions about a source. It authenticates, parses requests and
streams outcomes; it runs no user code."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import platform
import secrets
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .. import __version__
from ..job import (
    OUTCOME_NAMES,
    Completed,
    Failed,
    Job,
    Limits,
    Lost,
    NotParked,
    Outcome,
    QuestionAnswer,
    Sandbox,
    SandboxBusy,
    SandboxFault,
    WrongAnswer,
)
from ..logs import facts, log
from ..printed_text import PrintedText
from ..protocol.versions import ENGINE_VERSION, FRAMEWORKS, PROTOCOL
from .engines import Engines
from .exchange import BODY_BYTES_MAX, TooLarge, error_response, not_taken, read_request, while_connected
from .execute import execute_job
from .followed_run import follow
from .lanes import Lanes, Slot
from .lines import Lines, error_json, takes_texts_apart
from .metrics import CONTENT_TYPE, Metrics
from .question import (
    Parse,
    parse_analyse_request,
    parse_capture_request,
    parse_compile_request,
    parse_convert_request,
)
from .request_fields import InvalidRequest
from .reservations import Present, Reservations, ReserveSlot
from .run_request import parse_run_request
from .script_request import BODY_BYTES_MAX as SCRIPT_BODY_BYTES_MAX

_NOTHING_HELD: AbstractContextManager[Job | None] = nullcontext()
RESERVED_BODY_SECONDS = 60
"""How long the body may take of a request that holds a slot already."""


def build_app(
    sandbox: Sandbox, lanes: Lanes, limits: Limits, token: str, pid: int, engines: tuple[str, ...]
) -> ASGIApp:
    """Builds the application over one sandbox, whose slots `lanes` shares out. Every route requires the bearer token.
    `pid`: the executor's first process, with which all of it stops. `engines`: those that it may offer."""
    metrics = Metrics(sandbox, lanes)
    present = Present(secrets.token_hex(8), Engines(sandbox, engines))
    reservations = Reservations(lanes)
    part = _Part(sandbox, lanes, limits, metrics, reservations)
    reserve = ReserveSlot(sandbox, reservations, present)
    routes = [
        Route("/health", _Health(sandbox, lanes, pid, present), methods=["GET"]),
        Route("/metrics", _Metrics(metrics), methods=["GET"]),
        Route("/reservations", reserve, methods=["POST"]),
        Route("/reservations/{id}", reserve, methods=["DELETE"]),
        Route("/run", _Run(part, present), methods=["POST"]),
        *(
            Route(path, _Question(part, parse), methods=["POST"])
            for path, parse in (
                ("/convert", parse_convert_request),
                ("/compile", parse_compile_request),
                ("/analyse", parse_analyse_request),
                ("/capture", parse_capture_request),
            )
        ),
    ]
    handlers = {404: _plain_error, 405: _plain_error}
    return _Bearer(_Protocol(Starlette(routes=routes, exception_handlers=handlers)), token)


async def _plain_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    return error_response(status, "not_found", f"{request.method} {request.url.path}: no such route")


class _Bearer:
    """Admits a request whose bearer token is ours, compared in constant time over digests."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._digest = hashlib.sha256(token.encode()).digest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            header = dict(scope["headers"]).get(b"authorization", b"")
            scheme, _, token = header.partition(b" ")
            matches = hmac.compare_digest(hashlib.sha256(token).digest(), self._digest)
            if scheme.lower() != b"bearer" or not matches:
                await error_response(401, "unauthorized", "Unauthorized")(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Protocol:
    """Refuses a request of a caller that speaks another protocol, before anything of it is read. One that names none
    is taken for a person."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            spoken = dict(scope["headers"]).get(b"x-executor-protocol", str(PROTOCOL).encode())
            if spoken != str(PROTOCOL).encode():
                message = f"this executor speaks protocol {PROTOCOL}, the caller {spoken[:20].decode('latin-1')!r}"
                await error_response(409, "protocol_mismatch", message)(scope, receive, send)
                return
        await self._app(scope, receive, send)


@dataclass(frozen=True)
class _Part:
    """What every execution of this executor goes through."""

    sandbox: Sandbox
    lanes: Lanes
    limits: Limits
    metrics: Metrics
    reservations: Reservations


class _Health:
    def __init__(self, sandbox: Sandbox, lanes: Lanes, pid: int, present: Present) -> None:
        self._sandbox = sandbox
        self._lanes = lanes
        self._pid = pid
        self._present = present

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        engines = await self._present.engines.names()
        present = self._sandbox.facts()
        body = {
            "status": present.status,
            "version": __version__,
            "protocol": PROTOCOL,
            "instance_id": self._present.instance_id,
            "pid": self._pid,
            "python": platform.python_version(),
            "sandbox": {
                "level": present.level,
                "isolation": present.isolation,
                "note": present.note,
                "problem": present.problem,
                "warning": present.warning,
                "selftest": present.selftest,
                "cgroup": present.cgroup,
                "landlock_abi": present.landlock_abi,
                "seccomp": present.seccomp,
                "zygotes": present.zygotes,
            },
            "slots": {"total": self._lanes.job_slots, "running": self._lanes.jobs_running, "parked": present.parked},
            "lanes": {
                "jobs": {"waiting": self._lanes.jobs_waiting},
                "interactive": {"running": self._lanes.interactive_running, "waiting": self._lanes.waiting},
            },
            "engines": [{"name": name, "version": ENGINE_VERSION} for name in engines],
            "frameworks": FRAMEWORKS,
        }
        await JSONResponse(body)(scope, receive, send)


class _Metrics:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Response(self._metrics.text(), headers={"content-type": CONTENT_TYPE})(scope, receive, send)


class _Run:
    """POST /run. Written against the bare protocol, because a caller's hang-up has to kill the execution at once."""

    def __init__(self, part: _Part, present: Present) -> None:
        self._part = part
        self._present = present

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _answer_job(
            scope,
            receive,
            send,
            parse_run_request,
            self._part,
            lambda job, limits, slot: self._run(job, limits, slot, Lines(send, takes_texts_apart(scope))),
            SCRIPT_BODY_BYTES_MAX,
        )

    async def _run(self, job: Job, limits: Limits, slot: Slot, lines: Lines) -> Response | None:
        """Streams the execution; returns an error response instead when nothing was started."""
        if missing := await self._present.refusal(job.engine):
            return missing
        printed = PrintedText()
        taken: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        run = asyncio.create_task(_in_slot(self._part, slot, job, limits, taken.set_result, printed))
        acceptance = asyncio.create_task(asyncio.wait([taken]))
        try:
            await asyncio.wait([run, acceptance], return_when=asyncio.FIRST_COMPLETED)
            if taken.done():
                named = {"run_id": job.run_id, "framework": taken.result(), "executor": self._present.instance_id}
                await lines.open({"accepted": named})
                await follow(run, printed, lines)
            outcome = run.result()
            if isinstance(outcome, Completed):
                for artifact in outcome.artifacts:
                    await lines.artifact(artifact)
            await lines.outcome(outcome)
            log.info("run ended", extra=facts(**job.named, outcome=OUTCOME_NAMES[type(outcome)]))
            return None
        except NotParked as error:
            return error_response(409, "not_parked", str(error))
        except WrongAnswer as error:
            return error_response(400, "validation_error", str(error))
        except (SandboxBusy, SandboxFault) as error:
            if lines.opened:
                await lines.outcome(Lost(f"no child took the circuit: {error}"))
                return None
            return not_taken(error, job.named)
        finally:
            for task in (run, acceptance):
                task.cancel()
            await asyncio.gather(run, acceptance, return_exceptions=True)


class _Question:
    """A question about a source, answered with one JSON object: it gives no counts."""

    def __init__(self, part: _Part, parse: Parse) -> None:
        self._part = part
        self._parse = parse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _answer_job(scope, receive, send, self._parse, self._part, self._answer)

    async def _answer(self, job: Job, limits: Limits, slot: Slot) -> Response:
        try:
            outcome = await _in_slot(self._part, slot, job, limits, lambda _: None)
        except (SandboxBusy, SandboxFault) as error:
            return not_taken(error, job.named)
        if isinstance(outcome, QuestionAnswer):
            return JSONResponse(outcome.fields)
        if isinstance(outcome, Failed):
            return JSONResponse({"error": error_json(outcome)}, status_code=422)
        return error_response(503, "execution_service_lost", getattr(outcome, "message", "the answer was lost"))


async def _answer_job(
    scope: Scope,
    receive: Receive,
    send: Send,
    parse: Parse,
    part: _Part,
    work: Callable[[Job, Limits, Slot], Coroutine[Any, Any, Response | None]],
    bytes_max: int = BODY_BYTES_MAX,
) -> None:
    """Reads a request, does its work while the caller stays connected, and sends the remaining response, if any."""
    reserved = part.reservations.claim(scope)
    try:
        body = await _body(scope, receive, bytes_max, RESERVED_BODY_SECONDS if reserved else None)
        job, limits, lane = parse(body, part.limits)
        if reserved and reserved.lane != lane:
            raise InvalidRequest("keys: must be those of the reservation")
        answer = await while_connected(work(job, limits, reserved or Slot(part.lanes, lane)), receive, job.named)
    except TooLarge as error:
        answer = error_response(413, "validation_error", f"body: larger than {error} bytes")
    except InvalidRequest as error:
        answer = error_response(400, "validation_error", str(error))
    except SandboxBusy as error:
        answer = not_taken(error, {})
    finally:
        if reserved:
            reserved.leave()
    if answer is not None:
        await answer(scope, receive, send)


async def _body(scope: Scope, receive: Receive, bytes_max: int, seconds: float | None) -> dict[str, Any]:
    """The body of a request. Raises SandboxBusy when it takes longer than these seconds: a caller that holds a slot
    must not keep it by sending slowly."""
    try:
        async with asyncio.timeout(seconds):
            return await read_request(scope, receive, bytes_max)
    except TimeoutError:
        raise SandboxBusy from None


async def _in_slot(
    part: _Part,
    slot: Slot,
    job: Job,
    limits: Limits,
    accepted: Callable[[str], None],
    printed: PrintedText | None = None,
) -> Outcome:
    """Executes a job in a slot of its lane; a job of two children holds one slot for both. A resumed job is the
    original job with the new fields for its script."""
    begun = part.sandbox.hold(job.script.resume) if job.script.resume else _NOTHING_HELD
    with part.metrics.run(job, slot.lane) as measured, begun as parked:
        try:
            await slot.take(resumed=parked is not None)
            whole = _resumed(parked, job) if parked else job
            measured.outcome = await execute_job(part.sandbox, whole, limits, accepted, printed)
        finally:
            slot.leave()
        return measured.outcome


def _resumed(parked: Job, job: Job) -> Job:
    new = job.script
    script = replace(
        parked.script,
        answers=new.answers,
        resume=new.resume,
        workflow_metadata=new.workflow_metadata,
        task_shots=new.task_shots,
    )
    return replace(parked, script=script)
