"""Sphinx extension: the code cells of a page run in it, with no server and no network.

A reader presses Run.  Then, and not before, the page loads Python (Pyodide), the libraries that the
cell needs and the book's own code, all of them files of the book, and a worker runs what the cell
needs of earlier cells, quietly, and the cell.  It works from disk, where a browser lets a page
load scripts and nothing else, and under a policy that forbids every request.

Files of Pyodide's release that cannot be had leave the book as it was, and the build says so; a
file that is not the release's stops the build.  The package's README says what can be set.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging

from sphinx_run_in_page import packs
from sphinx_run_in_page.cells import read_page, run_place, visit_run_place
from sphinx_run_in_page.imports import OwnModules
from sphinx_run_in_page.in_page.reading import completed, packs_of
from sphinx_run_in_page.node import run_node
from sphinx_run_in_page.wheels import Altered, NotToBeHad, Runtime, Wheels

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent
FOLDER = "run"
"""Where in the site the packs lie: beside the static files, which other extensions read whole."""

LIBRARIES = ["numpy", "scipy", "matplotlib", "scikit-learn"]


def cache_of(app: Sphinx) -> Path:
    """Return the folder that keeps what was downloaded and made, for the next build."""
    if app.config.run_cache:
        return Path(app.srcdir) / app.config.run_cache
    return Path(app.outdir).parent / "run-in-page"


def make_packs(app: Sphinx) -> tuple[list[packs.Pack], dict[str, Any]]:
    """Make all packs, or find them made; return them, and what the page must know of them.

    Raises
    ------
    NotToBeHad
        When Pyodide, a wheel or Node.js is not to be had.
    ExtensionError
        When a file is not that of the release, or a pack cannot be made.
    """
    config, source, cache = app.config, Path(app.srcdir), cache_of(app)
    runtime = Runtime(source / config.run_runtime)
    owned = source / config.run_wheels if config.run_wheels else None
    maker = packs.Maker(Wheels(runtime, cache / "wheels", owned), cache / "packs")
    try:
        libraries = maker.libraries(config.run_libraries)
        made = [maker.python(), *libraries]
        parts = {
            name: one
            for name, one in config.run_own.items()
            if all((source / folder).is_dir() for folder in one.get("folders", {}))
            and all(importlib.util.find_spec(module) for module in one.get("made_by", ()))
        }
        own = {name: maker.own_files(source, one) for name, one in parts.items()}
        written = {module for one in parts.values() for module in one.get("modules", [])}
        made += [maker.own(name, files) for name, files in own.items()]
    except (Altered, KeyError, ValueError, RuntimeError) as error:
        raise ExtensionError(f"Run in the page: {error}") from error
    modules = OwnModules(own, {one: pack.name for pack in libraries for one in pack.modules})
    known = {
        "packs": {pack.name: {"file": pack.path.name, "size": pack.size} for pack in made},
        "modules": {one: pack.name for pack in made for one in pack.modules},
        "own": {name: modules.packs(name) for name in modules.names()},
        "files": {
            path: name
            for name, files in own.items()
            for path in files
            if not any(one.endswith(".py") for one in files)
        },
        "absent": [*modules.absent(written), *config.run_absent],
        "written": sorted(written),
        "installed": {
            path.split("-")[0].lower(): name
            for name, files in own.items()
            for path in files
            if path.endswith(".dist-info/METADATA")
        },
        "environment": config.run_environment,
        "dark": config.run_dark,
    }
    return made, known


def prepare(app: Sphinx) -> None:
    """Have the packs before the first page is written, which has a place to run or has none."""
    app.env.run_manifest = None  # type: ignore[attr-defined]
    if app.builder.format != "html":
        return
    try:
        made, known = make_packs(app)
    except NotToBeHad as error:
        logger.info("The pages have no Run: %s.", error)
        return
    app.env.run_manifest = known  # type: ignore[attr-defined]
    app.env.run_packs = made  # type: ignore[attr-defined]


def changed(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages to write anew: all that run, when Run came or went since the last build."""
    possible = env.run_manifest is not None  # type: ignore[attr-defined]
    before = getattr(env, "run_was_possible", None)
    env.run_was_possible = possible  # type: ignore[attr-defined]
    if before in (None, possible):
        return []
    return [page for page, known in env.metadata.items() if "run_cells" in known]


