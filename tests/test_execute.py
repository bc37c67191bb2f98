"""Only what changed is executed, and a change of the library makes everything change."""

import nbformat
import pytest

from primer.book import execute, pin


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Return a book of one notebook; make it the current folder."""
    (tmp_path / "chapters").mkdir()
    write_notebook(tmp_path / "chapters" / "01-one.ipynb", "print(1 + 1)")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_notebook(path, source):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(notebook, path)


def test_runs_what_changed_and_nothing_else(book, capsys):
    assert execute.main() == 0
    assert "executed 1, failed 0" in capsys.readouterr().out
    assert execute.main() == 0
    assert "to be executed: none" in capsys.readouterr().out
    write_notebook(book / "chapters" / "01-one.ipynb", "print(2 + 2)")
    assert execute.main() == 0
    assert "to be executed: 01-one" in capsys.readouterr().out


def test_a_changed_library_drops_the_cache(book, capsys, monkeypatch):
    assert execute.main() == 0
    monkeypatch.setattr(execute, "library_hash", lambda *_: "another library")
    assert execute.main() == 0
    out = capsys.readouterr().out
    assert "The library changed" in out
    assert out.count("executed 1, failed 0") == 2


def test_a_failing_cell_fails_the_build(book, capsys):
    write_notebook(book / "chapters" / "01-one.ipynb", "1 / 0")
    assert execute.main() == 1
    assert "failed 1" in capsys.readouterr().out


def test_outside_a_book_says_where_to_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert execute.main() == 1
    assert "root of the book" in capsys.readouterr().err


def test_library_hash_sees_code_and_requirements_but_not_the_site(tmp_path):
    (tmp_path / "book").mkdir()
    requirements = tmp_path / "requirements.txt"

    def hashed():
        return execute.library_hash(tmp_path, requirements)

    seen = {hashed()}
    for name, text in [("a.py", "x = 1"), ("a.py", "x = 2"), ("w.js", "let x"), ("m.css", "a{}")]:
        (tmp_path / name).write_text(text)
        seen.add(hashed())
    requirements.write_text("numpy==2")
    seen.add(hashed())
    assert len(seen) == 6
    (tmp_path / "book" / "site.py").write_text("only renders")
    assert hashed() in seen


def test_pins_are_free_of_build_tags_and_cuda():
    freeze = "torch==2.13.0+cpu\nnvidia-nccl-cu13==2.3\ntriton==3\nNumPy==2.4\n-e /x\nprimer==0.1"
    assert pin.pinned(freeze) == ["NumPy==2.4", "torch==2.13.0"]
