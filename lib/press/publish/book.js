// What scrolls sideways can be reached with the keyboard, and what fits is not in the way of Tab.
(() => {
  "use strict";
  const boxes = [
    ...document.querySelectorAll(
      ".formula, .pst-scrollable-table-container, .highlight pre, .cell_output pre, picture:has(> .figure)",
    ),
  ];
  const measure = (some) => {
    const wide = new Set(some.filter((box) => box.scrollWidth > box.clientWidth));
    for (const box of some) {
      if (wide.has(box)) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  // Now the whole page may be laid out; what the reader looks at stays where it is.
  const settle = () => {
    const anchor = document.elementFromPoint(innerWidth / 2, innerHeight / 3);
    const before = anchor?.getBoundingClientRect().top;
    document.documentElement.classList.remove("arriving");
    if (scrollY > 0 && anchor) {
      scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
    }
  };
  const mark = () => {
    settle();
    measure(boxes.filter((box) => !box.matches("details:not([open]) *"))); // each would be laid out alone
    document.documentElement.dataset.markedAt = innerWidth; // the tests wait for it
  };
  const unfold = ({ target }) => target.open && measure(boxes.filter((box) => target.contains(box)));
  document.addEventListener("toggle", unfold, { capture: true }); // it does not bubble
  // A widget in sight that is about to begin goes first, unless it takes long.
  const PATIENCE = 1000;
  const inSight = (view) => {
    const { top, bottom } = view.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  };
  const waits = () =>
    performance.now() < loaded + PATIENCE &&
    [...document.querySelectorAll(".widget-view:not([data-widget=ready], [data-widget=unavailable])")].some(
      inSight,
    );
  let loaded = 0;
  const begin = () => (waits() ? setTimeout(soon, 50) : mark());
  // Measuring lays out the whole page, so it waits until the page is there and the browser has time.
  const soon = () =>
    "requestIdleCallback" in window ? requestIdleCallback(begin, { timeout: 2000 }) : setTimeout(begin, 200);
  addEventListener("load", () => {
    loaded = performance.now();
    soon();
  });
  document.fonts.addEventListener("loadingdone", soon); // letters of another width
  // A page that was opened at a section stays there while widgets and pictures above it find their
  // height, until the reader scrolls.
  const target = document.getElementById(window.decodedAddress(location.hash.slice(1)));
  if (target && performance.getEntriesByType("navigation")[0]?.type === "navigate") {
    const stay = new ResizeObserver(() => target.scrollIntoView({ behavior: "instant" }));
    stay.observe(document.body);
    for (const act of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      addEventListener(act, () => stay.disconnect(), { once: true, passive: true, capture: true });
    }
  }
  // A figure has a second drawing for dark pages; paper is white.
  const drawings = document.querySelectorAll("picture > source[media='not all']");
  const choose = () => {
    const dark = document.documentElement.dataset.theme === "dark";
    for (const drawing of drawings) drawing.media = dark ? "screen" : "not all";
  };
  choose();
  new MutationObserver(choose).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  // The button that changes between light and dark says in which of three states it is.
  const switches = document.querySelectorAll(".theme-switch-button");
  const names = { light: "light", dark: "dark", auto: "as the system" };
  const tell = () => {
    const { mode } = document.documentElement.dataset;
    for (const one of switches) one.setAttribute("aria-label", `Color mode: ${names[mode] ?? names.auto}`);
  };
  tell();
  new MutationObserver(tell).observe(document.documentElement, { attributeFilter: ["data-mode"] });
  // What the theme's buttons do: a page's policy lets no script stand in an attribute.
  const deeds = { print: () => print(), "full-screen": () => window.toggleFullScreen() };
  for (const button of document.querySelectorAll("[data-press]")) {
    button.addEventListener("click", deeds[button.dataset.press]);
  }
  let resized;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(soon, 100);
  });
})();
