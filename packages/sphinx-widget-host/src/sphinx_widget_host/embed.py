"""Sphinx extension: every widget also as one file, for slides and for other people's pages.

Under each widget of a page stands a quiet fold, "Embed", with a line to copy and a file to
download.  The file, :file:`embed/<page>/<widget>.html`, holds all that the widget needs: the host,
and the saved state with its module, its styles and its data.  It is alive from disk and on a
server, in a frame from 300 px on, light or dark as the viewer prefers, or as ``#light`` or
``#dark`` at the end of its address says.  Its own policy forbids it to ask anything of the network
and to run any script but its own.  The picture for where no script runs is left out: it would
weigh more than all the rest.

With ``html_baseurl`` the line to copy names the file's address on the site, and the file links to
the section that it comes from; without, the line expects the file beside the page that shows it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urljoin

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

from sphinx_widget_host import HOST, STATE, VIEW

FOLDER = "embed"
USUAL_HEIGHT = 640
"""Pixels of a frame whose widget's height nobody measured."""
BELOW = 72
"""Pixels of a frame for the one or two lines below the widget that say where it comes from."""
PAGE = Path(__file__).with_name("widget-alone.html")
THEME = Path(__file__).with_name("widget-alone.js")
STYLE = Path(__file__).with_name("widget-embed.css")

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def file_stem(record: dict[str, Any]) -> str:
    """Name a widget's file after its class.

    Examples
    --------
    >>> file_stem({"state": {"_anywidget_id": "shop.widgets.CashRegister"}})
    'cash-register'
    >>> file_stem({"state": {}})
    'widget'
    """
    name = record["state"].get("_anywidget_id", "Widget")
    return _WORD.sub("-", name.rpartition(".")[2]).lower()


def page_of(
    record: dict[str, Any],
    *,
    title: str,
    origin: str,
    language: str = "en",
    address: str = "",
    description: str = "",
) -> str:
    """Write a widget as a page of its own that needs no other file.

    Parameters
    ----------
    record : dict
        What the saved state of the notebook's widgets holds of the one that is shown.
    title : str
        What the widget is about: the title of the page.
    origin : str
        The book that the widget comes from; it stands below the widget, before the title.
    language : str
        The language of the page.
    address : str
        Where the widget stands in that book; empty when the book has no address.
    description : str
        What is to be seen, for where no script runs.

    Returns
    -------
    str
        The page.
    """
    script = THEME.read_text("utf-8") + HOST.read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    source = html.escape(" · ".join(dict.fromkeys([origin, *title.split(" · ")])))
    if address:
        source = f'<a href="{html.escape(address)}" target="_blank" rel="noopener">{source}</a>'
    return Template(PAGE.read_text("utf-8")).substitute(
        language=html.escape(language),
        digest=digest,
        title=f"{html.escape(title)} — {html.escape(origin)}",
        view=_data(VIEW, {"model_id": "shown"}),
        description=html.escape(description),
        source=source,
        state=_data(STATE, {"state": {"shown": record}}),
        script=script,
    )


def _data(kind: str, value: Any) -> str:
    """Write a block of JSON that nothing in it can end."""
    text = json.dumps(value).replace("<", r"\u003c")
    return f'<script type="{kind}">{text}</script>'


def iframe(address: str, title: str, height: int = USUAL_HEIGHT) -> str:
    """Write the line that shows a widget in another page.

    Examples
    --------
    >>> iframe("till.html", "A till", 300).split(" style")[0]
    '<iframe src="till.html" title="A till" width="100%" height="300"'
    """
    return (
        f'<iframe src="{html.escape(address)}" title="{html.escape(title)}" width="100%" '
        f'height="{height}" style="border: 0" loading="lazy"></iframe>'
    )


def heights_of(app: Sphinx, page: str, stem: str) -> dict[str, int]:
    """Return how high a widget is in columns of several widths, if it was measured.

    Parameters
    ----------
    app : Sphinx
        The build; ``widget_heights`` names the file, see :mod:`sphinx_widget_host.places`.  Where
        there is none, as before the first measurement, no height is known.
    page, stem : str
        The document, and the name of the widget's file.
    """
    file = Path(app.srcdir) / app.config.widget_heights
    known = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return dict(known.get(f"{page.rpartition('/')[2]}/{stem}", {}))


def frame_height(heights: dict[str, int]) -> int:
    """Return the height of a frame as wide as a slide, in which nothing scrolls.

    Examples
    --------
    >>> frame_height({"358": 1204, "784": 690}), frame_height({})
    (762, 640)
    """
    return heights[max(heights, key=int)] + BELOW if heights else USUAL_HEIGHT


def size(data: bytes) -> str:
    """Say how large a file is.

    Examples
    --------
    >>> size(bytes(61_700)), size(bytes(1_500_000))
    ('62 kB', '1.5 MB')
    """
    return f"{len(data) / 1e6:.1f} MB" if len(data) >= 1e6 else f"{len(data) / 1e3:.0f} kB"


