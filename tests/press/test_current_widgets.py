"""A page shows its widgets with the scripts and styles of today, whenever its notebook ran."""

import sphinx_widget_host
from press.pages.current_widgets import with_current_front
from primer.widgets import RopeRotation, base

OURS = {"_anywidget_id": "primer.widgets.rope.RopeRotation", "_esm": "old", "_css": "old", "m": 3}


def test_ours_are_refreshed_and_keep_what_python_computed():
    saved = {"version_major": 2, "state": {"a": {"model_name": "AnyModel", "state": OURS}}}
    fresh = with_current_front(saved)
    state = fresh["state"]["a"]["state"]
    assert state == {**OURS, "_esm": RopeRotation._esm, "_css": RopeRotation._css}
    assert " as default}" in state["_esm"]  # what esbuild makes of `export default`
    assert fresh["version_major"] == 2
    assert saved["state"]["a"]["state"] == OURS  # what was given is left as it was


def test_others_are_left_alone():
    other = {"_anywidget_id": "elsewhere.Widget", "_esm": "theirs"}
    saved = {"state": {"a": {"state": other}, "b": {"model_name": "LayoutModel"}}}
    assert with_current_front(saved) == saved


def test_the_line_between_the_pieces_is_the_one_that_widgets_write():
    assert base.SHARED_ABOVE == sphinx_widget_host.SHARED_ABOVE
