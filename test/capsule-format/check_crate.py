"""Checks an RO-Crate with the public tools, without the network: `check_crate.py CRATE.zip FOLDER`.

Prints JSON: the entities that `rocrate` reads, and what `rocrate-validator` finds. The JSON-LD context is the copy that
the `rocrate` package carries, a later version whose terms have the same addresses.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import rdflib.parser
import requests
from rocrate.rocrate import ROCrate
from rocrate_validator import models, services

CONTEXT = files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()


class Answer(io.BytesIO):
    """As much of an HTTP answer as rdflib reads."""

    def __init__(self, url: str) -> None:
        super().__init__(CONTEXT)
        self.headers = {"content-type": "application/ld+json"}
        self.url = url

    def geturl(self) -> str:
        return self.url

    def info(self) -> dict[str, str]:
        return self.headers


def from_the_package(request: Any) -> Answer:
    url = request.full_url
    if "/ro/crate/" not in url:
        raise OSError(f"nothing but the context is to be fetched, not {url}")
    return Answer(url)


def sent_nowhere(_adapter: Any, request: Any, **_options: Any) -> requests.Response:
    response = requests.Response()
    response.status_code = 200 if "/ro/crate/" in request.url else 404
    response.headers["content-type"] = "application/ld+json"
    response.raw = io.BytesIO(CONTEXT)
    response.url, response.request = request.url, request
    return response


def main() -> None:
    archive, folder = Path(sys.argv[1]), Path(sys.argv[2])
    rdflib.parser._urlopen = from_the_package
    requests.adapters.HTTPAdapter.send = sent_nowhere  # type: ignore[method-assign]
    with zipfile.ZipFile(archive) as crate:
        crate.extractall(folder)
    entities = {entity.id: entity.type for entity in ROCrate(folder).get_entities()}
    found = {}
    for profile in ("ro-crate-1.1", "process-run-crate-0.5"):
        settings = services.ValidationSettings(
            rocrate_uri=models.URI(str(folder)),
            profile_identifier=profile,
            requirement_severity=models.Severity.RECOMMENDED,
            offline=False,
            no_cache=True,
        )
        result = services.validate(settings)
        found[profile] = [f"{issue.severity.name}: {issue.message}" for issue in result.get_issues()]
    print(json.dumps({"entities": entities, "issues": found}))


main()
