"""Sphinx extension: a page shows its widgets with the scripts and styles of today.

A notebook's saved state holds each widget's module and style sheet as they were when it was
executed.  Neither changes what Python computes, so neither is a reason to execute it again: the
page takes both from the widget's class.
"""

from __future__ import annotations

import importlib
import json
from typing import Any

from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx

from primer.book.widget_host import STATE

FRONT = ("_esm", "_css")
OURS = "primer."


def with_current_front(state: dict[str, Any]) -> dict[str, Any]:
    """Return a saved widget state with the modules and style sheets of the classes as they are now.

    Parameters
    ----------
    state : dict
        The saved state of a notebook's widgets; ``"state"`` holds a record for each model.

    Returns
    -------
    dict
        The same, but for our own widgets, which know the names of their classes.  The state given
        is left as it was.
    """
    models = {}
    for model_id, record in state["state"].items():
        traits = record.get("state", {})
        module, _, name = str(traits.get("_anywidget_id", "")).rpartition(".")
        if module.startswith(OURS):
            widget = getattr(importlib.import_module(module), name)
            traits = {**traits, **{trait: str(getattr(widget, trait)) for trait in FRONT}}
            record = {**record, "state": traits}
        models[model_id] = record
    return {**state, "state": models}


def refresh(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Refresh the widget state of a page before it is written."""
    if app.builder.format != "html":
        return
    scripts = NbMetadataCollector.get_js_files(app.env, page)
    for name, (path, script) in scripts.items():
        if script.get("type") == STATE:
            body = json.dumps(with_current_front(json.loads(script["body"])))
            scripts[name] = (path, {**script, "body": body})


def setup(app: Sphinx) -> dict[str, Any]:
    """Come before the widget host, which takes large data out of the state at 400."""
    app.connect("html-page-context", refresh, priority=390)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
