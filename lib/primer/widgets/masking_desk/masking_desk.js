// The masking desk: one line of text, prepared for six objectives.
//
// The functions above `cells` are the mathematics; the tests compare them with primer.pretraining.

import { button, div, format, heading, html, key, memory, percent, resultLine, set } from "../kit/kit.js";
import { paths, sketch, span, sum, widget, write as say } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { details } from "../shared/folded.js";
import { readModel } from "../shared/language_model.js";
import { fill } from "../shared/masked_twin.js";
import { random } from "../shared/random.js";
import { workshop } from "../shared/workshop.js";

const [MASK, START] = ["▢", "<start>"];

// Half to even, as Python rounds.
function rounded(x) {
  const low = Math.floor(x);
  return x - low === 0.5 ? low + (low % 2) : Math.round(x);
}

const below = (uniform, n) => Math.floor(uniform() * n);

// A place in a list with these probabilities.
function listed(uniform, chances) {
  let [left, place] = [uniform(), 0];
  while (place < chances.length - 1 && left >= chances[place]) left -= chances[place++];
  return place;
}

// What becomes of a selected token, or of a whole span.
function faced(uniform, { split, others }) {
  const fate = uniform();
  if (fate < split[0]) return () => MASK;
  if (fate < split[0] + split[1]) return () => others[below(uniform, others.length)];
  return (token) => token;
}

// Cut a number into so many positive parts.
function pieces(uniform, total, parts) {
  const free = Array.from({ length: total - 1 }, (_, i) => i + 1);
  const cuts = [0, total];
  for (let i = 1; i < parts; i++) cuts.push(...free.splice(below(uniform, free.length), 1));
  cuts.sort((a, b) => a - b);
  return cuts.slice(1).map((cut, i) => cut - cuts[i]);
}

function masked(uniform, rate, given) {
  const counted = given.tokens.map(() => uniform() < rate);
  return { inputs: given.tokens.map((t, i) => (counted[i] ? faced(uniform, given)(t) : t)), counted };
}

function spans(uniform, rate, given) {
  const { tokens, chances } = given;
  const [inputs, counted] = [[...tokens], tokens.map(() => false)];
  const wanted = Math.max(1, rounded(rate * tokens.length));
  for (let left = wanted; left > 0; ) {
    let length = Math.min(1 + listed(uniform, chances.spans), left);
    const apart = (s) =>
      s + length <= tokens.length && !counted.slice(Math.max(0, s - 1), s + length + 1).includes(true);
    let free = [...tokens.keys()].filter(apart);
    if (!free.length) [length, free] = [1, [...tokens.keys()].filter((i) => !counted[i])];
    const start = free[below(uniform, free.length)];
    const face = faced(uniform, given);
    for (let i = start; i < start + length; i++) [inputs[i], counted[i]] = [face(tokens[i]), true];
    left -= length;
  }
  return { inputs, counted };
}

function cut(uniform, rate, { tokens, mean }) {
  const n = tokens.length;
  const hidden = Math.min(Math.max(rounded(n * rate), 1), n - 1);
  const count = Math.min(Math.max(rounded(hidden / mean), 1), n - hidden);
  const taken = pieces(uniform, hidden, count);
  const kept = pieces(uniform, n - hidden, count);
  const [read, written] = [[], []];
  let place = 0;
  kept.forEach((before, i) => {
    read.push(...tokens.slice(place, place + before), `<${i}>`);
    place += before;
    written.push(`<${i}>`, ...tokens.slice(place, place + taken[i]));
    place += taken[i];
  });
  return { read, written: [...written, `<${count}>`] };
}

