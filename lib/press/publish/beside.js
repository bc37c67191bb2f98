// What is written beside a page, in a script of its own, is asked for when it is wanted: a script it is,
// because a page opened from disk may load nothing else. `kind` is its folder and the name of its table.
(() => {
  "use strict";
  const root = new URL(document.documentElement.dataset.content_root ?? "./", document.baseURI);
  const loading = new Map();
  // Give what a page has of this kind; nothing where there is none.
  window.besidePage = (kind, page) => {
    const address = new URL(`_static/${kind}/${page}.js`, root).href;
    const begin = (resolve) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => resolve(window[kind]?.[page] ?? {});
      script.onerror = () => resolve({});
      document.head.append(script);
    };
    if (!loading.has(address)) loading.set(address, new Promise(begin));
    return loading.get(address);
  };
})();
