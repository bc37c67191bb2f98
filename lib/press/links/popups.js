// Small pop-ups on links to terms, citations and equations. Pointing at a link opens its pop-up, so
// does reaching it by key, and a tap; a second tap, a click or Enter follow the link as ever. Escape
// closes. What a pop-up shows was written when the book was built, in a script beside each page.
(() => {
  "use strict";
  if (!("popover" in HTMLElement.prototype)) return; // then links are links
  const LINK = 'main a.reference.internal:is([href*="#term-"], [href*="#cite-"], [href*="#equation-"])';
  const REST = 180; // ms that the pointer rests on a link before its pop-up opens
  const LEAVE = 250; // ms to reach the pop-up from the link
  const root = new URL(document.documentElement.dataset.content_root ?? "./", document.baseURI);

  const box = document.createElement("div");
  box.popover = "manual";
  box.className = "popup";
  box.id = "popup";
  let link = null; // whose pop-up is open
  let wanted = null; // whose pop-up is to open
  let tapped = null; // that a finger touched while its pop-up was closed
  let timer;

  // The page that a link leads to, as the build names it, and the place on it.
  const targetOf = (address) => {
    const url = new URL(address);
    const page = window.decodedAddress(url.pathname.slice(root.pathname.length));
    return { page: page.replace(/\.html$/, ""), id: window.decodedAddress(url.hash.slice(1)) };
  };

  // Below the link where there is room, else above it; never past the edge of the screen.
  const place = () => {
    const lines = [...link.getClientRects()];
    const [first, last] = [lines[0], lines.at(-1)];
    const { clientWidth, clientHeight } = document.documentElement;
    const { width, height } = box.getBoundingClientRect();
    const left = Math.max(12, Math.min(last.left, clientWidth - width - 12));
    const below = last.bottom + height + 12 < clientHeight || first.top < height + 12;
    box.style.left = `${left + scrollX}px`;
    box.style.top = `${(below ? last.bottom + 4 : first.top - height - 4) + scrollY}px`;
  };

  const close = () => {
    clearTimeout(timer);
    wanted = null;
    if (!link) return;
    link.removeAttribute("aria-describedby");
    link = null;
    box.hidePopover();
    box.remove();
  };

  const open = async (one) => {
    clearTimeout(timer);
    if (one === link) return;
    wanted = one;
    const { page, id } = targetOf(one.href);
    const texts = await window.besidePage("popups", page);
    if (wanted !== one || !Object.hasOwn(texts, id)) return;
    close();
    box.replaceChildren(...new DOMParser().parseFromString(texts[id], "text/html").body.childNodes);
    for (const inner of box.querySelectorAll("a[href]")) {
      inner.href = new URL(inner.getAttribute("href"), one.href);
      inner.tabIndex = -1; // Tab goes on in the text; where Enter leads, these links stand, too
    }
    link = one;
    link.removeAttribute("title"); // the pop-up says it better
    link.after(box); // there it is read behind the link
    link.setAttribute("aria-describedby", box.id);
    box.showPopover();
    place();
  };

  const linkAt = (node) => (box.contains(node) ? null : (node.closest?.(LINK) ?? null));

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const one = linkAt(event.target);
    clearTimeout(timer);
    if (one && one !== link) timer = setTimeout(open, REST, one);
    else if (!one && link && !box.contains(event.target)) timer = setTimeout(close, LEAVE);
    else if (!one) wanted = null;
  });
  document.addEventListener("focusin", (event) => {
    const one = linkAt(event.target);
    if (one?.matches(":focus-visible")) open(one);
    else if (!one && !box.contains(event.target)) close();
  });
  document.addEventListener("pointerdown", (event) => {
    const one = linkAt(event.target);
    tapped = event.pointerType !== "mouse" && one !== link ? one : null;
    if (!one && !box.contains(event.target)) close();
  });
  document.addEventListener("click", (event) => {
    const one = linkAt(event.target);
    if (!one) return;
    if (one === tapped) {
      event.preventDefault();
      open(one);
    } else close();
    tapped = null;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !link) return;
    if (box.contains(document.activeElement)) link.focus();
    close();
  });
  addEventListener("resize", close);
})();
