"""Runs Python code with the published client, like the program of a user.

A request is a line of JSON on standard input: ``{"id", "code", "names"}``, where ``code`` is the body of a function and
``names`` are its arguments. The response is a line on standard output with the same ``id`` and either ``value``, the
return value of the body, or ``raised``, the exception. Every body runs in its own thread, so that one can wait while
others run. Besides its arguments a body has ``connect(url, key)``, which returns a client, the names of
``marqov.platform``, and ``Circuit``. ``answers`` are all the HTTP responses that the clients of this body received.
"""

from __future__ import annotations

import json
import sys
import textwrap
import threading
import time
import traceback
from typing import Any, TextIO

import requests
from marqov import Circuit, platform

_writing = threading.Lock()


class Recorder:
    """Creates clients and records their HTTP responses by the hook of requests; a client is not changed otherwise."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []

    def connect(self, url: str, key: str) -> platform.MarqovClient:
        """A client of the service at this address."""
        client = platform.MarqovClient(api_key=key, base_url=url)
        client._transport._session.hooks["response"].append(self._note)
        return client

    def _note(self, response: requests.Response, **_: object) -> None:
        self.answers.append(
            {
                "request": f"{response.request.method} {response.request.path_url}",
                "status": response.status_code,
                "type": response.headers.get("Content-Type"),
            }
        )


def socket_of(client: platform.MarqovClient) -> object:
    """The local address of the connection that the client keeps for its next request."""
    adapter = client._transport._session.get_adapter("http://")
    assert isinstance(adapter, requests.adapters.HTTPAdapter)
    pools = adapter.poolmanager.pools
    [pool] = [pools[key].pool for key in pools.keys()]
    assert pool is not None
    return pool.queue[-1].sock.getsockname()


def respond(request: dict[str, Any], out: TextIO) -> None:
    """Runs the body and writes the response."""
    recorder = Recorder()
    names = {
        **{name: getattr(platform, name) for name in platform.__all__},
        "Circuit": Circuit,
        "connect": recorder.connect,
        "requests": requests,
        "socket_of": socket_of,
        "time": time,
    }
    source = f"def body({', '.join(request['names'])}):\n" + textwrap.indent(textwrap.dedent(request["code"]), "    ")
    try:
        exec(compile(source, "<body>", "exec"), names)
        outcome = {"value": names["body"](**request["names"])}
    except Exception as error:
        outcome = {"raised": described(error)}
    line = json.dumps({"id": request["id"], **outcome, "answers": recorder.answers})
    with _writing:
        out.write(line + "\n")
        out.flush()


def described(error: Exception) -> dict[str, Any]:
    """An exception with the fields of the client's exceptions."""
    fields = ("code", "status", "retry_after", "idempotency_key")
    return {
        "type": type(error).__name__,
        "message": str(getattr(error, "message", error)),
        **{field: getattr(error, field) for field in fields if getattr(error, field, None) is not None},
        "traceback": "".join(traceback.format_exception(error)),
    }


def main() -> None:
    """Responds until standard input is closed."""
    out, sys.stdout = sys.stdout, sys.stderr
    # The first circuit that is serialized imports the packages for it. qiskit crashes after the thread that imported it
    # has stopped, so the main thread does it.
    Circuit().x(0).to_openqasm(version=3)
    for line in sys.stdin:
        threading.Thread(target=respond, args=(json.loads(line), out), daemon=True).start()


if __name__ == "__main__":
    main()
