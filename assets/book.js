// What scrolls sideways can be reached with the keyboard, and what fits is not in the way of the Tab key.
(() => {
  "use strict";
  const scrollable = document.querySelectorAll(".formula, .pst-scrollable-table-container, .cell_output pre, .highlight pre");
  const mark = (element) => {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  };
  const watch = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
  scrollable.forEach((element) => watch.observe(element));
})();
