// A widget on a page of its own is light or dark as its address says, `#light` or `#dark`, else as the viewer
// prefers.
(() => {
  "use strict";
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    const [, wanted] = /^#(light|dark)$/.exec(location.hash) ?? [];
    document.documentElement.dataset.theme = wanted ?? (dark.matches ? "dark" : "light");
  };
  dark.addEventListener("change", follow);
  addEventListener("hashchange", follow);
  follow();
  // A page that shows it in a frame is told how high it is, and may give the frame that height. Where the frame
  // is hidden there is nothing to tell.
  if (parent !== window) {
    new ResizeObserver(() => {
      const { height } = document.documentElement.getBoundingClientRect();
      if (height) parent.postMessage({ widgetHeight: Math.ceil(height) }, "*");
    }).observe(document.documentElement);
  }
})();
