"""A plugin of pytest that holds every call of a topic against its hints: types, shapes, results.

``pytest -p typed``, with this folder in ``PYTHONPATH``.  Tests of the library take up to twice as
long under it, and a reader's library runs without it.  So `make test` lets it check the docstrings'
examples, in which public functions are called, and the wrong calls; `make fuzz` all properties and
simulations.
"""

from pathlib import Path
from pkgutil import iter_modules

from jaxtyping import install_import_hook

LIBRARY = Path(__file__).parents[2] / "lib"
# Not what all call, millions of times, to check the same (`inputs`), and not what makes the site of
# it (`book`).
UNCHECKED = {"inputs", "book"}
# An int may stand where a float is annotated.
install_import_hook(
    [
        *(
            f"primer.{p.name}"
            for p in iter_modules([LIBRARY / "primer"])
            if p.name not in UNCHECKED
        ),
        *(f"studies.{p.name}" for p in iter_modules([LIBRARY / "studies"]) if p.ispkg),
    ],
    "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))",
)
