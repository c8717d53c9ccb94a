"""What an execution has in its folder is counted, whatever it does to the folder at the same time."""

from __future__ import annotations

import os
from pathlib import Path

from qjs_executor.isolation.folder_watch import holds_too_much
from qjs_executor.job import KIB, MIB


def test_bytes_and_files_are_bounded_together_over_all_folders(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for place in ("one", "a/two", "a/b/three"):
        (tmp_path / place).write_bytes(b"x" * 100 * KIB)
    assert not holds_too_much(str(tmp_path), 400 * KIB, 5)
    assert holds_too_much(str(tmp_path), 250 * KIB, 5)
    assert holds_too_much(str(tmp_path), 400 * KIB, 4)


def test_a_file_counts_with_what_it_takes_on_the_disk(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(100 * MIB)
    assert not holds_too_much(str(tmp_path), MIB, 5)


def test_a_link_to_a_folder_outside_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/usr")
    assert not holds_too_much(str(tmp_path), MIB, 5)


def test_folders_too_deep_to_be_counted_are_too_much(tmp_path: Path) -> None:
    home = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(80):
            os.mkdir("a-name-that-makes-the-path-longer-than-any-path-may-be")
            os.chdir("a-name-that-makes-the-path-longer-than-any-path-may-be")
    finally:
        os.chdir(home)
    assert holds_too_much(str(tmp_path))


def test_a_folder_that_is_gone_is_not_too_much(tmp_path: Path) -> None:
    assert not holds_too_much(str(tmp_path / "gone"))
