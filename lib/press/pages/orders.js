// Lines are put in order by buttons, by keys, or dragged by their handles; what does not belong is left out.
// The first line that is out of place is named, a decoy with the reply that the fold has for it.
(() => {
  "use strict";
  const SOLVED = "✓"; // behind the lines, once they stood right
  const placeOf = (line) => Number(/place-(\d+)/.exec(line.className)[1]);

  const element = (name, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };

  // What is to be said of some places, from the top: how many are right, and what the next one is.
  const judge = (places, total) => {
    const right = places.findIndex((place, at) => place !== at + 1);
    if (right < 0) return { right: places.length, fault: places.length < total ? "missing" : "" };
    return { right, fault: places[right] ? "early" : "decoy" };
  };
  window.orders = { judge }; // the tests call it

  window.asker(".admonition.order", (box, said, told) => {
    const list = box.querySelector(":scope > ul");
    const fold = box.querySelector(":scope > .fold-answer");
    if (!list || !fold) return;
    const lines = [...list.children];
    const total = lines.filter(placeOf).length;
    // A formula is there twice, for the eye and for screen readers; its source is read with the buttons.
    const textOf = (line) => {
      const copy = line.querySelector(".line").cloneNode(true);
      for (const formula of copy.querySelectorAll(".katex"))
        formula.replaceWith(formula.querySelector("annotation")?.textContent ?? "");
      return copy.textContent.replaceAll(/\s+/g, " ").trim();
    };
    const quoted = (line) => {
      const body = line.querySelector(".line").cloneNode(true);
      return element("q", {}, ...(body.querySelector("p") ?? body).childNodes);
    };

    const out = element("ul", { className: "left-out" });
    const outWords = element("p", { className: "out", textContent: "Left out" });
    const reply = box.querySelector(":scope > .reply");
    const check = box.querySelector(":scope > .check-order");
    list.classList.add("lines");
    list.after(outWords, out);

    const show = () => {
      outWords.hidden = !out.children.length;
      for (const line of lines) {
        const left = line.parentElement === out;
        const button = line.querySelector(".leave");
        button.textContent = left ? "↩" : "×";
        button.setAttribute("aria-label", `${left ? "Put back" : "Leave out"}: ${textOf(line)}`);
      }
    };
    const moved = (line) => {
      delete box.dataset.state;
      show();
      const at = [...list.children].indexOf(line) + 1;
      reply.textContent = at ? `Line ${at} of ${list.children.length}.` : "Left out.";
    };
    // Its neighbor moves: what is moved in the document loses the focus, and the finger that holds it.
    const go = (line, up) => {
      const other = up ? line.previousElementSibling : line.nextElementSibling;
      if (other) up ? line.after(other) : line.before(other);
    };
    const drag = (line, handle) => {
      handle.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        handle.setPointerCapture(event.pointerId);
        line.classList.add("dragged");
        const follow = ({ clientY }) => {
          const { top, bottom } = line.getBoundingClientRect();
          const above = line.previousElementSibling?.getBoundingClientRect();
          const below = line.nextElementSibling?.getBoundingClientRect();
          if (above && clientY < top && clientY < above.top + above.height / 2) go(line, true);
          else if (below && clientY > bottom && clientY > below.top + below.height / 2) go(line, false);
        };
        const held = new AbortController();
        const end = () => {
          held.abort();
          line.classList.remove("dragged");
          moved(line);
        };
        handle.addEventListener("pointermove", follow, held);
        handle.addEventListener("pointerup", end, held);
        handle.addEventListener("pointercancel", end, held);
      });
    };
    for (const line of lines) {
      line.replaceChildren(element("div", { className: "line" }, ...line.childNodes));
      const text = textOf(line);
      const button = (sign, label, act) => {
        const made = element("button", { type: "button", textContent: sign, className: act });
        made.setAttribute("aria-label", `${label}: ${text}`);
        return made;
      };
      const handle = element("span", { className: "handle" });
      const [up, down, leave] = [
        button("↑", "Move up", "up"),
        button("↓", "Move down", "down"),
        button("×", "Leave out", "leave"),
      ];
      for (const button of [up, down])
        button.addEventListener("click", () => {
          go(line, button === up);
          moved(line);
        });
      leave.addEventListener("click", () => {
        (line.parentElement === list ? out : list).append(line);
        moved(line);
        leave.focus(); // what is moved in the document loses it
      });
      line.prepend(handle);
      line.append(element("span", { className: "moves" }, up, down, leave));
      drag(line, handle);
    }

    const replies = (which = "") =>
      [...fold.querySelectorAll(`.decoy${which}`)].map((one) => one.cloneNode(true));
    const sayAll = () => {
      const { right, fault } = judge([...list.children].map(placeOf), total);
      const wrong = list.children[right];
      const stand = right ? `The first ${right === 1 ? "line stands" : `${right} lines stand`} right. ` : "";
      const parts = {
        "": () => [`Right. The ${total} lines stand in order.`, ...replies()],
        missing: () => [`${stand}What comes next is left out.`],
        early: () => [stand, quoted(wrong), " comes too early: another line stands before it."],
        decoy: () => [stand, quoted(wrong), " does not belong.", ...replies(`.of-${lines.indexOf(wrong)}`)],
      };
      reply.replaceChildren(...parts[fault]());
      box.dataset.state = fault ? "failed" : "held";
      return fault === "";
    };
    check.addEventListener("click", () => {
      const places = [...list.children].map((line) => lines.indexOf(line)).join(" ") || "none";
      const right = sayAll();
      told(places, right, right ? `${places} ${SOLVED}` : "");
    });
    fold.addEventListener("toggle", () => {
      if (fold.open && !box.dataset.state) told("", false);
    });

    show();
    const before = said.split(" ").filter((at) => lines[at]);
    if (before.length && new Set(before).size === before.length) {
      for (const line of lines) out.append(line);
      for (const at of before) list.append(lines[at]);
      show();
      sayAll();
    }
  });
})();
