"""Only what changed is executed, and a change of what a notebook uses makes it change."""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
import pytest
from jupyter_cache.base import CacheBundleIn

from primer.book import execute, pin


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Return a book of two notebooks and a first page; make it the current folder."""
    (tmp_path / "chapters").mkdir()
    write_notebook(tmp_path / "chapters" / "01-one.ipynb", "print(1 + 1)")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_notebook(path, source):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(notebook, path)


FIRST_PAGE = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# First

```{code-cell} ipython3
print("first")
```
"""


def test_runs_what_changed_and_nothing_else(book, capsys):
    (book / "index.md").write_text(FIRST_PAGE)
    assert execute.main() == 0
    out = capsys.readouterr().out
    assert "2 of 2" in out
    assert "executed 2, failed 0" in out
    kept = execute.key_file(execute.CACHE, Path("chapters/01-one"))
    written = kept.stat().st_mtime_ns
    assert execute.main() == 0
    assert "to be executed: none" in capsys.readouterr().out
    assert kept.stat().st_mtime_ns == written  # or Sphinx would write the page anew
    (book / "index.md").write_text(FIRST_PAGE.replace('"first"', '"page"'))
    assert execute.main() == 0
    assert "to be executed: index\n" in capsys.readouterr().out


def test_another_key_makes_a_notebook_run_again(book, capsys, monkeypatch):
    assert execute.main() == 0
    monkeypatch.setattr(execute, "key_of", lambda *_: "another library")
    assert execute.main() == 0
    assert capsys.readouterr().out.count("executed 1, failed 0") == 2
    assert execute.main() == 0
    assert "to be executed: none" in capsys.readouterr().out


@pytest.mark.thorough
def test_going_back_to_old_code_does_not_bring_back_an_old_library(book, capsys, monkeypatch):
    path = book / "chapters" / "01-one.ipynb"
    assert execute.main() == 0
    write_notebook(path, "print(2 + 2)")
    assert execute.main() == 0
    own = execute.key_of
    monkeypatch.setattr(execute, "key_of", lambda *given: own(*given) + " later")
    write_notebook(path, "print(1 + 1)")
    assert execute.main() == 0
    assert capsys.readouterr().out.count("executed 1, failed 0") == 3


def test_a_failing_cell_fails_the_build_until_it_is_mended(book, capsys):
    path = book / "chapters" / "01-one.ipynb"
    write_notebook(path, "1 / 0")
    for _ in range(2):
        assert execute.main() == 1
        assert "failed 1" in capsys.readouterr().out
    write_notebook(path, "1 / 1")
    assert execute.main() == 0


@pytest.mark.thorough
def test_a_notebook_that_was_renamed_is_forgotten(book, capsys):
    path = book / "chapters" / "01-one.ipynb"
    assert execute.main() == 0
    path.rename(path.with_name("02-one.ipynb"))
    assert execute.main() == 0
    assert "1 notebooks, to be executed: 02-one" in capsys.readouterr().out


def test_outside_a_book_says_where_to_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert execute.main() == 1
    assert "root of the book" in capsys.readouterr().err


def test_pins_are_free_of_build_tags_and_cuda():
    freeze = "torch==2.13.0+cpu\nnvidia-nccl-cu13==2.3\ntriton==3\nNumPy==2.4\n-e /x\nprimer==0.1"
    assert pin.pinned(freeze) == ["NumPy==2.4", "torch==2.13.0"]


def store(cache, name, number):
    for index in range(number):
        cell = nbformat.v4.new_code_cell(f"print({name!r}, {index})")
        bundle = CacheBundleIn(nbformat.v4.new_notebook(cells=[cell]), f"{name}-{index}")
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


@pytest.mark.thorough
def test_processes_that_store_at_a_time_lose_nothing_of_each_other(tmp_path):
    cache = execute.Cache(tmp_path)
    cache.list_cache_records()  # creates its database
    with ProcessPoolExecutor(4) as pool:
        for stored in [pool.submit(store, cache, name, 30) for name in "abcd"]:
            stored.result()
    records = cache.list_cache_records()
    assert len(records) == 120
    assert all(cache.get_cache_bundle(record.pk).nb.cells for record in records)
