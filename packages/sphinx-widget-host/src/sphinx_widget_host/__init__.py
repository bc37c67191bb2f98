"""Sphinx extension: interactive figures on a static page, with no kernel, server or network.

A notebook stores the state of its widgets.  MyST-NB writes that state into the page, but the
scripts it then asks for come from another site (require.js, html-manager, 1.8 MB in all).  This
extension puts one small script in their place, :file:`widget-host.js`: it reads the stored state
and shows every `anywidget <https://anywidget.dev>`_ with the module that is in the state, over http
as well as from a file on disk.  Several views of one model stay in step, binary traits arrive as
they do in JupyterLab, and a widget that cannot be shown says so and leaves the others alone.

Any Jupyter Book, and any Sphinx site with MyST-NB, can use it: see the package's README.  What a
widget does on the page it must do in its JavaScript module, since there is no Python to answer.

Large binary traits, say the weights of a model, would make every page that shows them slow to
open.  So they do not stay in the page: each is written once, as a script of its own in
:file:`_static/widget-data`, named by the hash of its content.  The host loads it when the widget
comes near the view of a reader, whom the first movement, key or touch betrays, once for all widgets
that share it, and then starts the widget; until then its picture stands there, and a sentence says
so, as it does when the data cannot be loaded.  A script it is because a page opened from
disk may load no other file.  A widget need not know any of this: its trait is a
``traitlets.Bytes``, and its module finds a ``DataView``, here as in JupyterLab.

Data that few readers ask for can wait longer: the binary traits named in a model's ``_spec.later``
are loaded when the module calls ``model.need(path)`` for one that it does not find.  That throws an
error whose words say how the loading stands; when the data are there, the trait changes.

Modules and styles leave the page in the same way, in two pieces where a class says with a line
what it shares with others (:data:`SHARED_ABOVE`): a drawing kit of many widgets travels once for
all pages.

Where no script runs, a widget whose output also has an ``image/png`` is shown as that picture, with
the ``alt`` of the output's metadata.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform

HOST = Path(__file__).with_name("widget-host.js")
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
LARGE = 100_000
"""Characters of base64 from which on a binary trait leaves the page."""

SOURCE = 2_000
"""Characters from which on a module, its styles or a binary trait for later leave the page."""

SHARED_ABOVE = "/*! what stands above is shared by all widgets */\n"
"""The line with which a class ends what all its modules, or all its styles, have in common."""


class PictureWithoutScript(SphinxPostTransform):
    """Keep a widget's picture beside it, for browsers that run no script."""

    default_priority = 3  # before MyST-NB, at 4, keeps one of an output's formats
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Move the picture of each widget into the widget's own container."""
        for bundle in self.document.findall(nodes.container):
            if bundle.get("nb_element") != "mime_bundle":
                continue
            kinds = {child["mime_type"]: child for child in bundle.children}
            if VIEW in kinds and "image/png" in kinds:
                kinds[VIEW][1:1] = [  # the host looks for it directly behind the view
                    nodes.raw("", "<noscript>", format="html"),
                    *kinds["image/png"].children,
                    nodes.raw("", "</noscript>", format="html"),
                ]


def use_host(app: Sphinx, config: Config) -> None:
    """Replace the scripts that MyST-NB adds to pages with widgets."""
    config.nb_ipywidgets_js = {HOST.name: {"async": "async"}}


def copy_host(app: Sphinx) -> None:
    """Copy the script before the first page is written, which names it with its checksum."""
    if app.builder.format == "html":
        target = Path(app.outdir) / "_static"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HOST, target / HOST.name)


def keep_shown(state: dict[str, Any], page: str) -> dict[str, Any]:
    """Leave out the models that a page does not show, such as those of cells without output.

    Parameters
    ----------
    state : dict
        The saved state of a notebook's widgets, as nbclient and JupyterLab write it: ``"state"``
        holds a record for each model that was made.
    page : str
        The HTML in which the views stand.

    Returns
    -------
    dict
        The state of the models that have a view.  The state given is left as it was.

    Examples
    --------
    >>> view = f'<script type="{VIEW}">{{"model_id": "b"}}</script>'
    >>> keep_shown({"state": {"a": {}, "b": {"state": {}}}}, view)
    {'state': {'b': {'state': {}}}}
    """
    shown = set(re.findall(rf'{re.escape(VIEW)}">[^<]*"model_id":\s*"([^"<]+)"', page))
    return {**state, "state": {id: one for id, one in state["state"].items() if id in shown}}


