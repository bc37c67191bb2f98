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
})();
