"""What README, metadata, citation, Binder, workflow and archive say of the book agrees."""

from __future__ import annotations

import datetime
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from written import BOOK

from press.downloads.archive import FOLDER
from press.publish.citing import bibtex, day
from press.registry import read_book
from press.workshop.pin import pythons


def text(name: str) -> str:
    return (BOOK / name).read_text("utf-8")


PROJECT = tomllib.loads(text("pyproject.toml"))["project"]
CITATION = yaml.safe_load(text("CITATION.cff"))
CONFIG = yaml.safe_load(text("_config.yml"))
WORKFLOW = yaml.safe_load(text(".github/workflows/book.yml"))


def steps(job: str) -> list[dict[str, Any]]:
    return WORKFLOW["jobs"][job]["steps"]


def action(job: str, name: str) -> dict[str, Any]:
    """Return what a step of the workflow that uses an action is told."""
    return next(step.get("with", {}) for step in steps(job) if name in step.get("uses", ""))


def test_the_distribution_has_one_name_which_is_not_that_of_another_library() -> None:
    assert PROJECT["name"] == FOLDER != "primer"
    assert (BOOK / "lib/primer/__init__.py").exists()  # what is imported keeps its name


def test_the_book_has_one_title_and_its_authors_one_name() -> None:
    title = CONFIG["title"]
    assert CITATION["title"].partition(":")[0] == title
    assert title in text("README.md").splitlines()[0]
    assert f"\n# {title}\n" in text("index.md")
    [author] = [author["name"] for author in CITATION["authors"]]
    assert CONFIG["author"] == author
    assert PROJECT["authors"] == [{"name": author}]


def test_the_newest_release_has_one_version_and_one_date() -> None:
    version, date = re.findall(r"^## (\d\S*) — (\S+)$", text("CHANGELOG.md"), re.MULTILINE)[0]
    assert PROJECT["version"] == CITATION["version"] == version
    assert CITATION["date-released"] == datetime.date.fromisoformat(date)


def test_a_version_begins_with_what_is_new_for_readers_and_what_the_book_had_wrong() -> None:
    *versions, _ = re.split(r"^## (?=\d)", text("CHANGELOG.md"), flags=re.MULTILINE)[1:]
    for version in versions:
        parts = re.split(r"^### ", version, flags=re.MULTILINE)
        name, readers, corrections, *_ = parts
        assert readers.startswith("For readers who come back\n"), name
        assert corrections.startswith("Our own corrections\n"), name
        for line in re.findall(r"^\* (.*)$", corrections, re.MULTILINE):
            assert re.match(r"\*\*(\d+, .+|[A-Z].+)\.\*\* ", line), (
                f"begin with where it stood: {line}"
            )


def test_the_licenses_are_the_same_everywhere() -> None:
    assert PROJECT["license"].split(" AND ") == CITATION["license"] == ["MIT", "CC-BY-4.0"]
    assert "MIT License" in text("LICENSE")
    assert "Creative Commons Attribution 4.0" in text("LICENSE-TEXT")
    for file in PROJECT["license-files"]:
        assert f"]({file})" in text("README.md")


PYTHONS = pythons(PROJECT["requires-python"])


