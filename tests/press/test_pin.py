"""Every pin suits every Python that is promised, and what is installed is what was pinned."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from interpreter import promised, reason
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from written import BOOK

from press.workshop import pin

PROJECT = tomllib.loads((BOOK / "pyproject.toml").read_text("utf-8"))["project"]
PROMISE = PROJECT["requires-python"]
PYTHONS = pin.pythons(PROMISE)


def listed(name: Path) -> dict[str, Requirement]:
    """Return the requirements of a list, by their names."""
    lines = (BOOK / name).read_text("utf-8").splitlines()
    texts = [line.removesuffix(" \\") for line in lines if re.match("[A-Za-z]", line)]
    return {canonicalize_name(found.name): found for found in map(Requirement, texts)}


PINS = listed(pin.PINS)
HERE = [name for name, found in PINS.items() if not found.marker or found.marker.evaluate()]


@pytest.mark.parametrize("name", HERE)
def test_a_pin_is_what_is_installed_and_suits_every_python_promised(name: str) -> None:
    [wanted] = PINS[name].specifier
    installed = metadata.distribution(name)
    words = (
        f"{PINS[name]} is pinned and {installed.version} installed: `make book` installs the pins"
    )
    assert Version(installed.version).public == Version(wanted.version).public, words
    requires = installed.metadata.get("Requires-Python")
    refusing = pin.left_out(requires, PROMISE)
    words = f"{PINS[name]} needs Python {requires} and leaves out {refusing}, which are promised"
    assert not refusing, words


def test_each_of_the_bounds_is_pinned_within_them() -> None:
    groups = PROJECT["optional-dependencies"].values()
    for bound in map(Requirement, [*PROJECT["dependencies"], *(b for g in groups for b in g)]):
        [pinned] = PINS[canonicalize_name(bound.name)].specifier
        assert bound.specifier.contains(pinned.version), bound


def test_the_list_that_is_installed_has_the_same_pins_and_a_checksum_of_every_file() -> None:
    hashed = listed(pin.HASHED)
    assert {name: str(found) for name, found in hashed.items()} == {
        name: str(found) for name, found in PINS.items() if name != "torch"
    }
    text = (BOOK / pin.HASHED).read_text("utf-8")
    for entry in re.split(r"\n(?=[A-Za-z])", text)[1:]:
        head, *hashes = entry.strip().split(" \\\n    --hash=")
        assert hashes, head
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", found) for found in hashes), head


def test_no_pin_is_for_a_graphics_card() -> None:
    assert not [name for name in PINS if re.match("nvidia|cuda|triton", name)]


@pytest.mark.parametrize(
    ("requires", "refusing"),
    [
        (">=3.11.5", {"3.11.0", "3.11.2", "3.11.4"}),
        (">=3.12", {"3.11.2", "3.11.29"}),
        (">=3.9,<3.14", {"3.14.0", "3.14.3"}),
        (">=3.9,!=3.12.*", {"3.12.0"}),
        (">=3.9,!=3.13.1", {"3.13.1"}),
    ],
)
def test_a_package_that_leaves_out_a_promised_python_is_found(
    requires: str, refusing: set[str]
) -> None:
    assert refusing <= set(pin.left_out(requires, ">=3.11,<3.15"))


@pytest.mark.parametrize("requires", [None, "", ">=3.8", ">=3.11", ">3.10,<4", ">=3.6,!=3.10.*"])
def test_a_package_that_suits_all_is_kept(requires: str | None) -> None:
    assert pin.left_out(requires, PROMISE) == []


def test_what_uv_resolved_becomes_pins_of_the_systems_promised() -> None:
    resolved = """\
a-b==1.0 \\
    --hash=sha256:2 \\
    --hash=sha256:1
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:3
cuda-toolkit==13.0 ; sys_platform == 'linux' \\
    --hash=sha256:4
overrides==7.7.0 ; python_full_version < '3.12' \\
    --hash=sha256:5
pexpect==4.9.0 ; sys_platform != 'win32' \\
    --hash=sha256:6
