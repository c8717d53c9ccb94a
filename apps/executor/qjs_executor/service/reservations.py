"""Slots that callers reserve before they send a body, which can have many MiB: a caller that finds none has sent a few
bytes. A caller waits for its slot here, in turn with all other callers, so that several of them never send more than
there are slots."""

from __future__ import annotations

import asyncio
import re
import secrets
from dataclasses import dataclass
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from ..job import NotParked, Sandbox, SandboxBusy, SandboxDraining, SandboxFault, SandboxInsecure
from .engines import Engines
from .exchange import TooLarge, error_response, not_taken, read_request, while_connected
from .lanes import Lanes, Slot
from .request_fields import InvalidRequest, number_of, text_of
from .run_request import KEY_MAX, lane_of

HELD_SECONDS = 10.0
"""A reserved slot that no request has used by then is free again."""
WAIT_SECONDS_MAX = 10.0
BODY_BYTES_MAX = 4096
RUN_ID_MAX = 100
HEADER = b"x-reservation"
GIVEN_UP_MAX = 4096
"""So many ids of reservations that were given back before they were granted are remembered, the latest ones."""
_NAME = re.compile(r"[0-9A-Za-z-]{16,64}")


@dataclass(frozen=True)
class Present:
    """What this process of an executor is: no other one, not even its successor at the same address, has its id."""

    instance_id: str
    engines: Engines

    async def refusal(self, engine: str) -> Response | None:
        """The refusal of work for an engine that this executor does not have."""
        if await self.engines.has(engine):
            return None
        return error_response(409, "engine_missing", f"engine: this executor does not have '{engine}'")


class Reservations:
    """The slots that are reserved and not used yet. All methods belong to one event loop."""

    def __init__(self, lanes: Lanes, held_seconds: float = HELD_SECONDS) -> None:
        self.lanes = lanes
        self.held_seconds = held_seconds
        self._held: dict[str, tuple[Slot, asyncio.TimerHandle]] = {}
        self._given_up: dict[str, None] = {}

    def hold(self, slot: Slot, reservation: str) -> bool:
        """Keeps a taken slot for the request that will name this id. False when the id was given back already: its
        caller has gone while it waited."""
        if reservation in self._given_up:
            return False
        expiry = asyncio.get_running_loop().call_later(self.held_seconds, self.release, reservation)
        self._held[reservation] = (slot, expiry)
        return True

    def is_held(self, reservation: str) -> bool:
        """Whether a slot is kept for this id."""
        return reservation in self._held

    def release(self, reservation: str) -> None:
        """Frees the slot of a reservation that is held; one that is not granted yet will not be."""
        slot = self._taken(reservation)
        if slot is not None:
            slot.leave()
        elif _NAME.fullmatch(reservation):
            self._given_up[reservation] = None
            if len(self._given_up) > GIVEN_UP_MAX:
                del self._given_up[next(iter(self._given_up))]

    def claim(self, scope: Scope) -> Slot | None:
        """The slot of the reservation that a request names, which is its own from now on. None for a request that
        names none, or one that has expired: it takes a slot in its turn."""
        return self._taken(dict(scope["headers"]).get(HEADER, b"").decode("latin-1"))

    def _taken(self, reservation: str) -> Slot | None:
        slot, expiry = self._held.pop(reservation, (None, None))
        if expiry is not None:
            expiry.cancel()
        return slot


class ReserveSlot:
    """POST /reservations, and DELETE of one that is not needed."""

    def __init__(self, sandbox: Sandbox, reservations: Reservations, present: Present) -> None:
        self._sandbox = sandbox
        self._reservations = reservations
        self._present = present

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "DELETE":
            self._reservations.release(scope["path_params"]["id"])
            await Response(status_code=204)(scope, receive, send)
            return
        answer: Response | None
        try:
            request = await read_request(scope, receive, BODY_BYTES_MAX)
            answer = await while_connected(self._reserve(request, self._name(scope)), receive, {})
        except TooLarge as error:
            answer = error_response(413, "validation_error", f"body: larger than {error} bytes")
        except InvalidRequest as error:
            answer = error_response(400, "validation_error", str(error))
        if answer is not None:
            await answer(scope, receive, send)

    def _name(self, scope: Scope) -> str:
        """The caller's own id for the reservation, by which it can give up one that it does not know to be granted."""
        name: str = dict(scope["headers"]).get(HEADER, b"").decode("latin-1")
        if not name:
            return secrets.token_hex(8)
        if not _NAME.fullmatch(name) or self._reservations.is_held(name):
            raise InvalidRequest("x-reservation: must be a new id of 16 to 64 letters, digits and hyphens")
        return name

    async def _reserve(self, request: dict[str, Any], reservation: str) -> Response:
        lane = lane_of(request)
        if lane.name != "jobs" or not lane.team:
            raise InvalidRequest("keys.team: must be a text of 1 to 100 characters, in the lane of jobs")
        engine = request.get("engine")
        if engine is not None and (missing := await self._present.refusal(text_of(engine, "engine", KEY_MAX))):
            return missing
        resume = request.get("resume")
        run_id = None if resume is None else text_of(resume, "resume", RUN_ID_MAX)
        seconds = number_of(request.get("wait_seconds", WAIT_SECONDS_MAX), "wait_seconds", 0, WAIT_SECONDS_MAX)
        slot = Slot(self._reservations.lanes, lane)
        try:
            self._check()
            await self._take(slot, run_id, seconds)
            self._check()
        except (SandboxBusy, SandboxFault) as error:
            slot.leave()
            return not_taken(error, {"team_id": lane.team})
        except BaseException:
            slot.leave()
            raise
        if not self._reservations.hold(slot, reservation):
            slot.leave()
            return not_taken(SandboxBusy(), {"team_id": lane.team})
        return JSONResponse({"id": reservation, "held_seconds": self._reservations.held_seconds})

    async def _take(self, slot: Slot, run_id: str | None, seconds: float) -> None:
        """An execution that waits here for an answer goes before new ones, and does not expire before it."""
        try:
            if run_id is not None:
                with self._sandbox.hold(run_id):
                    await slot.take(resumed=True, reserves=seconds)
                return
        except NotParked:
            pass
        await slot.take(reserves=seconds)

    def _check(self) -> None:
        """Raises SandboxDraining and SandboxInsecure where no execution is taken."""
        present = self._sandbox.facts()
        if present.draining:
            raise SandboxDraining
        if present.isolation == "none":
            raise SandboxInsecure(present.problem or "the executor is not ready")
