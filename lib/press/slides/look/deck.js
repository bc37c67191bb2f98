// A deck of slides: reveal.js turns it; here is what it is told, and whether it is light or dark.
(() => {
  "use strict";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = ""; // by the key S

  /** Show slides, drawings and widgets in one color scheme. */
  const paint = () => {
    const theme = chosen || (system.matches ? "dark" : "light");
    root.dataset.theme = theme;
    for (const drawing of document.querySelectorAll("picture > source")) {
      drawing.media = theme === "dark" ? "all" : "not all";
    }
    for (const frame of document.querySelectorAll("iframe[data-src]")) {
      const [file] = frame.dataset.src.split("#");
      const shown = frame.hasAttribute("src");
      frame.dataset.src = `${file}#${theme}`;
      if (shown) frame.src = frame.dataset.src; // another end of the same address: the widget stays as it is
    }
  };

  const turn = () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    paint();
  };

  system.addEventListener("change", paint);
  root.dataset.theme = system.matches ? "dark" : "light";

  /** Let the keyboard reach what scrolls: a slide that is too high, a formula or figure that is too wide. */
  const reach = () => {
    for (const box of document.querySelectorAll(".slides > section, .picture, .katex-display")) {
      const scrolls = box.scrollHeight > box.clientHeight || box.scrollWidth > box.clientWidth;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };

  // A widget tells how high it is.
  addEventListener("message", ({ source, data }) => {
    if (!Number.isFinite(data?.widgetHeight)) return;
    for (const frame of document.querySelectorAll("iframe")) {
      if (frame.contentWindow === source) frame.style.height = `${data.widgetHeight}px`;
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    paint();
    const watch = new ResizeObserver(reach);
    for (const box of document.querySelectorAll(".slides > section, .picture")) watch.observe(box);
    for (const turned of ["slidechanged", "fragmentshown", "fragmenthidden"]) window.Reveal.on(turned, reach);
    window.Reveal.on("fragmentshown", ({ fragment }) => fragment.scrollIntoView({ block: "nearest" }));
    const scroll = (part) => () => {
      const slide = window.Reveal.getCurrentSlide();
      slide.scrollBy({ top: part * slide.clientHeight });
    };
    window.Reveal.initialize({
      disableLayout: true,
      center: false,
      hash: true,
      history: false,
      slideNumber: "c/t",
      transition: "none",
      backgroundTransition: "none",
      scrollActivationWidth: null,
      keyboard: { 38: scroll(-0.5), 40: scroll(0.5), 83: turn },
      viewDistance: 2,
    });
  });
})();