"""
    pins = pin.pinned(resolved, ["3.11", "3.12"])
    assert [found.line() for found in pins] == [
        "a-b==1.0",
        "overrides==7.7.0 ; python_full_version < '3.12'",
        "pexpect==4.9.0",
    ]
    assert pins[0].hashes == ("sha256:1", "sha256:2")


def test_two_versions_of_one_package_are_refused() -> None:
    resolved = """\
numpy==2.4 ; python_full_version < '3.12' \\
    --hash=sha256:1
numpy==2.5 ; python_full_version >= '3.12' \\
    --hash=sha256:2
"""
    with pytest.raises(SystemExit, match="numpy: no one version suits Python"):
        pin.pinned(resolved, ["3.11", "3.12"])


# ---------------------------------------------------------------- a Python that will not do


def test_the_pythons_promised_are_read_as_they_stand() -> None:
    oldest, newest, without = promised()
    assert without == re.findall(r"!=([\d.]+)", PROMISE)
    assert [f"3.{minor}" for minor in range(oldest, newest + 1)] == PYTHONS


@pytest.mark.parametrize(
    ("version", "implementation", "free_threaded", "has_pip", "words"),
    [
        ((2, 7, 18), "cpython", False, True, "is Python 2.7"),
        ((3, 10, 19), "cpython", False, True, "is Python 3.10"),
        ((3, 15, 0), "cpython", False, True, "is Python 3.15"),
        ((3, 14, 1), "cpython", False, True, "is Python 3.14.1"),
        ((4, 0, 0), "cpython", False, True, "is Python 4.0"),
        ((3, 11, 13), "pypy", False, True, "CPython"),
        ((3, 14, 0), "cpython", True, True, "free-threaded"),
        ((3, 11, 2), "cpython", False, False, "sudo apt install python3.11-venv"),
    ],
)
def test_what_is_wrong_with_a_python_is_said(
    version: tuple[int, ...], implementation: str, free_threaded: bool, has_pip: bool, words: str
) -> None:
    assert words in reason(version, implementation, free_threaded, has_pip)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("patch", [0, 2, 19])
def test_a_promised_python_will_do(python: str, patch: int) -> None:
    assert reason((*map(int, python.split(".")), patch), "cpython", False, True) is None


@pytest.mark.parametrize(
    ("version", "words"), [((3, 10), "is Python 3.10"), ((3, 15), "is Python 3.15")]
)
def test_make_says_so_before_it_installs_anything(
    version: tuple[int, int], words: str, tmp_path: Path
) -> None:
    """A Python that takes itself for another version stands in for one."""
    other = tmp_path / "python"
    code = (
        "import runpy, sys; sys.version_info = (*map(int, sys.argv[1:3]), 0, 'final', 0); "
        "sys.argv[:] = sys.argv[3:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    other.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "{code}" {version[0]} {version[1]} "$@"\n'
    )
    other.chmod(0o755)
    venv = tmp_path / "venv"
    run = subprocess.run(
        ["make", "book", f"PYTHON={other}", f"VENV={venv}"],
        cwd=BOOK,
        capture_output=True,
        text=True,
    )
    assert run.returncode != 0
    assert words in run.stdout
    assert "make book PYTHON=" in run.stdout
    assert "Installing" not in run.stdout
    assert not venv.exists()


def test_make_says_that_there_is_no_such_python(tmp_path: Path) -> None:
    run = subprocess.run(
        ["make", "test", "PYTHON=python3.no", f"VENV={tmp_path / 'venv'}"],
        cwd=BOOK,
        capture_output=True,
        text=True,
    )
    assert run.returncode != 0
    assert "There is no python3.no here" in run.stdout
    assert not (tmp_path / "venv").exists()


def test_an_old_python_can_read_the_file_that_refuses_it() -> None:
    text = (BOOK / "tests/tools/interpreter.py").read_text("utf-8")
    assert "from __future__" not in text
    assert not re.search(r'\bf"|\bf\'|->|\bmatch\b.*:$|:=', text)
    text.encode("ascii")  # Python 2 asks for a declaration otherwise
