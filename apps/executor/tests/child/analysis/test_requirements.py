"""What an analysis reports about a requirements text: which packages are installed, and which lines are not
requirements."""

from __future__ import annotations

import time

import pytest

from .test_analysis import BELL, reply


def test_requirements_are_listed_with_the_installed_versions() -> None:
    facts = reply(
        BELL,
        "\ufeff# mine\nnumpy>=1\nQiskit_Aer ~= 0.1 # comment\n\nnot-a-package==1.0\nnumpy<1; python_version < '3'\n",
    )
    numpy, aer, missing, marked = facts["requirements"]
    assert numpy["name"] == "numpy"
    assert numpy["specifier"] == ">=1"
    assert numpy["installed_version"] == marked["installed_version"] != ""
    assert aer["installed_version"].startswith("0.1")
    assert missing == {"name": "not-a-package", "specifier": "==1.0", "installed_version": None}
    assert facts["errors"] == []
    (warning,) = facts["warnings"]
    assert warning["id"] == "requirement_not_installed"
    assert warning["line"] == 5
    assert "not-a-package (line 5)" in warning["message"]
    assert "numpy" in warning["message"]


def test_another_version_than_the_installed_one_is_a_warning() -> None:
    warning = reply(BELL, "scipy\nnumpy==1.0\n")["warnings"][0]
    assert (warning["id"], warning["line"]) == ("requirement_version", 2)
    assert "numpy==1.0 is requested" in warning["message"]


REFUSED_LINES = {
    "index": "--index-url http://169.254.169.254/",
    "index with equals": "--index-url=http://169.254.169.254/",
    "file of requirements": "-r other.txt",
    "editable": "-e .",
    "URL": "https://example.org/a.whl",
    "repository": "git+https://example.org/a.git#egg=a",
    "direct reference": "a @ https://example.org/a.whl",
    "direct reference to a file": "a @ file:///etc/passwd",
    "direct reference without slashes": "a @ file:etc/passwd",
    "path": "./a",
    "absolute path": "/etc/passwd",
    "home": "~/a",
    "archive": "a-1.0.tar.gz",
    "wheel with a marker": "a-1.0-py3-none-any.whl ; python_version > '3'",
    "drive": "C:\\a",
    "environment variable": "a==${VERSION}",
    "continued": "numpy \\",
    "no version": "numpy==",
    "two names": "numpy scipy",
    "blank extra": "numpy[",
    "unknown marker": "numpy; secret == '1'",
    "open brackets": "a[" * 400,
    "nested marker": "a; " + "(" * 900,
    "long line": "a" * 1_048_576,
    "long brackets": "a[" * 100_000,
    "not text": "\ud800",
    "NUL": "numpy\0",
}


@pytest.mark.parametrize("line", REFUSED_LINES.values(), ids=REFUSED_LINES.keys())
def test_a_line_that_is_not_a_plain_requirement_is_an_error_naming_it(line: str) -> None:
    began = time.process_time()
    facts = reply(BELL, f"numpy\n{line}\n")
    assert time.process_time() - began < 2
    (error,) = facts["errors"]
    assert error["message"].startswith("requirements, line 2: ")
    assert (error["line"], error["source"]) == (2, "requirements")
    assert [item["name"] for item in facts["requirements"]] == ["numpy"]
    assert len(error["message"]) < 500


def test_the_number_of_requirements_is_bounded() -> None:
    facts = reply(BELL, "numpy\n" * 10_000)
    assert len(facts["requirements"]) == 200
    assert [error["line"] for error in facts["errors"]] == [201]
