"""JSON log lines on standard error, of the form that services/telemetry/log.ts gives them in the other processes. User
code never enters a log, only run ids and facts about executions."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import traceback
from typing import Any

log = logging.getLogger("executor")


_LEVELS = {"WARNING": "warn", "CRITICAL": "fatal"}
_STACK_MAX = 4_000
_JOB_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.|$)")


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "level": _LEVELS.get(record.levelname, record.levelname.lower()),
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "process": "executor",
            **({} if record.name == log.name else {"logger": record.name}),
            **getattr(record, "facts", {}),
        }
        line.update(_job_of(line.get("run_id")))
        if record.exc_info and record.exc_info[1]:
            line["err"] = self._error(record.exc_info[1])
        return json.dumps({**line, "msg": record.getMessage()}, default=str)

    def _error(self, error: BaseException) -> dict[str, str]:
        frames = "".join(traceback.format_tb(error.__traceback__))
        return {"type": type(error).__name__, "message": str(error)[:_STACK_MAX], "stack": frames[-_STACK_MAX:]}


def _job_of(run_id: object) -> dict[str, str]:
    """A run of a job is named after the job."""
    match = _JOB_ID.match(run_id) if isinstance(run_id, str) else None
    return {"job_id": match[1]} if match else {}


def set_up_logs(level: str) -> None:
    """Sends every logger of the process, the web server's included, to standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    logging.basicConfig(level=getattr(logging, level), handlers=[handler], force=True)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    logging.getLogger("uvicorn").setLevel(max(logging.WARNING, logging.getLogger().level))


def facts(**values: Any) -> dict[str, dict[str, Any]]:
    """Extra fields of one log line: `log.info("run ended", extra=facts(run_id=...))`."""
    return {"facts": values}
