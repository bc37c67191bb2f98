// A table whose cells are written again only where they changed.

import { html, set, write } from "../kit/kit.js";

// Put nodes into a cell that does not hold them yet.
function hold(cell, nodes) {
  const held = cell.childNodes;
  if (held.length !== nodes.length || nodes.some((node, i) => node !== held[i]))
    cell.replaceChildren(...nodes);
}

// A cell is a text, nodes, or { text, class }.
function fill(cell, content) {
  if (typeof content === "string") return write(cell, content);
  if (Array.isArray(content) || content instanceof Node) return hold(cell, [content].flat());
  write(cell, content.text);
  if (cell.className !== content.class) cell.className = content.class;
}

function fillRow(row, cells) {
  while (row.cells.length > cells.length) row.lastChild.remove();
  while (row.cells.length < cells.length) {
    row.append(row.cells.length ? html("td") : html("th", { scope: "row" }));
  }
  cells.forEach((content, i) => fill(row.cells[i], content));
}

/**
 * draw(rows, { chosen, foot }): a row is a list of cells, the first of them its heading; `chosen` is the
 * number of the row to be marked, `foot` a row under the line.  head: one heading for each column.
 */
export function table({ caption = "", head = [] }) {
  const [heading, body, foot] = [html("tr"), html("tbody"), html("tfoot")];
  const headings = head.map((content) => {
    const cell = html(content ? "th" : "td", content ? { scope: "col" } : {});
    fill(cell, content);
    return cell;
  });
  heading.append(...headings);
  const element = html("table", {}, body);
  if (head.length) element.prepend(html("thead", {}, heading));
  if (caption) element.prepend(html("caption", {}, caption));

  function draw(rows, { chosen = -1, foot: last = null } = {}) {
    while (body.rows.length > rows.length) body.lastChild.remove();
    while (body.rows.length < rows.length) body.append(html("tr"));
    rows.forEach((cells, i) => {
      fillRow(body.rows[i], cells);
      body.rows[i].classList.toggle("chosen", i === chosen);
    });
    if (!last) return;
    if (!foot.isConnected) {
      foot.append(html("tr"));
      element.append(foot);
    }
    fillRow(foot.rows[0], last);
    set(foot.rows[0].cells[0], { colspan: Math.max(1, head.length - last.length + 1) });
  }
  return { element, headings, draw };
}
