"""What all widgets of the book share: how they are bundled, shown and described.

A widget is a Python class and an ES module of the same name beside it (``rope.py``, ``rope.js``,
and ``rope.css`` if it needs styles of its own).  Python computes data with the library and fills
traits; the module draws them and computes whatever a control changes, so that nothing the reader
can do needs Python to be running.

The module imports what it needs from the drawing kit with one statement,
``import { slider, format } from "./kit.js";``.  Node can import such a file as it is (the folder's
``package.json`` tells it that they are ES modules), which is how the tests compare its functions
with the library.  A page gets a single file: :func:`bundle` puts the kit in the place of that
statement.
"""

from __future__ import annotations

import base64
import inspect
import re
from pathlib import Path
from typing import Any

import anywidget
import matplotlib as mpl
import traitlets
from matplotlib.figure import Figure

from primer import palette
from primer.notebook.figures import png, use_book_style

KIT = Path(__file__).with_name("kit.js")
KIT_CSS = Path(__file__).with_name("kit.css")

LIGHT_SELECTOR = ".primer-widget"
DARK_SELECTOR = (
    ":is(html[data-theme=dark], body[data-jp-theme-light=false], body.vscode-dark, "
    "body.vscode-high-contrast:not(.vscode-high-contrast-light)) .primer-widget"
)
"""Where the dark colors hold: on the site, in JupyterLab and in VS Code."""

_IMPORT_KIT = re.compile(r'^import \{([^}]*)\} from "\./kit\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
_COMMENTS = re.compile(r"^[ \t]*(?://.*|/\*[\s\S]*?\*/[ \t]*)?\n", re.MULTILINE)


def bundle(module: str, kit: str) -> str:
    r"""Put the kit into a module, in the place of its ``import { … } from "./kit.js";``.

    The kit becomes the body of a function that returns what it exports, so its names cannot
    collide with the module's.  Lines that hold only a comment, empty lines and indentation are
    left out: each widget on a page carries its own copy of the module.

    Parameters
    ----------
    module, kit : str
        The sources of the two ES modules.

    Returns
    -------
    str
        The source of one ES module that imports nothing.

    Raises
    ------
    ValueError
        When the module does not import the kit with exactly one such statement, imports a name
        that the kit does not export, or imports anything else.

    Examples
    --------
    >>> kit = "// Add two numbers.\nexport const add = (a, b) => a + b;\n"
    >>> print(bundle('import { add as plus } from "./kit.js";\nexport default plus(1, 2);\n', kit))
    const { add: plus } = (() => {
    const add = (a, b) => a + b;
    return { add };
    })();
    export default plus(1, 2);
    <BLANKLINE>
    """
    imports = re.findall(r"^import\b.*", module, re.MULTILINE)
    match = _IMPORT_KIT.search(module)
    if match is None or len(imports) != 1:
        raise ValueError(
            'a widget\'s module has exactly one import, `import { … } from "./kit.js";`; '
            f"this one has {imports}"
        )
    wanted = [name.strip() for name in match[1].split(",") if name.strip()]
    exported = _EXPORT.findall(kit)
    if missing := {name.split(" as ")[0] for name in wanted} - set(exported):
        raise ValueError(f"kit.js exports {exported}, but not {sorted(missing)}")
    inlined = (
        f"const {{ {', '.join(name.replace(' as ', ': ') for name in wanted)} }} = (() => {{\n"
        f"{_EXPORT.sub('', kit)}return {{ {', '.join(exported)} }};\n}})();"
    )
    whole = module[: match.start()] + inlined + module[match.end() :]
    return re.sub(r"^[ \t]+", "", _COMMENTS.sub("", whole), flags=re.MULTILINE)


class Widget(anywidget.AnyWidget):
    """A widget of the book.

    A subclass sets :attr:`description`, declares its traits and draws :meth:`picture`; its ES
    module is found by the name of its Python file.
    """

    description: str = ""
    """What the widget shows, for readers who cannot see it: the picture's alt text."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Bundle the ES module and the styles that stand beside the class's Python file."""
        if "_esm" not in vars(cls):  # anywidget derives a class for each instance, which has it
            source = Path(inspect.getfile(cls))
            styles = [palette.css(LIGHT_SELECTOR, DARK_SELECTOR), KIT_CSS.read_text("utf-8")]
            if (own := source.with_suffix(".css")).exists():
                styles.append(own.read_text("utf-8"))
            cls._esm = bundle(source.with_suffix(".js").read_text("utf-8"), KIT.read_text("utf-8"))
            cls._css = _COMMENTS.sub("", "".join(styles))
        super().__init_subclass__(**kwargs)

    def __init__(self, **state: Any) -> None:
        allowed = self.state_names()
        if unknown := sorted(set(state) - {*allowed, "layout"}):
            raise traitlets.TraitError(
                f"{type(self).__name__} has no {', '.join(unknown)}; it has {', '.join(allowed)}"
            )
        super().__init__(**state)

    @classmethod
    def state_names(cls) -> list[str]:
        """Name the traits that the book's classes add to a plain widget, in order of definition."""
        classes = [c for c in reversed(cls.__mro__) if issubclass(c, Widget)]
        return [
            name
            for c in classes
            for name, trait in vars(c).items()
            if isinstance(trait, traitlets.TraitType) and trait.metadata.get("sync")
            if not name.startswith("_")
        ]

    def picture(self) -> Figure:
        """Draw the present state with matplotlib, for places where no script runs.

        Returns
        -------
        Figure
            A figure made without pyplot, so that nobody has to close it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no picture")

    def __repr__(self) -> str:
        """Name the widget and the numbers and words among its traits; never its data."""
        state = [
            f"{name}={value!r}"
            for name in self.state_names()
            if isinstance(value := getattr(self, name), bool | int | float | str)
        ]
        return f"{type(self).__name__}({', '.join(state)})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Offer the live view, and the picture where no script runs."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        with mpl.rc_context():
            use_book_style()
            image = png(self.picture())
        data["image/png"] = base64.b64encode(image).decode()
        metadata["image/png"] = {"alt": self.description}
        return data, metadata
