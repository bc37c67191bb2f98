"""Sphinx extension: interactive figures on a static page, with no kernel, server or network.

A notebook stores the state of its ipywidgets.  MyST-NB writes that state into the page, but the
scripts it then asks for come from another site (require.js, html-manager, 1.8 MB in all).  This
extension puts one small script in their place, :file:`widget-host.js`: it reads the stored state
and shows every `anywidget <https://anywidget.dev>`_ with the module that is in the state, over http
as well as from a file on disk.  Several views of one model stay in step; boxes, ``jslink``,
``jsdlink``, sliders, labels and binary traits work; a widget that cannot be shown says so and
leaves the others alone.

Any Jupyter Book can use it: install the package and add ``primer.book.widget_host`` to
``sphinx.extra_extensions`` in ``_config.yml``.  What a widget does on the page it must do in its
JavaScript module, since there is no Python to answer.

Where no script runs, a widget whose output also has an ``image/png`` is shown as that picture, with
the ``alt`` of the output's metadata.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform

HOST = Path(__file__).with_name("widget-host.js")
VIEW = "application/vnd.jupyter.widget-view+json"


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
                kinds[VIEW] += [
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


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the script and the picture."""
    app.connect("config-inited", use_host)
    app.connect("builder-inited", copy_host)
    app.add_post_transform(PictureWithoutScript)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