function infill(uniform, rate, { tokens, chances }) {
  let left = Math.max(1, rounded(rate * tokens.length));
  const kept = tokens.length - left;
  const lengths = [];
  while (left) {
    lengths.push(Math.min(listed(uniform, chances.infill), left));
    left -= lengths[lengths.length - 1];
  }
  const cuts = lengths.map(() => below(uniform, kept + 1)).sort((a, b) => a - b);
  const read = [];
  let [place, before] = [0, 0];
  cuts.forEach((at, i) => {
    read.push(...tokens.slice(place, place + at - before), MASK);
    place += at - before + lengths[i];
    before = at;
  });
  return { read: [...read, ...tokens.slice(place)], written: tokens };
}

/** Inputs, targets ("": none), counted places; `known`: how many of the first places everybody sees. */
export function prepare({ objective, rate, length, seed }, given) {
  const { tokens } = given;
  const uniform = random(seed);
  if (objective === "next" || objective === "prefix") {
    const known = objective === "prefix" ? length : 0;
    const targets = tokens.slice(1);
    return { inputs: tokens.slice(0, -1), targets, counted: targets.map((_, i) => i >= known - 1), known };
  }
  if (objective === "masked" || objective === "spans") {
    const seen = (objective === "masked" ? masked : spans)(uniform, rate, given);
    return { ...seen, targets: tokens, known: tokens.length };
  }
  const { read, written } = (objective === "cut" ? cut : infill)(uniform, rate, given);
  const inputs = [...read, START, ...written.slice(0, -1)];
  const targets = [...read.map(() => ""), ...written];
  return { inputs, targets, counted: inputs.map((_, i) => i >= read.length), known: read.length };
}

/** Who (row) may see whom (column): everybody what comes before, and the known places. */
export const allowed = ({ inputs, known }) => inputs.map((_, i) => inputs.map((_, j) => j <= i || j < known));

/** The name of what a place sees, from 1 on. */
export const reach = (row) => `1–${row.lastIndexOf(true) + 1}`;

/** Whether the masked twin knows the task: fill what an encoder does not see. */
export const forTwin = ({ objective }) => objective === "masked" || objective === "spans";

/** What the result line says; `filled` is what the twin says, where it is asked. */
export function describe({ objective, rate, seed }, rows, filled) {
  const { inputs, targets, counted, known } = rows;
  const count = sum(counted.map(Number));
  if (!count) return `Draw ${seed + 1}: no place was selected, so there is no loss. Draw again.`;
  const asks = `${count} of ${inputs.length} places count in the loss`;
  if (objective === "next") return `${asks}; each sees itself and what stands before.`;
  if (objective === "prefix") return `${asks}; the first ${known} see each other and cost nothing.`;
  const draw = `Draw ${seed + 1}, rate ${percent(rate, 0)}: `;
  if (objective === "cut" || objective === "infill") {
    return `${draw}the encoder reads ${known} tokens, the decoder writes ${count}; ${asks}.`;
  }
  const masks = sum(inputs.map((t) => Number(t === MASK)));
  const same = sum(counted.map((c, i) => Number(c && inputs[i] === targets[i])));
  const face = `${draw}${asks}: masks ${masks}, random ${count - masks - same}, unchanged ${same}.`;
  if (!filled) return `${face} The twin is reading.`;
  const solved = sum(filled.places.map((one) => Number(one?.correct ?? false)));
  return `${face} The twin says ${solved} of ${count} right; its loss is ${format(filled.loss, 2)} nats a token.`;
}

// ---------------------------------------------------------------- what the reader sees

// One cell for each place, in lines that wrap: what is read, what is to be said, whether it counts, what the twin says.
function cells() {
  const element = html("div", { class: "line", "aria-hidden": "true" }); // the table says the same
  const answer = ({ said, sure, correct }) =>
    span(correct ? "twin right" : "twin", `${said} ${percent(sure, 0)}`);
  const draw = ({ inputs, targets, counted, known }, asks, filled) =>
    element.replaceChildren(
      ...inputs.map((word, i) => {
        const changed = known === inputs.length && word !== targets[i]; // an encoder sees something false
        return div(
          `spot${counted[i] ? " counts" : ""}`,
          span(changed ? "read changed" : "read", word),
          span("said", targets[i] || "–"),
          span("loss", counted[i] ? "1" : "0"),
          ...(asks && counted[i] ? [filled ? answer(filled.places[i]) : span("twin", "…")] : []),
        );
      }),
    );
  return { element, draw };
}