def offer(file: str, address: str, title: str, data: bytes, height: int = USUAL_HEIGHT) -> str:
    """Write the fold below a widget.

    Parameters
    ----------
    file : str
        The widget's file, as the page links to it.
    address : str
        Its address on the site; empty when the book has none.
    title : str
        What the widget is about.
    data : bytes
        What is in the file.
    height : int
        Pixels of a frame in which nothing scrolls.
    """
    line = html.escape(iframe(address or file.rpartition("/")[2], title, height))
    link = f'<a href="{html.escape(file)}" download>the file</a> ({size(data)})'
    how = (
        f"Copy this line into your page or slides, or take {link} along: it needs no network."
        if address
        else f"Put {link} beside your page or slides, and copy this line into them; it needs no "
        "network."
    )
    return (
        '<details class="widget-embed"><summary>Embed</summary>\n'
        f"<p>{how} The figure is light or dark as each viewer prefers; <code>#light</code> or "
        "<code>#dark</code> behind <code>.html</code> settles it.</p>\n"
        f'<div class="highlight"><pre>{line}</pre></div>\n'
        "</details>"
    )


class OfferEmbedding(SphinxPostTransform):
    """Write the file of each widget of a page, and offer it below the widget."""

    default_priority = 2  # the pictures are still beside the widgets
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Look at each widget that can live without a kernel."""
        page = self.env.docname
        records = saved_records(self.env, page)
        target = Path(self.app.outdir) / FOLDER / page
        named = list(named_widgets(self.document, records))
        for bundle, kinds, model, stem in named:
            record = records[model]
            section, anchor = _section_of(bundle)
            title = " · ".join(dict.fromkeys([self.env.titles[page].astext(), section]))
            site, file = self.config.html_baseurl, f"{FOLDER}/{page}/{stem}.html"
            here = self.app.builder.get_target_uri(page)
            text = page_of(
                record,
                title=title,
                origin=self.config.html_title,
                language=self.config.language,
                address=urljoin(site, f"{here}#{anchor}") if site else "",
                description=_described(kinds),
            ).encode()
            target.mkdir(parents=True, exist_ok=True)
            (target / f"{stem}.html").write_bytes(text)
            height = frame_height(heights_of(self.app, page, stem))
            address = urljoin(site, file) if site else ""
            fold = offer(relative_uri(here, file), address, title, text, height)
            kinds[VIEW] += nodes.raw("", fold, format="html")
        for old in target.glob("*.html"):
            if old.stem not in {stem for _, _, _, stem in named}:
                old.unlink()


def named_widgets(
    document: nodes.document, records: dict[str, Any]
) -> Iterator[tuple[nodes.container, dict[str, nodes.container], str, str]]:
    """Find the widgets of a page that can live without a kernel.

    Parameters
    ----------
    document : document
        The page, while all formats of an output are in it.
    records : dict
        What its notebook saved of its widgets; see :func:`saved_records`.

    Yields
    ------
    container, dict, str, str
        The output, its formats, the id of the model, and the name of its file: two models of one
        class are numbered.
    """
    stems: dict[str, str] = {}
    for bundle in document.findall(nodes.container):
        if bundle.get("nb_element") != "mime_bundle":
            continue
        kinds = {child["mime_type"]: child for child in bundle.children}
        model = _model_of(kinds[VIEW]) if VIEW in kinds else ""
        record = records.get(model)
        if record is None or not record["state"].get("_esm"):
            continue
        if model not in stems:
            stem = file_stem(record)
            alike = [one for one in stems.values() if re.fullmatch(rf"{stem}(-\d+)?", one)]
            stems[model] = f"{stem}-{len(alike) + 1}" if alike else stem
        yield bundle, kinds, model, stems[model]


def _described(kinds: dict[str, nodes.container]) -> str:
    """Return the alternative text of a widget's picture."""
    pictures = kinds["image/png"].findall(nodes.image) if "image/png" in kinds else ()
    return next((str(picture.get("alt", "")) for picture in pictures), "")


def _model_of(view: nodes.container) -> str:
    """Return the id of the model that a view shows."""
    text = view.astext()
    return str(json.loads(text[text.index(">") + 1 : text.index("</script")])["model_id"])


def _section_of(node: nodes.Node) -> tuple[str, str]:
    """Return the title and the anchor of the section around a node."""
    while not isinstance(node, nodes.section):
        node = node.parent
    return node[0].astext(), node["ids"][0]


def saved_records(env: BuildEnvironment, page: str) -> dict[str, Any]:
    """Return what a page's notebook saved of its widgets, by the ids of their models."""
    for _, script in NbMetadataCollector.get_js_files(env, page).values():
        if script.get("type") == STATE:
            return dict(json.loads(script["body"])["state"])
    return {}


def copy_style(app: Sphinx) -> None:
    """Copy the style of the fold before the first page is written, which names it."""
    if app.builder.format == "html":
        target = Path(app.outdir) / "_static"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(STYLE, target / STYLE.name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the files beside what the host needs."""
    app.setup_extension("sphinx_widget_host")
    app.add_config_value("widget_heights", "", "html")
    app.add_post_transform(OfferEmbedding)
    app.connect("builder-inited", copy_style)
    app.add_css_file(STYLE.name)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
