"""Tampers with a capsule, one byte at a time, and asks the public tool: `tampered.py ARCHIVE ID TIMES SEED`.

Prints JSON: for each tampering that the tool passed, what it was. Of the archive itself, bytes that no content depends
on (times in headers) may pass; then the content has to be the same.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner
from marqov_capsule.cli.main import cli


def verified(path: Path, capsule_id: str) -> bool:
    result = CliRunner().invoke(cli, ["verify", str(path), "--id", capsule_id])
    return result.exit_code == 0


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def changed(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def main() -> None:
    archive, capsule_id, times, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    chance = random.Random(seed)
    passed: list[str] = []
    same = 0
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        CliRunner().invoke(cli, ["unpack", str(archive), "-o", str(here / "whole")])
        (root,) = (here / "whole").iterdir()
        files = sorted(path for path in root.rglob("*") if path.is_file() and path.stat().st_size > 0)
        if not verified(root, capsule_id):
            raise SystemExit("the untouched capsule does not verify")
        for turn in range(times):
            target = files[turn % len(files)]
            before = target.read_bytes()
            target.write_bytes(changed(before, chance))
            if verified(root, capsule_id):
                passed.append(f"file {target.relative_to(root)}")
            target.write_bytes(before)
            damaged = here / "damaged.capsule"
            damaged.write_bytes(changed(archive.read_bytes(), chance))
            if verified(damaged, capsule_id):
                CliRunner().invoke(cli, ["unpack", str(damaged), "-o", str(here / "again")])
                (unpacked,) = (here / "again").iterdir()
                if contents(unpacked) != contents(root):
                    passed.append("archive")
                same += 1
                shutil.rmtree(here / "again")
    print(json.dumps({"passed": passed, "files": len(files), "same": same}))


main()