// The attention mask: rows see columns.  Three paths hold all squares: hundreds of shapes would take a telephone long.
function squares() {
  const { element, layers } = sketch({
    label: "Who may see whom: a row for each seeing place, a column for each seen one; filled where it may",
    name: "mask",
    layers: paths("closed", "may", "counting"),
  });
  const draw = (rows, counted) => {
    element.setAttribute("viewBox", `0 0 ${rows.length} ${rows.length}`);
    const all = rows.flatMap((row, y) => row.map((may, x) => ({ may, counts: counted[y], x, y })));
    const drawn = (kind) =>
      all
        .filter(kind)
        .map(({ x, y }) => `M${x + 0.07} ${y + 0.07}h.86v.86h-.86z`)
        .join("");
    layers.closed(drawn(({ may }) => !may));
    layers.may(drawn(({ may, counts }) => may && !counts));
    layers.counting(drawn(({ may, counts }) => may && counts));
  };
  return { element, draw };
}

const ASKED =
  "Below it in the cells that count: what the masked twin finds most probable there, and how sure it is. ";
const LENGTH = "(The last word has three tokens, the others one.)";
const SILENT =
  "The masked twin has learned to fill what is hidden, seeing both sides; for this objective it was not trained.";

export default widget("masking-desk", ({ model, controls, constants, read, write, redraw }) => {
  const [line, mask, result] = [cells(), squares(), resultLine()];
  const twin = readModel(model.get("twin"));
  const shop = workshop(redraw);
  const once = memory();
  const about = heading();
  const again = button("Draw again", () => write({ seed: (read().seed + 1) % 1000 }));
  const head = ["place", "reads", "should say", "loss", "sees", "twin says", "right word"];
  const list = details("The rows in a table", table({ head }));
  return {
    layout: [
      controls.objective,
      div("chance", controls.rate, controls.length, again),
      heading("From top to bottom: what is read, what should be said, 1 where it ", key("counts", "counts")),
      line,
      about,
      result,
      heading(
        "Attention mask: a row for each seeing place, a column for each seen one; blue where the row counts",
      ),
      mask,
      list,
    ],
    draw(state) {
      const { objective } = state;
      const rows = prepare(state, constants);
      const may = allowed(rows);
      const draws = objective !== "next" && objective !== "prefix";
      set(controls.rate.row, { hidden: !draws });
      set(again, { hidden: !draws });
      set(controls.length.row, { hidden: objective !== "prefix" });
      const asks = forTwin(state) && rows.counted.includes(true);
      const key = `${rows.inputs.join(" ")} ${rows.counted.join(" ")}`;
      const filled = asks ? shop.job("twin", key, () => fill(twin, rows)).result : null;
      say(about, forTwin(state) ? ASKED + LENGTH : SILENT);
      set(line.element, { "aria-busy": String(asks && !filled) });
      result.say(describe(state, rows, filled));
      const shown = JSON.stringify([rows, asks, filled]);
      once("rows", shown, () => {
        line.draw(rows, asks, filled);
        mask.draw(may, rows.counted);
        list.draw(
          rows.inputs.map((word, i) => [
            `${i + 1}`,
            word,
            rows.targets[i] || "–",
            rows.counted[i] ? "1" : "0",
            reach(may[i]),
            filled?.places[i] ? `${filled.places[i].said} (${percent(filled.places[i].sure)})` : "–",
            filled?.places[i] ? percent(filled.places[i].right) : "–",
          ]),
        );
      });
    },
    stop: shop.stop,
  };
});
