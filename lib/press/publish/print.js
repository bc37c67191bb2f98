// Before a page is printed: it takes the colors of white paper, a widget becomes its picture, and the
// solutions move to the end, where they give nothing away. Afterwards all is as it was.
(() => {
  "use strict";
  let undo = [];

  const element = (name, properties, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };

  const whiten = () => {
    const { dataset } = document.documentElement;
    const { theme } = dataset;
    dataset.theme = "light";
    undo.push(() => Object.assign(dataset, { theme }));
  };

  // Where no script runs, a picture stands for each widget; it stands beside it, as text.
  const pictures = () => {
    for (const beside of document.querySelectorAll(".widget-view + noscript")) {
      const written = new DOMParser().parseFromString(beside.textContent, "text/html").images[0];
      if (!written) continue;
      const { alt, src } = Object.assign(document.createElement("img"), {
        alt: written.alt,
        src: written.getAttribute("src"),
      });
      const words = element("p", { textContent: "A widget: on its page it moves." });
      const picture = element("div", { className: "print-picture on-paper-only" });
      picture.append(element("img", { alt, src, className: "figure" }), words);
      beside.previousElementSibling.after(picture);
      undo.push(() => picture.remove());
    }
  };

  // The number and name of the exercise that a solution follows.
  const exerciseOf = (solution, exercises) => {
    const before = exercises.filter(
      (one) => one.compareDocumentPosition(solution) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    return before.at(-1)?.querySelector(".admonition-title")?.textContent.trim() ?? "Solution";
  };

  const solutions = () => {
    const found = [...document.querySelectorAll("details.fold-solution")];
    if (!found.length) return;
    const exercises = [...document.querySelectorAll(".exercise.admonition")];
    const titles = found.map((one) => exerciseOf(one, exercises));
    const heading = element("h2", { textContent: "Solutions" });
    const section = element("section", { className: "solutions-on-paper on-paper-only" }, heading);
    document.querySelector(".bd-article > section").append(section);
    found.forEach((solution, number) => {
      const place = document.createComment("solution");
      const summary = solution.querySelector("summary");
      const words = summary.textContent;
      solution.replaceWith(place);
      summary.textContent = titles[number];
      section.append(solution);
      undo.push(() => {
        summary.textContent = words;
        place.replaceWith(solution);
      });
    });
    undo.push(() => section.remove());
  };

  addEventListener("beforeprint", () => {
    if (undo.length) return;
    whiten();
    pictures();
    solutions();
  });
  addEventListener("afterprint", () => {
    for (const step of undo) step();
    undo = [];
  });
})();
