// Swap one: a vector of one run carried into another, place by place and depth by depth.
//
// What is computed is in carrying.js.

import { button, clamp, colormap, columns, div, format, heading, html, memory, panel } from "../kit/kit.js";
import { paragraph, percent, resultLine, set, widget, write } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { readModel } from "../shared/language_model.js";
import { textInput } from "../shared/text_input.js";
import { cut, nameOf } from "../shared/tokenizer.js";
import { workshop } from "../shared/workshop.js";
import { carried, compared, contrast, likeliest, recorded, shareOf } from "./carrying.js";

const SMALL = 0.05; // a difference of logits below which there is nothing to restore

const VERBS = { denoise: ["brings back", "of the difference"], noise: ["destroys", "of the difference"] };

/** What is carried, in words. */
export const partName = (part, head) =>
  part === "stream"
    ? "the stream"
    : `${part === "head" ? "what the attention found" : `the ${part}`}${head === null ? "" : `, head ${head} alone`}`;

/** What the result line says of the chosen place. */
export function describe({ layer, place, part, head, direction }, token, share) {
  const depth = part === "stream" ? `before block ${layer}` : `in block ${layer}`;
  const where = `Place ${place}, “${token}”, ${depth}`;
  if (share === null) return `${where}: predict how much it carries, then press “Carry it over”.`;
  const [verb, of] = VERBS[direction];
  return `${where}: carrying over ${partName(part, head)} ${verb} ${percent(share, 0)} ${of}.`;
}

/** How far two runs lie apart in the logit of B less that of B′, and this in words. */
export function apart(runs, [right, wrong], name) {
  const [one, other] = runs.map(({ logits }) => logits[right] - logits[wrong]);
  const whose = `the logit of “${name(right)}” less that of “${name(wrong)}”`;
  const said = `The difference, ${whose}: ${format(one, 2)} after the first text, ${format(other, 2)} after the changed. The map has what part of it one vector carries, a column for each token, a row for each block.`;
  return /** @type {[number, string]} */ ([one - other, said]);
}

// ---------------------------------------------------------------- what the reader sees

const NAMES = 60; // room for the slanted tokens over the map

function grid(layers, move, press) {
  const cursorBy = (dx, dy) => press(dx, -dy);
  return panel({
    label:
      "How much of the difference one vector carries, a column for each place in the text and a row for each depth; arrow keys move from cell to cell",
    name: "grid",
    role: "application",
    height: NAMES + 34 * layers + 8,
    margin: [NAMES, 26, 8, 26],
    x: ({ names }) => ({ domain: [0, names.length], ticks: [], label: "" }),
    y: {
      domain: [layers, 0],
      ticks: Array.from({ length: layers }, (_, i) => i + 0.5),
      text: (t) => `${t - 0.5}`,
      label: "",
    },
    layers: { cell: { tag: "path", many: true }, same: "path" },
    over: { cursor: "rect", token: { tag: "text", many: true } },
    drag: ([x, y]) => move(Math.floor(x), Math.floor(y)),
    step: cursorBy,
    draw({ cell, same, cursor, token }, { x, y }, { names, differ, shares, layer, place }) {
      const n = names.length;
      const box = (at) => {
        const [s, l] = [at % n, Math.floor(at / n)];
        return `M${(x(s) + 1).toFixed(1)} ${(y(l) + 1).toFixed(1)}H${(x(s + 1) - 1).toFixed(1)}V${(y(l + 1) - 1).toFixed(1)}H${(x(s) + 1).toFixed(1)}Z`;
      };
      const known = [...shares.keys()].filter((at) => shares[at] !== null);
      same(
        [...shares.keys()]
          .filter((at) => shares[at] === null)
          .map(box)
          .join(""),
      );
      cell(known, (at) => ({ d: box(at), fill: `rgb(${colormap(shares[at]).join(" ")})` }));
      cursor({ x: x(place), y: y(layer), width: x(place + 1) - x(place), height: y(layer + 1) - y(layer) });
      const room = Math.ceil(13 / (x(1) - x(0)));
      const shown = [...names.keys()].filter(
        (i) => i === place || differ.includes(i) || (i % room === 0 && Math.abs(i - place) >= room),
      );
      token(shown, (i) => ({
        words: cut(names[i]),
        class: `token ${differ.includes(i) ? "differs" : ""} ${i === place ? "here" : ""}`,
        transform: `translate(${(x(i + 0.5) + 3).toFixed(1)} ${NAMES - 7}) rotate(-55)`,
      }));
    },
  });
}

