"""Names for the models of a notebook's widgets that are the same in every run.

A kernel names each model by chance, and the page carries the names: two builds of one book would
differ.  Here the models are numbered in the order in which the notebook made them.
"""

from __future__ import annotations

import hashlib
from typing import Any

from nbformat import NotebookNode

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
_REFERENCE = "IPY_MODEL_"
"""What stands before the name of a model in the state of another."""


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a piece of a widget's state with the models that it refers to by their new names.

    Examples
    --------
    >>> renamed({"layout": "IPY_MODEL_ab", "children": ["IPY_MODEL_cd", "ab"]}, {"ab": "1"})
    {'layout': 'IPY_MODEL_1', 'children': ['IPY_MODEL_cd', 'ab']}
    """
    if isinstance(value, dict):
        return {key: renamed(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, names) for inner in value]
    if isinstance(value, str) and value.startswith(_REFERENCE):
        old = value.removeprefix(_REFERENCE)
        return _REFERENCE + names.get(old, old)
    return value


def rename_models(notebook: NotebookNode, origin: str) -> None:
    """Name the models of a notebook anew, in place, by where it comes from and their order.

    Parameters
    ----------
    notebook : NotebookNode
        With the state of its widgets.
    origin : str
        What the names are made of besides the order: two notebooks may come into one page.
    """
    saved = notebook.metadata.get("widgets", {}).get(STATE)
    if not saved:
        return
    names = {
        old: hashlib.sha256(f"{origin} {number}".encode()).hexdigest()[:32]
        for number, old in enumerate(saved["state"])
    }
    models = {}
    for old, record in saved["state"].items():
        record["state"] = renamed(record["state"], names)
        models[names[old]] = record
    saved["state"] = models
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            view = output.get("data", {}).get(VIEW)
            if view:
                view["model_id"] = names.get(view["model_id"], view["model_id"])
