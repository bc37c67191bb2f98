"""What all widgets of the book share: how they are bundled, shown and described.

A widget is a Python class and an ES module of the same name beside it (``rope.py``, ``rope.js``,
and ``rope.css`` if it needs styles of its own).  Python computes data with the library and fills
traits; the module draws them and computes whatever a control changes, so that nothing the reader
can do needs Python to be running.

A module imports what it needs from the modules beside it, the drawing kit first of all, with
statements like ``import { slider, format } from "./kit.js";``, so that each file holds one idea.
Node can import such files as they are (the folder's ``package.json`` tells it that they are ES
modules), which is how the tests compare their functions with the library.  A page gets a single
file: :func:`bundle` puts the imported modules in front of the widget's own.
"""

from __future__ import annotations

import base64
import inspect
import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import anywidget
import matplotlib as mpl
import traitlets
from matplotlib.figure import Figure

from primer import palette
from primer.inputs import one_of
from primer.notebook.figures import png, use_book_style

KIT = Path(__file__).with_name("kit.js")
KIT_CSS = Path(__file__).with_name("kit.css")

LIGHT_SELECTOR = ".primer-widget"
DARK_SELECTOR = (
    ":is(html[data-theme=dark], body[data-jp-theme-light=false], body.vscode-dark, "
    "body.vscode-high-contrast:not(.vscode-high-contrast-light)) .primer-widget"
)
"""Where the dark colors hold: on the site, in JupyterLab and in VS Code."""

SCHEMES = (
    f"{LIGHT_SELECTOR} {{ color-scheme: light; }}\n{DARK_SELECTOR} {{ color-scheme: dark; }}\n"
)
"""Tell the browser which theme its own controls belong to: not every host does."""

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_OTHER_IMPORT = re.compile(r"^import\b.*|\bimport\(.*", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
_OTHER_EXPORT = re.compile(r"^export\b.*", re.MULTILINE)
_COMMENTS = re.compile(r"^[ \t]*(?://.*|/\*[\s\S]*?\*/[ \t]*)?\n", re.MULTILINE)
_LAST_COMMENT = re.compile(
    r"(?<=[;,{}()\]]) // [^\"'`\n]*$", re.MULTILINE
)  # surely not in a string


def bundle(module: str, siblings: Mapping[str, str]) -> str:
    r"""Join a module and all modules it imports, directly or through others, to a single one.

    Each imported module becomes the body of a function that returns what it exports, so that its
    names cannot collide with another's; it stands once, before those that import it.  Comments,
    empty lines and indentation are left out: each widget on a page carries its own copy of the
    bundle.

    Parameters
    ----------
    module : str
        The source of the widget's ES module.
    siblings : mapping of str to str
        The sources of the modules that may be imported, by their names without ``.js``.

    Returns
    -------
    str
        The source of one ES module that imports nothing.

    Raises
    ------
    ValueError
        When a module imports a module or a name that is not there, imports in any other way than
        ``import { … } from "./name.js";``, imports itself by way of others, or, being imported,
        exports in any other way than by ``export`` before a function, a constant or a class.

    Examples
    --------
    >>> kit = "// Add two numbers.\nexport const add = (a, b) => a + b;\n"
    >>> source = 'import { add as plus } from "./kit.js";\nexport default plus(1, 2);\n'
    >>> print(bundle(source, {"kit": kit}))
    const $kit = (() => {
    const add = (a, b) => a + b;
    return { add };
    })();
    const { add: plus } = $kit;
    export default plus(1, 2);
    <BLANKLINE>
    """
    inlined: dict[str, str] = {}  # each imported module as a function, in the order of their needs

    def join(source: str, importers: tuple[str, ...]) -> str:
        """Inline what a module imports; return it with constants in the place of its imports."""
        if other := _OTHER_IMPORT.search(_IMPORT.sub("", source)):
            raise ValueError(
                'a widget\'s modules import by `import { … } from "./name.js";` only, '
                f"not by `{other[0]}`"
            )
        return _IMPORT.sub(lambda found: _constants(found[1], inline(found[2], importers)), source)

    def inline(name: str, importers: tuple[str, ...]) -> tuple[str, list[str]]:
        """Inline a module, once, unless it is there; return its name and what it exports."""
        if name not in siblings:
            raise ValueError(f"there is no {name}.js to import, but {sorted(siblings)}")
        if name in importers:
            raise ValueError(f"modules import each other: {' → '.join([*importers, name])}")
        exported = _EXPORT.findall(siblings[name])
        if name not in inlined:
            body = _EXPORT.sub("", join(siblings[name], (*importers, name)))
            if other := _OTHER_EXPORT.search(body):
                raise ValueError(f"{name}.js is imported, so it cannot have `{other[0]}`")
            inlined[name] = (
                f"const ${name} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();\n"
            )
        return name, exported

    own = join(module, ())
    whole = "".join(inlined.values()) + own
    return re.sub(
        r"^[ \t]+", "", _LAST_COMMENT.sub("", _COMMENTS.sub("", whole)), flags=re.MULTILINE
    )


def _constants(names: str, source: tuple[str, list[str]]) -> str:
    """Write the statement that takes the names of an import from an inlined module."""
    module, exported = source
    wanted = [name.strip().split(" as ") for name in names.split(",") if name.strip()]
    if missing := {name for name, *_ in wanted} - set(exported):
        raise ValueError(f"{module}.js exports {exported}, but not {sorted(missing)}")
    return f"const {{ {', '.join(': '.join(name) for name in wanted)} }} = ${module};"


class Number(traitlets.Float[float, Any]):
    """A trait that holds a number between two bounds; NaN, which passes them, is refused."""

    def validate(self, obj: Any, value: Any) -> float:
        """Return the number, or raise a ``TraitError`` that says what is wrong with it."""
        number = float(super().validate(obj, value))
        if math.isnan(number):
            raise traitlets.TraitError(f"{self.name} must be a number, got NaN")
        return number


def known(trait: str, name: object, names: Collection[object]) -> str:
    """Return the name proposed for a trait, or raise traitlets' error that says which there are."""
    try:
        return str(one_of(trait, name, names))
    except ValueError as error:
        raise traitlets.TraitError(str(error)) from None


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
            styles = [
                palette.css(LIGHT_SELECTOR, DARK_SELECTOR),
                SCHEMES,
                KIT_CSS.read_text("utf-8"),
            ]
            if (own := source.with_suffix(".css")).exists():
                styles.append(own.read_text("utf-8"))
            modules = [KIT, *source.parent.glob("*.js")]
            siblings = {module.stem: module.read_text("utf-8") for module in modules}
            cls._esm = bundle(siblings[source.stem], siblings)
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
