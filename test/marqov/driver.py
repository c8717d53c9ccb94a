"""Runs pieces of Python with the public client as it is published, as the program of a user would.

A question is a line of JSON on standard input: ``{"id", "code", "names"}``, where ``code`` is the body of a function and
``names`` are its arguments. The answer is a line on standard output with the same ``id`` and either ``value``, what the
body returned, or ``raised``, the exception. Every body runs in a thread of its own, so that one may wait while others ask.
Beside its arguments a body finds ``connect(url, key)``, which gives a client, the names of ``marqov.platform``, and
``Circuit``. ``answers`` of an answer are all the HTTP answers that the clients of this body were given.
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


class Witness:
    """Makes clients, and notes what they are answered. Nothing of a client is changed but for requests' own hook."""

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
    """The local end of the one connection that the client keeps for its next request."""
    adapter = client._transport._session.get_adapter("http://")
    assert isinstance(adapter, requests.adapters.HTTPAdapter)
    pools = adapter.poolmanager.pools
    [pool] = [pools[key].pool for key in pools.keys()]
    assert pool is not None
    return pool.queue[-1].sock.getsockname()


def answer(question: dict[str, Any], out: TextIO) -> None:
    """Runs the body and writes its answer."""
    witness = Witness()
    names = {
        **{name: getattr(platform, name) for name in platform.__all__},
        "Circuit": Circuit,
        "connect": witness.connect,
        "requests": requests,
        "socket_of": socket_of,
        "time": time,
    }
    source = f"def body({', '.join(question['names'])}):\n" + textwrap.indent(textwrap.dedent(question["code"]), "    ")
    try:
        exec(compile(source, "<body>", "exec"), names)
        told = {"value": names["body"](**question["names"])}
    except Exception as error:
        told = {"raised": described(error)}
    line = json.dumps({"id": question["id"], **told, "answers": witness.answers})
    with _writing:
        out.write(line + "\n")
        out.flush()


def described(error: Exception) -> dict[str, Any]:
    """An exception with what the client's exceptions carry."""
    fields = ("code", "status", "retry_after", "idempotency_key")
    return {
        "type": type(error).__name__,
        "message": str(getattr(error, "message", error)),
        **{field: getattr(error, field) for field in fields if getattr(error, field, None) is not None},
        "traceback": "".join(traceback.format_exception(error)),
    }


def main() -> None:
    """Answers until standard input ends."""
    out, sys.stdout = sys.stdout, sys.stderr
    # The packages that write a circuit down are imported when the first one is. qiskit crashes once the thread that
    # imported it has ended.
    Circuit().x(0).to_openqasm(version=3)
    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line), out), daemon=True).start()


if __name__ == "__main__":
    main()
