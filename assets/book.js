// What scrolls sideways can be reached with the keyboard, and what fits is not in the way of Tab.
(() => {
  "use strict";
  const boxes = document.querySelectorAll(
    ".formula, .pst-scrollable-table-container, .highlight pre, .cell_output pre",
  );
  const mark = () => {
    const wide = [...boxes].filter((box) => box.scrollWidth > box.clientWidth);
    for (const box of boxes) box.removeAttribute("tabindex");
    for (const box of wide) box.tabIndex = 0;
    document.documentElement.dataset.markedAt = innerWidth; // the tests wait for it
  };
  // Measuring lays out the whole page, so it waits until the page is there and the reader looks at it.
  const soon = () => ("requestIdleCallback" in window ? requestIdleCallback(mark) : setTimeout(mark, 200));
  addEventListener("load", soon);
  let resized;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(soon, 100);
  });
})();
