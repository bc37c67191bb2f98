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
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_widget_host import STATE

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


class CurrentWidgets(SphinxPostTransform):
    """Refresh the widget state of a page before anything takes it from there."""

    default_priority = 1
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Look for the state among what MyST-NB will write into the page."""
        scripts = NbMetadataCollector.get_js_files(self.env, self.env.docname)
        for name, (path, script) in scripts.items():
            if script.get("type") == STATE:
                body = json.dumps(with_current_front(json.loads(script["body"])))
                scripts[name] = (path, {**script, "body": body})


def setup(app: Sphinx) -> dict[str, Any]:
    """Come before the widgets' own files are written and large data leaves the state."""
    app.add_post_transform(CurrentWidgets)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
