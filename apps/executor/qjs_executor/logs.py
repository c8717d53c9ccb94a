"""JSON log lines on standard error. User code never enters a log, only run ids and facts about executions."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

log = logging.getLogger("executor")


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "level": record.levelname.lower(),
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "name": record.name,
            "msg": record.getMessage(),
        }
        line.update(getattr(record, "facts", {}))
        if record.exc_info:
            line["err"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


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
