// A formula stands on the page as MathML, for screen readers, and as what is seen; copied with its
// sentence it would come twice, and in pieces. So it is copied as it was written, in LaTeX.
(() => {
  "use strict";
  const sourceOf = (formula) => {
    const mark = formula.closest("div.math") ? "$$" : "$";
    return mark + formula.querySelector("annotation").textContent.trim() + mark;
  };

  document.addEventListener("copy", (event) => {
    const selection = getSelection();
    if (!event.clipboardData || selection.isCollapsed) return;
    const range = selection.getRangeAt(0);
    const formulas = [...document.querySelectorAll(".katex:has(annotation)")].filter((formula) =>
      range.intersectsNode(formula),
    );
    if (!formulas.length) return;
    const [first, last] = [formulas[0], formulas.at(-1)]; // of a part of a formula, all is copied
    if (first.contains(range.startContainer)) range.setStartBefore(first);
    if (last.contains(range.endContainer)) range.setEndAfter(last);
    const page = document.createElement("div");
    page.append(range.cloneContents());
    event.clipboardData.setData("text/html", page.innerHTML);

    // Only the browser knows which words of a selection are seen; so it reads them, formulas replaced.
    const written = formulas.map((formula) => {
      const source = document.createElement("span");
      source.textContent = sourceOf(formula);
      formula.before(source);
      formula.hidden = true;
      return source;
    });
    event.clipboardData.setData("text/plain", getSelection().toString());
    for (const source of written) source.remove();
    for (const formula of formulas) formula.hidden = false;
    event.preventDefault();
  });
})();
