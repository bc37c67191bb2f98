// What a reader answered stays in this browser, and goes nowhere else. Where the browser keeps
// nothing (a private window, storage switched off), all works as on a first visit.
window.memoryOf = (name) => {
  "use strict";
  const key = `runnable-primer:${name}`;
  const recall = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(key));
      return kept && typeof kept === "object" ? kept : {};
    } catch {
      return {};
    }
  };
  return {
    recall,
    keep(id, value) {
      const kept = recall();
      if (value === undefined) delete kept[id];
      else kept[id] = value;
      try {
        localStorage.setItem(key, JSON.stringify(kept));
      } catch {
        // then it is forgotten with the page
      }
    },
  };
};