def test_the_same_pythons_everywhere() -> None:
    label = "Programming Language :: Python :: "
    assert [c.removeprefix(f"{label}") for c in PROJECT["classifiers"] if label in c][1:] == PYTHONS
    assert f"You need Python {', '.join(PYTHONS[:-1])} or {PYTHONS[-1]}, " in text("README.md")
    assert text("binder/runtime.txt").strip() == f"python-{PYTHONS[0]}"
    matrix = WORKFLOW["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    assert action("test", "setup-python")["python-version"] == "${{ matrix.python }}"
    for package in (BOOK / "packages").glob("*/pyproject.toml"):
        project = tomllib.loads(package.read_text("utf-8"))["project"]
        assert project["requires-python"] == f">={PYTHONS[0]}"
        labels = [label + python for python in PYTHONS]
        assert [c for c in project["classifiers"] if c in labels] == labels


def test_the_oldest_python_is_tried_as_debian_has_it_by_somebody_who_is_not_root() -> None:
    job = WORKFLOW["jobs"]["oldest"]
    assert job["container"] == "debian:12"  # its Python is 3.11.2
    [commands] = [step["run"] for step in steps("oldest") if "make test" in step.get("run", "")]
    assert "su reader" in commands


def test_binder_installs_what_the_tests_run_with() -> None:
    installed = text("binder/postBuild")
    assert "--require-hashes -r requirements-hashed.txt" in installed
    assert "--require-hashes" in re.search("^PINNED .*", text("Makefile"), re.MULTILINE)[0]
    cached = action("test", "setup-python")["cache-dependency-path"]
    assert (BOOK / cached).exists()


def test_no_index_but_the_registry_is_asked_for_more_than_torch() -> None:
    """pip takes the highest version that any of its indexes has, of any package."""
    files = [BOOK / name for name in ("README.md", "Makefile", "binder/postBuild")]
    for file in [*files, *(BOOK / ".github/workflows").glob("*.yml")]:
        words = file.read_text("utf-8").lower()
        assert "extra-index-url" not in words, file
        assert "extra_index_url" not in words, file


@pytest.mark.parametrize("name", ["book.yml", "thorough.yml", "term.yml"])
def test_a_workflow_runs_others_code_by_commit_and_with_the_least_rights(name: str) -> None:
    source = text(f".github/workflows/{name}")
    workflow = yaml.safe_load(source)
    assert workflow["permissions"] == {"contents": "read"}
    for uses in re.findall(r"uses: (.*)", source):
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", uses), uses
    for job in workflow["jobs"].values():
        assert "timeout-minutes" in job
        for step in job["steps"]:
            if "actions/checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def test_a_tag_keeps_a_term_and_only_that_job_may_write() -> None:
    source = text(".github/workflows/term.yml")
    assert [*yaml.safe_load(source)["jobs"]] == ["keep"]
    assert source.count(": write") == 1
    assert 'make term TERM="${GITHUB_REF_NAME#term-}"' in source
    written, read = (
        re.search(r"(\S+\.tar\.gz)", text(f".github/workflows/{name}"))[1]
        for name in ("term.yml", "book.yml")
    )
    assert written == read


def test_once_a_week_what_is_pinned_is_held_against_what_became_known() -> None:
    weekly = yaml.safe_load(text(".github/workflows/thorough.yml"))
    assert weekly[True]["schedule"]  # YAML reads `on` as true
    commands = " ".join(step.get("run", "") for step in weekly["jobs"]["audit"]["steps"])
    assert "pip-audit" in commands
    assert "npm audit" in commands


def test_the_workflow_publishes_what_it_tested() -> None:
    targets = re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE)
    commands = [step["run"] for step in steps("test") if "run" in step]
    assert commands[:2] == ["make test", "make packages-test"]
    [kept] = commands[2:]
    assert kept.splitlines()[-1] == "make terms"
    assert {"test", "term", "terms"} <= {*targets}
    built = re.search(r"^SITE\s*:= (\S+)$", text("Makefile"), re.MULTILINE)[1]
    assert action("test", "upload-pages-artifact")["path"] == built
    assert any("deploy-pages" in step["uses"] for step in steps("publish"))
    assert "test" in WORKFLOW["jobs"]["publish"]["needs"]
    branch = CONFIG["repository"]["branch"]
    assert WORKFLOW[True]["push"]["branches"] == [branch]  # YAML reads `on` as true
    assert f"refs/heads/{branch}" in WORKFLOW["jobs"]["publish"]["if"]


@pytest.mark.parametrize(
    ("system", "job", "runner"),
    [
        ("macOS", "test", "macos-latest"),
        ("Windows Subsystem for Linux", "wsl", "windows-latest"),
    ],
)
def test_where_the_commands_are_said_to_work_a_job_tries_them(
    system: str, job: str, runner: str
) -> None:
    assert system in text("README.md")
    matrix = WORKFLOW["jobs"][job].get("strategy", {}).get("matrix", {})
    assert runner in (WORKFLOW["jobs"][job]["runs-on"], *matrix.get("system", []))
    assert any("make test" in step.get("run", "") for step in steps(job))


def test_a_chapter_takes_as_long_as_the_first_page_says() -> None:
    assert "an hour or two a chapter" in text("index.md")
    for chapter in read_book(BOOK).written:
        assert 60 <= chapter.minutes <= 120, chapter.name


@pytest.mark.parametrize("unreleased", [True, False])
def test_one_page_says_version_changes_and_how_to_cite(tmp_path: Path, unreleased: bool) -> None:
    appendix = tmp_path / "chapters/appendix"
    appendix.mkdir(parents=True)
    page = re.sub(r"\{ref\}`([^`]+)`", r"\1", text("chapters/appendix/changes.md"))
    (appendix / "changes.md").write_text(page)
    (tmp_path / "CITATION.cff").write_text(text("CITATION.cff"))
    changes = text("CHANGELOG.md").replace("## Unreleased", "## 9.9.9 — 2027-01-01")
    if unreleased:
        changes = changes.replace("\n## ", "\n## Unreleased\n\n* A change.\n\n## ", 1)
    (tmp_path / "CHANGELOG.md").write_text(changes)
    options = {
        "extensions": ["myst_parser", "press.publish.citing"],
        "myst_enable_extensions": ["colon_fence"],
        "root_doc": "chapters/appendix/changes",
        "exclude_patterns": ["CHANGELOG.md", "_build"],
        "html_baseurl": "https://reader.example/book/",
    }
    with docutils_namespace():
        out = tmp_path / "_build"
        app = Sphinx(
            tmp_path, None, out, out / "trees", "html", options, status=None, warningiserror=True
        )
        app.build()
        assert app.statuscode == 0
    page = (out / "chapters/appendix/changes.html").read_text()
    said = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", page)).replace("&#39;", "'")
    version, date = CITATION["version"], day(CITATION["date-released"])
    assert f"This is version {version} of {date}" in said
    assert ("with the changes that stand below as “Unreleased”" in said) == unreleased
    assert re.sub(r"\s+", " ", bibtex(CITATION, "https://reader.example/book/")) in said
    assert f"<h3>{version} — " in page  # below "What has changed"
    assert said.count("Chapter 16, Fourier") == 1