def move_large_buffers(state: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Write the large binary traits of a saved widget state to files of their own.

    Parameters
    ----------
    state : dict
        The saved state of a notebook's widgets, as nbclient and JupyterLab write it: ``"state"``
        holds a record for each model, with its binary traits as base64 in ``"buffers"``.
    folder : Path
        Where the files go.  It is made when there is something to write.

    Returns
    -------
    dict
        The state with ``{"path", "encoding": "script", "data": name of the file}`` in the place of
        each large buffer.  The state given is left as it was.
    """

    def moved(buffer: dict[str, Any], later: list[str]) -> dict[str, Any]:
        data, least = buffer["data"], SOURCE if buffer["path"][0] in later else LARGE
        if buffer.get("encoding") != "base64" or len(data) < least:
            return buffer
        return {**buffer, "encoding": "script", "data": _write(folder, f'"{data}"')}

    models = {
        id: {**record, "buffers": [moved(buffer, _later(record)) for buffer in record["buffers"]]}
        if record.get("buffers")
        else record
        for id, record in state["state"].items()
    }
    return {**state, "state": models}


def _later(record: dict[str, Any]) -> list[str]:
    """Name the traits whose data a model's module asks for when it needs them."""
    spec = record["state"].get("_spec")
    return spec.get("later", []) if isinstance(spec, dict) else []


def share_sources(state: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Write the modules and styles of a saved widget state to files that pages share.

    A source is cut behind each line :data:`SHARED_ABOVE`, so that what several widgets have in
    common travels once for all of them, and once for all pages.

    Parameters
    ----------
    state : dict
        The saved state, as for :func:`move_large_buffers`.
    folder : Path
        Where the files go.  It is made when there is something to write.

    Returns
    -------
    dict
        The state without the sources of :data:`SOURCE` characters and more, and with their pieces,
        ``{"_esm": [names of files]}``, beside it.  The state given is left as it was.
    """

    def shared(record: dict[str, Any]) -> dict[str, Any]:
        inner = record["state"]
        long = {
            name: inner[name].split(SHARED_ABOVE)
            for name in ("_esm", "_css")
            if isinstance(inner.get(name), str) and len(inner[name]) >= SOURCE
        }
        if not long:
            return record
        names = {
            name: [
                _write(folder, json.dumps(piece + SHARED_ABOVE * (piece is not pieces[-1])))
                for piece in pieces
            ]
            for name, pieces in long.items()
        }
        rest = {name: value for name, value in inner.items() if name not in long}
        return {**record, "state": rest, "pieces": names}

    models = {id: shared(record) for id, record in state["state"].items()}
    return {**state, "state": models}


def _write(folder: Path, literal: str) -> str:
    """Write a JavaScript literal to a file that hands it to the host; return the file's name."""
    name = hashlib.sha256(literal.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    script = f'(window.widgetData ??= {{}})["{name}"] = {literal};\n'
    (folder / f"{name}.js").write_text(script, "ascii")
    return name


def lighten_page(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Take out of a page's widget state what can stand elsewhere, before MyST-NB writes it."""
    if app.builder.format != "html":
        return
    scripts = NbMetadataCollector.get_js_files(app.env, page)
    for name, (path, script) in scripts.items():
        if script.get("type") == STATE:
            state = json.loads(script["body"])
            folder = Path(app.outdir) / "_static" / "widget-data"
            shown = keep_shown(state, context.get("body", ""))
            light = share_sources(move_large_buffers(shown, folder), folder)
            body = json.dumps(light).replace("</", r"<\/")  # nothing in it may end the script
            scripts[name] = (path, {**script, "body": body})


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the script, the files of large data and the picture."""
    app.connect("config-inited", use_host)
    app.connect("builder-inited", copy_host)
    app.connect("html-page-context", lighten_page, priority=400)  # MyST-NB writes the state at 500
    app.add_post_transform(PictureWithoutScript)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
