"""What axe-core finds on an open page, at each width and in each theme."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
WIDTHS = {"desk": {"width": 1400, "height": 900}, "telephone": {"width": 390, "height": 844}}

# Every rule at each width and in each scheme; what depends on both, the colors, in all four. All
# pages share what the style sheets say of a turned screen: one look at each template reads them.
# The rule on the size of what is pressed is one of WCAG 2.2, which axe does not ask for by itself.
SIZES = "rules: { 'target-size': { enabled: true } }"
RULES = f"preload: false, {SIZES}"
COLORS = "runOnly: ['color-contrast', 'link-in-text-block'], preload: false"
Look = tuple[str, str, str]
LOOKS: list[Look] = [
    ("light", "desk", SIZES),
    ("light", "telephone", COLORS),
    ("dark", "telephone", RULES),
    ("dark", "desk", COLORS),
]
# Enough for pages whose template another page shows in all looks: each rule in one scheme at a
# desk, and on a telephone, in the other, what depends on either; of pages that are much alike,
# either. `make thorough` reads every page in all looks.
DEPENDS = """preload: false, runOnly: [
  'color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable',
]"""
CROSSED: list[Look] = [("light", "desk", RULES), ("dark", "telephone", DEPENDS)]
AT_A_DESK: list[Look] = [("light", "desk", RULES)]
ON_A_TELEPHONE: list[Look] = [("dark", "telephone", RULES)]
# Nine of ten elements of a chapter are parts of formulas, about which axe has no rule, words of
# code and results, of which all of a kind look alike, and strokes of icons. A word stands in for
# each formula, as wide as the formula where a wide one scrolls, and twenty words for each kind; the
# words of a name in code lie in elements of their own that have no style.
SHORTEN = """() => {
  const wide = [...document.querySelectorAll(".formula .katex")];
  const widths = wide.map((formula) => formula.getBoundingClientRect().width);
  wide.forEach((formula, i) => {
    formula.textContent = "formula";
    formula.style.cssText = `display: inline-block; min-width: ${widths[i]}px`;
  });
  for (const formula of document.querySelectorAll("span.math")) formula.replaceWith("formula");
  for (const stroke of document.querySelectorAll(".copybtn path, .copybtn rect")) stroke.remove();
  for (const word of document.querySelectorAll("span.pre")) word.replaceWith(word.textContent);
  const seen = {};
  for (const word of document.querySelectorAll("pre span[class], dt.sig span[class]")) {
    seen[word.className] = (seen[word.className] ?? 0) + 1;
    if (seen[word.className] > 20) word.replaceWith(word.textContent);
  }
}"""


def violations_on(page: Page, looks: list[Look] = CROSSED) -> list[str]:
    """Return what axe-core finds on a page as it is open now, a sentence each."""
    page.evaluate(AXE.read_text("utf-8"))
    page.evaluate(SHORTEN)
    found = []
    for scheme, width, rules in looks:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(WIDTHS[width])
        page.wait_for_function(
            "(theme) => document.documentElement.dataset.theme === theme", arg=scheme
        )
        page.wait_for_function(  # what scrolls at this width is marked for the keyboard
            "(width) => document.documentElement.dataset.markedAt === String(width)",
            arg=WIDTHS[width]["width"],
        )
        # further down, what stays in place while one scrolls may cover a part of any button
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        options = f"{{ resultTypes: ['violations'], {rules} }}"
        run = f"axe.run({options}).then(({{ violations }}) => violations)"
        for violation in page.evaluate(run):
            nodes = [node["html"][:160] for node in violation["nodes"][:3]]
            found.append(f"{scheme}, {width}: {violation['help']} ({violation['id']}): {nodes}")
    return found
