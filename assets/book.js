// What scrolls sideways can be reached with the keyboard, and what fits is not in the way of Tab.
(() => {
  "use strict";
  const boxes = document.querySelectorAll(
    ".formula, .pst-scrollable-table-container, .highlight pre, .cell_output pre",
  );
  // The browser tells the size of a box once it has one: of a box in a closed fold, when that opens.
  const sizes = new ResizeObserver((entries) => {
    const wide = new Set(
      entries.map(({ target }) => target).filter((box) => box.scrollWidth > box.clientWidth),
    );
    for (const { target } of entries) {
      if (wide.has(target)) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  const measure = () => {
    for (const box of boxes) sizes.observe(box); // again, if it was observed before
  };
  measure();
  document.fonts.addEventListener("loadingdone", measure); // letters of another width
  // Whoever has time does it: a widget that the reader waits for goes first.
  const idle = (task) => ("requestIdleCallback" in window ? requestIdleCallback(task) : setTimeout(task, 50));
  // The page is complete: its sections are laid out, one by one, far from the view too; what the
  // reader looks at stays where it is.
  const skipped = [...document.querySelectorAll("html.arriving .bd-article > section > section")];
  const settle = () => {
    const section = skipped.shift();
    if (section) {
      const anchor = document.elementFromPoint(innerWidth / 2, innerHeight / 3);
      const before = anchor?.getBoundingClientRect().top;
      section.classList.add("arrived");
      if (scrollY > 0 && anchor) {
        scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
      }
      idle(settle);
    } else {
      document.documentElement.classList.remove("arriving");
      idle(told);
    }
  };
  const told = () => {
    document.documentElement.dataset.markedAt = innerWidth; // the tests wait for it
  };
  addEventListener("load", () => idle(settle));
  // A page that was opened at a section stays there while widgets and pictures above it find their
  // height, until the reader scrolls.
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && performance.getEntriesByType("navigation")[0]?.type === "navigate") {
    const stay = new ResizeObserver(() => target.scrollIntoView({ behavior: "instant" }));
    stay.observe(document.body);
    for (const act of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      addEventListener(act, () => stay.disconnect(), { once: true, passive: true, capture: true });
    }
  }
  // A figure has a second drawing for dark pages; paper is white.
  const drawings = document.querySelectorAll("picture > source");
  const choose = () => {
    const dark = document.documentElement.dataset.theme === "dark";
    for (const drawing of drawings) drawing.media = dark ? "screen" : "not all";
  };
  choose();
  new MutationObserver(choose).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  // What the theme's buttons do: a page's policy lets no script stand in an attribute.
  const deeds = { print: () => print(), "full-screen": () => window.toggleFullScreen() };
  for (const button of document.querySelectorAll("[data-press]")) {
    button.addEventListener("click", deeds[button.dataset.press]);
  }
  let resized;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => idle(told), 100);
  });
})();