export default widget("swap-one", ({ controls, constants, get, read, write: put, redraw }) => {
  const model = readModel(get("checkpoint"));
  const { tokenizer, config } = model;
  const { n_layers: layers } = config;
  const shop = workshop(redraw);
  const once = memory();
  const pairs = constants.pairs;
  const forget = (changes) => put({ probed: [], ...changes });
  const first = textInput({
    label: "First text",
    examples: pairs.map(([text]) => text),
    longest: 300,
    change(text) {
      const pair = pairs.find(([one]) => one === text);
      forget(pair ? { text, changed: pair[1] } : { text });
    },
  });
  const second = textInput({
    label: "Changed text",
    examples: [],
    longest: 300,
    change: (changed) => forget({ changed }),
  });
  const name = (id) => nameOf(tokenizer, id);
  const length = () => first_.tokens.length;
  let first_ = { tokens: [] };
  const move = (place, layer) =>
    put({ place: clamp(place, 0, length() - 1), layer: clamp(layer, 0, layers - 1) });
  const map = grid(layers, move, (dx, dy) => {
    const { place, layer } = read();
    move(Math.min(place, length() - 1) + dx, layer + dy);
  });
  const carry = button("Carry it over", () => {
    const { place, layer, probed } = read();
    const at = layer * length() + Math.min(place, length() - 1);
    if (!probed.includes(at)) put({ probed: [...probed, at] });
  });
  const all = button("Fill the map", () =>
    put({ probed: Array.from({ length: layers * length() }, (_, at) => at) }),
  );
  const empty = button("Empty it", () => put({ probed: [] }));
  const [result, note] = [resultLine(), html("p", { class: "note", role: "status" })];
  const board = table({ head: ["expects next", "1st", "2nd", "3rd"] });
  const told = heading();
  const scale = div("scale", "0", html("i"), "1");
  const output = div(
    "output-of-both",
    told,
    map,
    scale,
    div("buttons", carry, all, empty),
    result,
    div("board", board),
  );

  const probe = (tokens, runs, pair, direction, at, n, { part, head }) =>
    (function* () {
      const [into, from] = direction === "denoise" ? [1, 0] : [0, 1];
      const where = { part, head: part === "stream" ? null : head, layer: Math.floor(at / n), place: at % n };
      const logits = yield* carried(model, tokens[into], runs[from], where);
      return { logits, share: shareOf(logits, runs[into].logits, runs[from].logits, pair) };
    })();

  return {
    layout: [
      columns(
        "controls",
        [...first.parts, paragraph("caption", "Changed text"), ...second.parts.slice(1)],
        [controls.direction, controls.part, controls.head],
      ),
      note,
      output,
    ],
    change: (changes) => forget(changes),
    draw(state) {
      const { text, changed, direction, part, head, probed } = state;
      first.draw(text, "");
      second.draw(changed, "");
      set(controls.head.input, { disabled: part === "stream" });
      const pair = once("pair", [text, changed], () => compared(tokenizer, text, changed, constants.longest));
      first_ = pair;
      const { tokens, other, trouble } = pair;
      set(output, { hidden: Boolean(trouble) });
      write(note, trouble || pair.note);
      if (trouble) return;
      const n = tokens.length;
      const [place, layer] = [clamp(state.place, 0, n - 1), clamp(state.layer, 0, layers - 1)];
      const both = [tokens, other];
      const jobs = both.map((ids, i) => shop.job(`run ${i}`, ids.join(), () => recorded(model, ids)));
      const runs = jobs.map(({ done, result: run }) => (done ? run : null));
      const ready = runs.every(Boolean);
      const contrasted =
        ready && once("contrast", [text, changed], () => contrast(runs[0].logits, runs[1].logits));
      const [size, said] = ready ? apart(runs, contrasted, name) : [0, "…"];
      write(told, said);
      const worth = ready && Math.abs(size) >= SMALL;
      const settings = [text, changed, direction, part, head].join("\u0000");
      const found = new Map();
      if (worth) {
        for (const at of probed) {
          const job = shop.job(`cell ${at}`, settings, () =>
            probe(both, runs, contrasted, direction, at, n, { part, head }),
          );
          if (job.done) found.set(at, job.result);
        }
      }
      set(output, { "aria-busy": String(shop.busy()) });
      const shares = Array.from({ length: layers * n }, (_, at) => found.get(at)?.share ?? null);
      const names = tokens.map(name);
      const differ = names.map((_, i) => i).filter((i) => tokens[i] !== other[i]);
      map.draw({ names, differ, shares, layer, place });
      const here = found.get(layer * n + place);
      const expects = (label, logits) => [
        label,
        ...(logits
          ? once(label, [logits.length, logits[0], logits[1], settings], () =>
              likeliest(logits, 3).map(([id, p]) => `${name(id)} ${percent(p, 0)}`),
            )
          : ["…", "…", "…"]),
      ];
      board.draw([
        expects("the first text", runs[0]?.logits),
        expects("the changed text", runs[1]?.logits),
        here ? expects("with the vector", here.logits) : ["with the vector", "?", "?", "?"],
      ]);
      set(carry, { disabled: !worth || Boolean(here) });
      set(all, { disabled: !worth });
      set(empty, { disabled: !probed.length });
      if (!ready) write(result.row, "The model reads both texts …");
      else if (!worth)
        result.say(
          `The change hardly moves what comes next: ${format(size, 2)} in the difference of two logits. There is nothing to restore.`,
        );
      else
        result.say(describe({ layer, place, part, head, direction }, names[place], here ? here.share : null));
    },
    stop: shop.stop,
  };
});
