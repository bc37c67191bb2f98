"""Where the files come from does not matter; which they are does."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from sphinx_run_in_page import packs
from sphinx_run_in_page.wheels import Altered, NotToBeHad, Runtime, Wheels, closure


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """Give a release of one wheel."""
    entry = {"file_name": "a.whl", "sha256": hashlib.sha256(b"wheel").hexdigest(), "depends": []}
    lock = {"info": {"version": "9.9"}, "packages": {"a": entry}}
    (tmp_path / "npm").mkdir()
    (tmp_path / "npm/pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
    return Runtime(tmp_path / "npm")


def test_a_wheel_of_our_own_folder_is_taken_when_it_is_the_one(
    runtime: Runtime, tmp_path: Path
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/a.whl").write_bytes(b"wheel")
    assert Wheels(runtime, tmp_path / "cache", tmp_path / "own").take("a") == b"wheel"
    (tmp_path / "own/a.whl").write_bytes(b"whee1")
    with pytest.raises(Altered, match=r"a\.whl, from .*own, is not the file of Pyodide's release"):
        Wheels(runtime, tmp_path / "cache", tmp_path / "own").take("a")


def test_what_is_missing_is_said(runtime: Runtime, tmp_path: Path) -> None:
    with pytest.raises(NotToBeHad, match=r"a\.whl is not in .*own"):
        Wheels(runtime, tmp_path / "cache", tmp_path / "own").take("a")
    with pytest.raises(NotToBeHad, match=r"wheels of Pyodide 9\.9: put them into a folder"):
        Wheels(runtime, tmp_path / "cache").take("a")
    with pytest.raises(NotToBeHad, match="npm install pyodide"):
        Runtime(tmp_path / "nowhere")


def test_a_package_that_the_release_lacks_is_named(runtime: Runtime) -> None:
    with pytest.raises(KeyError, match="has no package 'torch'"):
        closure(runtime.lock, "torch")


def test_the_real_list_names_each_library_before_what_needs_it(pyodide: Path) -> None:
    names = closure(Runtime(pyodide).lock, "scikit-learn")
    assert set(names) >= {"numpy", "openblas", "scipy", "joblib", "scikit-learn"}
    assert names.index("numpy") < names.index("scipy") < names.index("scikit-learn")


def test_a_pack_is_the_same_twice_and_made_anew_when_its_files_change(
    runtime: Runtime, tmp_path: Path
) -> None:
    maker = packs.Maker(Wheels(runtime, tmp_path / "cache"), tmp_path / "packs")
    first = maker.own("book", {"b.py": b"2", "a.py": b"1"})
    content = first.path.read_bytes()
    first.path.write_bytes(b"touched")
    assert maker.own("book", {"a.py": b"1", "b.py": b"2"}).path.read_bytes() == b"touched"
    other = maker.own("book", {"a.py": b"1", "b.py": b"3"})
    assert other.path != first.path
    assert not first.path.exists()
    assert maker.own("book", {"a.py": b"1", "b.py": b"2"}).path.read_bytes() == content
    assert other.modules == ("a", "b")


def test_compiled_code_of_this_machine_is_refused() -> None:
    with pytest.raises(ValueError, match=r"compiled code .* does not run in the page"):
        packs.installed_files("pyyaml")
    with pytest.raises(ValueError, match="nothing-at-all is not installed here"):
        packs.installed_files("nothing-at-all")
