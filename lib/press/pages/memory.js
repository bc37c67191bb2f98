// What a reader answered stays in this browser, and goes nowhere else. Where the browser keeps
// nothing (a private window, storage switched off), all works as on a first visit.
window.memoryOf = (name) => {
  "use strict";
  const key = `runnable-primer:${name}`;
  const recall = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(key));
      return kept && typeof kept === "object" && !Array.isArray(kept) ? kept : {};
    } catch {
      return {};
    }
  };
  // Keep this and nothing else; say whether the browser did. If not, what it kept before stays.
  const replace = (kept) => {
    try {
      if (Object.keys(kept).length) localStorage.setItem(key, JSON.stringify(kept));
      else localStorage.removeItem(key);
      return localStorage instanceof Storage; // what layout.html puts in its place ends with the page
    } catch {
      return false; // then it is forgotten with the page
    }
  };
  return {
    recall,
    replace,
    keep(id, value) {
      const kept = recall();
      if (value === undefined) delete kept[id];
      else kept[id] = value;
      return replace(kept);
    },
  };
};

// Of a text, what is kept: so many characters, and no half of a letter, of which no address can be made.
window.keptText = (text) =>
  typeof text === "string" ? text.slice(0, 200).replace(/\p{Surrogate}/gu, "") : "";
