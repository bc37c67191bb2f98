"""Press Run at the cells of the built book's pages, and compare what they print with the book.

``python tests/tools/pressed.py chapters/08-positions …`` opens each page from disk with the network
cut off, presses Run at every cell in order, and prints a line for each: the cell, whether it prints
what is stored, the seconds from the press to the answer, and the reason where it does not.  Without
names it takes all pages that run.  ``--patience=900`` waits so many seconds for a cell.  ``--keep``
writes how long the slow ones take, the least of what was ever measured, into a file for the pages,
which then say so before such a cell begins.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from chromium import ARGUMENTS, find_chromium
from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from press.execution.cache import read
from sphinx_run_in_page.in_page.reading import name_of
from sphinx_run_in_page.in_page.slices import Unit, needed

BOOK = Path(__file__).parents[2]
SITE = BOOK / "_build/html"
PATIENCE = 180  # seconds that a run may take on a machine that does much else
LONG = 45
"""Seconds after which a cell that still runs counts as one that takes too long."""

SECONDS = BOOK / "lib/press/pages/run_seconds.json"
"""How long code takes in a page, by its name: ``run_seconds`` in ``_config.yml``."""
SLOW = 2
"""Seconds from which on that is kept."""

TRY_OUT = """([place, code]) => new Promise(done => {
  document.addEventListener("run-in-page", ({ detail }) => done(detail), { once: true });
  place = document.querySelector(place);
  place.dataset.changed = code;
  place.querySelector("button").click();
})"""

EQUAL, DIFFERS, REFUSED, TOO_LONG = "equal", "differs", "refused", "takes too long"


def pages() -> list[str]:
    """List the pages of the built site that have cells to run; none where it was built without."""
    return sorted(
        path.relative_to(SITE).with_suffix("").as_posix()
        for path in [*SITE.glob("chapters/*.html"), *SITE.glob("chapters/appendix/*.html")]
        if 'class="run-place"' in path.read_text("utf-8")
    )


class Outcome(NamedTuple):
    """How a cell ran.

    Parameters
    ----------
    cell : str
        Its id in the notebook.
    kind : str
        ``exercise``, ``solution``, ``figure``, or nothing for a learner's.
    how : str
        ``EQUAL``, ``DIFFERS``, ``REFUSED`` or ``TOO_LONG``.
    reason : str
        What it printed, the error, or the cell that it needs.
    seconds : float
        From the press to the answer.
    own : float
        What the cell itself took, without what it needs and what was loaded; 0 where unknown.
    """

    cell: str
    kind: str
    how: str
    reason: str
    seconds: float
    own: float = 0.0


class Pressed:
    """A page of the site in which cells are run.

    Parameters
    ----------
    page : Page
        A page of a browser.
    name : str
        Where in the site it is, ``chapters/08-positions``.
    """

    def __init__(self, page: Page, name: str) -> None:
        self.page, self.name = page, name
        page.add_init_script(
            "window.results = {}; document.addEventListener('run-in-page', ({target, detail}) => {"
            " window.results[target.dataset.cell] = detail; });"
        )
        page.goto((SITE / f"{name}.html").as_uri())

    def places(self) -> list[str]:
        """List the numbers of the cells that can run."""
        return self.page.evaluate(
            "[...document.querySelectorAll('.run-place')].map(place => place.dataset.cell)"
        )

    def place(self, cell: str) -> str:
        """Return what selects the place of a cell."""
        return f".run-place[data-cell='{cell}']"

    def uncover(self, cell: str) -> None:
        """Open the folds around a cell."""
        self.page.evaluate(
            """place => { for (let one = place; one; one = one.parentElement)
                 if (one.matches("details")) one.open = true; }""",
            self.page.query_selector(self.place(cell)),
        )

    def write(self, cell: str, code: str) -> None:
        """Write other code into the field of a cell."""
        self.uncover(cell)
        field = self.page.locator(f"{self.place(cell)} .cm-content")
        if not field.is_visible():  # it stays open once it was opened
            self.page.locator(f"{self.place(cell)} button", has_text="Change").click()
        field.fill(code)

    def press(self, cell: str) -> None:
        """Press Run at a cell."""
        self.uncover(cell)
        self.page.evaluate("cell => { delete window.results[cell]; }", cell)
        self.page.locator(f"{self.place(cell)} button").first.click()

    def answer(self, cell: str, patience: float = PATIENCE) -> dict[str, Any]:
        """Wait for what comes of a run.

        Raises
        ------
        TimeoutError
            When it takes longer than so many seconds.
        """
        self.page.wait_for_function(
            "cell => window.results[cell]", arg=cell, timeout=1000 * patience
        )
        return self.page.evaluate("cell => window.results[cell]", cell)

    def run(self, cell: str, code: str | None = None) -> dict[str, Any]:
        """Press Run at a cell, after writing other code into it; return what came of it."""
        if code is not None:
            self.write(cell, code)
        self.press(cell)
        return self.answer(cell)

    def try_out(self, cell: str, code: str) -> dict[str, Any]:
        """Run other code in a cell, however long, many times faster than by hand."""
        return self.page.evaluate(TRY_OUT, [self.place(cell), code])

    def stop(self, cell: str) -> None:
        """Press Stop at a cell that runs."""
        self.page.locator(f"{self.place(cell)} .run-stop").click()
        self.answer(cell)

    def status(self, cell: str) -> str:
        """Return what a cell says of its run."""
        return self.page.text_content(f"{self.place(cell)} [role=status]") or ""

    def drawings(self, cell: str, part: str) -> int:
        """Count the pictures in a part of a cell: what is stored, or what it showed anew."""
        return self.page.eval_on_selector(
            self.place(cell),
            "(place, part) => place.closest('.cell').querySelectorAll(`${part} img`).length",
            part,
        )

    def known(self) -> dict[str, Any]:
        """Return what the build wrote about the page: its cells, and what needs what."""
        return json.loads(delivered(SITE / f"run/cells/{self.name.replace('/', '-')}.js"))

    def outcome(self, cell: str, ids: Sequence[str], kind: str, patience: float) -> Outcome:
        """Run a cell as it is printed, and compare; stop it when it takes longer than that."""
        name, began = ids[int(cell)], time.monotonic()
        self.press(cell)
        try:
            answer = self.answer(cell, patience)
        except TimeoutError:
            self.stop(cell)
            return Outcome(name, kind, TOO_LONG, f"more than {patience:.0f} s", patience)
        seconds = time.monotonic() - began
        said, own = self.status(cell), answer.get("seconds", 0.0)
        if answer.get("error") or "printed" not in answer:
            inside = answer.get("inside")
            where = "" if inside in (None, int(cell)) else f"in {ids[inside]}: "
            reason = where + (answer.get("error") or said)
            return Outcome(name, kind, REFUSED, reason, seconds)
        if "something else" in said:
            return Outcome(name, kind, DIFFERS, difference(answer), seconds, own)
        if self.drawings(cell, ".cell_output") and not self.drawings(cell, ".run-out"):
            return Outcome(name, kind, DIFFERS, "draws nothing", seconds, own)
        return Outcome(name, kind, EQUAL, "", seconds, own)

    def outcomes(self, long: Collection[str] = (), patience: float = LONG) -> Iterator[Outcome]:
        """Run all cells in order.

        Parameters
        ----------
        long : collection of str
            Ids of cells that are known to take too long.  They are left out, and so is what needs
            them or another cell that was found to take too long.
        patience : float
            Seconds after which a cell counts as one that takes too long.
        """
        known, ids = self.known(), ids_of(self.name)
        units = [Unit.from_data(one) for one in known["units"]]
        waits = {ids.index(one) for one in long}
        for cell in self.places():
            kind = known["cells"][int(cell)]["kind"]
            if waits & waiting(units, int(cell)):
                continue
            ran = self.outcome(cell, ids, kind, patience)
            if ran.how == TOO_LONG:
                waits.add(int(cell))
            yield ran


def ids_of(name: str) -> list[str]:
    """List the ids of a page's code cells, in whose order its places are numbered."""
    notebook, text = BOOK / f"{name}.ipynb", BOOK / f"{name}.md"
    cells = read(notebook if notebook.is_file() else text).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    return [cell.id if notebook.is_file() else str(n) for n, cell in enumerate(code)]