def add_script(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Give a page that runs its script; the worker and all else wait for the first press."""
    runs = "run_cells" in app.env.metadata.get(page, {})
    if runs and app.env.run_manifest is not None:  # type: ignore[attr-defined]
        app.add_js_file("run.js", loading_method="defer")
        app.add_css_file("run.css", priority=910)


def copy_static(app: Sphinx) -> None:
    """Copy the script and the style of the buttons before the first page names them."""
    if app.env.run_manifest is not None:  # type: ignore[attr-defined]
        static = Path(app.outdir) / "_static"
        static.mkdir(parents=True, exist_ok=True)
        for name in ("run.js", "run.css"):
            shutil.copyfile(HERE / "page" / name, static / name)


def bundle_editor(app: Sphinx) -> Path | None:
    """Bundle the editor, unless that is done; None where the npm packages for it are missing."""
    modules = (Path(app.srcdir) / app.config.run_runtime).resolve().parent
    bundle = cache_of(app) / "editor.js"
    source = HERE / "page" / "editor.js"
    needed = [modules / "esbuild", modules / "@codemirror/lang-python"]
    if not all(one.is_dir() for one in needed):
        return None
    stamp = (
        f"/* {source.stat().st_mtime_ns} {(modules / '.package-lock.json').stat().st_mtime_ns} */"
    )
    if not bundle.is_file() or not bundle.read_text("utf-8").startswith(stamp):
        run_node(HERE / "bundle.mjs", modules, source, bundle)
        bundle.write_text(f"{stamp}\n{bundle.read_text('utf-8')}", "utf-8")
    return bundle


def write_files(app: Sphinx, error: Exception | None) -> None:
    """Write what is loaded on the first press: session, worker, packs and each page's cells."""
    manifest = getattr(app.env, "run_manifest", None)
    if error or app.builder.format != "html" or manifest is None:
        return
    folder = Path(app.outdir) / FOLDER
    (folder / "cells").mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    for pack in app.env.run_packs:  # type: ignore[attr-defined]
        if not (folder / pack.path.name).is_file():
            shutil.copyfile(pack.path, folder / pack.path.name)
    worker = {
        "worker": (HERE / "page" / "worker.js").read_text("utf-8"),
        "python": {
            f"sphinx_run_in_page/in_page/{path.name}": path.read_text("utf-8")
            for path in sorted((HERE / "in_page").glob("*.py"))
        },
    }
    measured = app.config.run_seconds
    seconds = json.loads((Path(app.srcdir) / measured).read_text("utf-8")) if measured else {}
    parts = [(HERE / "page" / name).read_text("utf-8") for name in ("python.js", "view.js")]
    files["session.js"] = "\n".join(parts)
    files["session.css"] = (HERE / "page" / "session.css").read_text("utf-8")
    files["worker-source.js"] = _delivered("worker-source", worker)
    files["manifest.js"] = _delivered("manifest", manifest)
    for page, known in app.env.metadata.items():
        if "run_cells" in known:
            cells = page_data(known["run_cells"], manifest, app.config.run_tells, seconds)
            files[f"cells/{page.replace('/', '-')}.js"] = _delivered("cells", cells)
    if editor := bundle_editor(app):
        files["editor.js"] = editor.read_text("utf-8")
    keep = {pack.path.name for pack in app.env.run_packs} | set(files)  # type: ignore[attr-defined]
    for name, text in files.items():
        path = folder / name
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
    for path in filter(Path.is_file, folder.rglob("*")):
        if path.relative_to(folder).as_posix() not in keep:
            path.unlink()


def page_data(
    read: dict[str, Any], manifest: dict[str, Any], tells: str, seconds: dict[str, float]
) -> dict[str, Any]:
    """Return what the worker must know of a page, with the packs that each cell needs."""
    units = completed(read["units"], manifest, seconds)
    return {
        "units": units,
        "tells": tells,
        "cells": [
            {key: one[key] for key in ("kind", "source", "printed")}
            | {"packs": packs_of(units, number)}
            if one["runs"]
            else {"kind": one["kind"]}
            for number, one in enumerate(read["cells"])
        ],
    }


def _delivered(name: str, data: Any) -> str:
    """Write data as a script that hands it to the page."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True).replace("\u2028", "\\u2028")
    return f'runInPage.deliver("{name}", {text});\n'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the places, the packs and the scripts."""
    app.add_config_value("run_runtime", "node_modules/pyodide", "")
    app.add_config_value("run_wheels", "", "")
    app.add_config_value("run_cache", "", "")
    app.add_config_value("run_libraries", LIBRARIES, "")
    app.add_config_value("run_own", {}, "")
    app.add_config_value("run_absent", [], "")
    app.add_config_value("run_environment", {}, "")
    app.add_config_value("run_dark", {}, "")
    app.add_config_value("run_seconds", "", "")
    app.add_config_value("run_setup_tag", "setup", "env")
    app.add_config_value("run_kinds", [], "env")
    app.add_config_value("run_not", ["no-run"], "env")
    app.add_config_value("run_tells", "print|display|show", "env")
    app.add_node(
        run_place, html=(visit_run_place, None), latex=(_nothing, None), text=(_nothing, None)
    )
    app.connect("builder-inited", prepare)
    app.connect("builder-inited", copy_static, priority=600)
    app.connect("doctree-read", read_page, priority=800)
    app.connect("env-updated", changed)
    app.connect("html-page-context", add_script)
    app.connect("build-finished", write_files)
    return {
        "version": "1",
        "env_version": 3,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }


def _nothing(translator: Any, node: run_place) -> None:
    raise nodes.SkipNode
