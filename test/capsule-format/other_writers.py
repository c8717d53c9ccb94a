"""Packs an unpacked capsule as other programs do: `other_writers.py FOLDER TARGET`.

FOLDER has the capsule's folder in it. Prints JSON: the archives, tars of that folder and zips as RO-Crates are.
"""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path


class Pipe(io.RawIOBase):
    """Takes bytes and cannot go back, as a pipe or a socket."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("wb")

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        return self.file.write(data)

    def close(self) -> None:
        self.file.close()
        super().close()


def tars(top: Path, target: Path) -> None:
    for name, form in {"gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}.items():
        with tarfile.open(target / f"{name}.capsule", "w:gz", format=form) as archive:
            archive.add(top, arcname="top")
    subprocess.run(["tar", "-czf", target / "tar.capsule", "-C", top.parent, top.name], check=True)
    # Several members of gzip in a row are one gzip.
    raw = gzip.decompress((target / "pax.capsule").read_bytes())
    members = [gzip.compress(raw[at : at + 3000]) for at in range(0, len(raw), 3000)]
    (target / "members.capsule").write_bytes(b"".join(members))


def zips(top: Path, target: Path) -> None:
    files = {"ro-crate-metadata.json": b'{"@graph": []}'}
    files |= {f"capsule/{path.relative_to(top)}": path.read_bytes() for path in top.rglob("*") if path.is_file()}
    for name, method in {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}.items():
        with zipfile.ZipFile(target / f"{name}.zip", "w", method) as archive:
            archive.comment = b"with a comment"
            for path, content in files.items():
                archive.writestr(path, content)
    with zipfile.ZipFile(Pipe(target / "streamed.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    with zipfile.ZipFile(target / "large.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            with archive.open(path, "w", force_zip64=True) as entry:
                entry.write(content)
    with zipfile.ZipFile(Pipe(target / "both.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            with archive.open(path, "w", force_zip64=True) as entry:
                entry.write(content)


def main() -> None:
    (top,) = Path(sys.argv[1]).iterdir()
    target = Path(sys.argv[2])
    target.mkdir()
    tars(top, target)
    zips(top, target)
    print(json.dumps(sorted(str(path) for path in target.iterdir())))


main()
