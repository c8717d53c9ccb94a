"""Adds a file to a zip, like a desktop program: `add_to_zip.py ARCHIVE NAME`. Prints the archive's path."""

from __future__ import annotations

import json
import sys
import zipfile


def main() -> None:
    with zipfile.ZipFile(sys.argv[1], "a") as archive:
        archive.writestr(sys.argv[2], "<html></html>")
    print(json.dumps(sys.argv[1]))


main()