def waiting(units: Sequence[Unit], cell: int) -> set[int]:
    """Return the numbers of the cells that run when a cell of a page is run first, itself too."""
    own = next(unit for unit in units if unit.cell == cell)
    return {cell, *(one.cell for one in needed(units, cell, own.uses, own.packs))}


def delivered(script: Path) -> str:
    """Return the JSON that a script of the site hands to its page."""
    text = script.read_text("utf-8")
    return text[text.index("{") : text.rindex("}") + 1]


def difference(answer: dict[str, Any]) -> str:
    """Return the first line that is printed other than it is stored."""
    now, then = (
        [line.rstrip() for line in answer[key].splitlines() if line.strip() and line[:2] != "~ "]
        for key in ("printed", "printedThen")
    )
    for one, other in zip(now, then, strict=False):
        if one != other:
            return f"{one!r}, stored {other!r}"
    return f"{len(now)} lines, stored {len(then)}"


@contextmanager
def opened(browser: Browser, name: str, **options: Any) -> Iterator[Pressed]:
    """Open a page of the site from disk, with the network cut off.

    Named arguments go to the browser's context.
    """
    context = browser.new_context(**({"offline": True} | options))
    try:
        yield Pressed(context.new_page(), name)
    finally:
        context.close()


def keep(found: dict[str, float]) -> None:
    """Add to the file for the pages how long some code took, unless it once took less."""
    kept = json.loads(SECONDS.read_text("utf-8")) if SECONDS.is_file() else {}
    for name, seconds in found.items():
        kept[name] = min(round(seconds, 1), kept.get(name, seconds))
    slow = {name: kept[name] for name in sorted(kept) if kept[name] >= SLOW}
    SECONDS.write_text(f"{json.dumps(slow, indent=0)}\n", "utf-8")


def main(arguments: Sequence[str]) -> None:
    """Run the cells of some pages and print how each went."""
    names = [one for one in arguments if not one.startswith("--")]
    waits = [float(one.partition("=")[2]) for one in arguments if one.startswith("--patience=")]
    patience = waits[0] if waits else LONG
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=[*ARGUMENTS])
        for name in names or pages():
            began, equal = time.monotonic(), 0
            with opened(browser, name) as page:
                count = len(page.places())
                cells, ids = page.known()["cells"], ids_of(name)
                for ran in page.outcomes(patience=patience):
                    equal += ran.how == EQUAL
                    if "--keep" in arguments and ran.how != REFUSED and ran.own:
                        keep({name_of(cells[ids.index(ran.cell)]["source"]): ran.own})
                    said = " | ".join(ran.reason.splitlines())[-300:]
                    how = f"{ran.cell:30} {ran.kind:9} {ran.how:15} {ran.seconds:6.1f} s"
                    print(f"  {how}  {said}".rstrip(), flush=True)
            spent = time.monotonic() - began
            print(f"{name}: {equal} of {count} print what is stored; {spent:.0f} s", flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
