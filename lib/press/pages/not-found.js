// The page for addresses where there is none: what the address says in words is the first thing to look for.
(() => {
  "use strict";
  const asked = document.querySelector("#asked");
  asked.querySelector("code").textContent = location.pathname;
  asked.hidden = location.pathname.endsWith("/404.html"); // it was asked for
  const parts = location.pathname.split("/").filter((part) => !/^(index)?(\.\w+)?$/.test(part));
  const words = window
    .decodedAddress(parts.at(-1) ?? "")
    .replaceAll(/%[\da-f]{0,2}/gi, " ") // what is left of letters that were cut
    .replace(/\.\w+$/, "")
    .match(/\p{L}+/gu);
  document.querySelector(".lost input[type=search]").value = words?.join(" ") ?? "";
  // A number in front, of a chapter: 7, 07_attention.ipynb, chapter-7.html. The site itself may stand in a folder v2.
  const { pathname } = new URL(document.baseURI);
  const below = location.pathname.startsWith(pathname) ? location.pathname.slice(pathname.length) : "";
  const [number] = window
    .decodedAddress(below)
    .split("/")
    .flatMap((part) => /^(?:ch|chapters?)?[-_. ]*0*(\d+)(?!\d)/i.exec(part)?.[1] ?? []);
  const chapter = document.querySelector(`[data-chapter="${number}"]`);
  if (chapter) chapter.hidden = false;
  // A link into this page would otherwise lead to the root of the site.
  for (const link of document.querySelectorAll('a[href^="#"]')) link.href = new URL(link.hash, location.href);
})();
