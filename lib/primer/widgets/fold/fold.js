// Folds: what each layer of a network makes of the line from 0 to 1.
//
// The functions above `outline` are the mathematics; the tests compare them with primer.networks.

import { between, columns, counted, grouped, panel, resultLine, short, widget } from "../kit/kit.js";

/** How a layer adds its units up: w, −2w, 2w …, the last weight too small by a part. */
export const outer = (width, lacking) =>
  Array.from({ length: width }, (_, j) => {
    const weight = width * (j ? (j % 2 ? -2 : 2) : 1);
    return j === width - 1 ? weight * (1 - lacking) : weight;
  });

// What a layer makes of one number.
function zigzag(h, bends, weights) {
  let total = 0;
  for (let j = 0; j < bends.length; j++) if (h > bends[j]) total += weights[j] * (h - bends[j]);
  return total;
}

// The places where a polyline crosses the bends, put between its points, which keep their order.
function cross({ x, y }, at) {
  const [xs, ys] = [[x[0]], [y[0]]];
  for (let i = 1; i < x.length; i++) {
    const [from, to] = [y[i - 1], y[i]];
    const inside = at.filter(
      (b) => (from - b) * (to - b) < 0 && Math.min(Math.abs(from - b), Math.abs(to - b)) > 1e-12,
    );
    if (from > to) inside.reverse();
    for (const b of inside) {
      xs.push(x[i - 1] + ((x[i] - x[i - 1]) * (b - from)) / (to - from));
      ys.push(b);
    }
    xs.push(x[i]);
    ys.push(to);
  }
  return { x: xs, y: ys };
}

/** Is this one, from 0, of the layers that are disturbed? */
const disturbed = (k, depth, where) => where === "every" || k === (where === "first" ? 0 : depth - 1);

/** What the first k layers make of the line, for k = 0 … depth: corners x and values y. */
export function fold(depth, width, lacking, where) {
  const bends = between(0, 1 - 1 / width, width - 1); // 0, 1/w, 2/w …
  const rows = [{ x: [0, 1], y: [0, 1] }];
  for (let k = 0; k < depth; k++) {
    const weights = outer(width, disturbed(k, depth, where) ? lacking : 0);
    const { x, y } = cross(rows[k], bends);
    rows.push({ x, y: y.map((h) => zigzag(h, bends, weights)) });
  }
  return rows;
}

/** The straight pieces of a polyline: one, and one more wherever the slope changes. */
export function countPieces({ x, y }) {
  const slopes = x.slice(1).map((right, i) => (y[i + 1] - y[i]) / (right - x[i]));
  const steepest = Math.max(...slopes.map(Math.abs));
  return slopes.reduce((n, s, i) => n + Number(i > 0 && Math.abs(s - slopes[i - 1]) > 1e-9 * steepest), 1);
}

// Corners as points; where there are more than a screen has columns, the lowest and the highest in each.
export function outline({ x, y }, most = 700) {
  if (x.length <= 2 * most) return x.map((place, i) => [place, y[i]]);
  const ends = Array.from({ length: most }, () => [1, 0]);
  x.forEach((place, i) => {
    const end = ends[Math.min(Math.floor(place * most), most - 1)];
    end[0] = Math.min(end[0], y[i]);
    end[1] = Math.max(end[1], y[i]);
  });
  return ends.flatMap((end, column) => end.map((v) => [(column + 0.5) / most, v]));
}

const SHARE = 0.8; // of a row that a curve takes
const name = (k) => (k === 0 ? "the line" : `layer ${k}`);

const strips = () =>
  panel({
    label: "What each layer makes of the line from 0 to 1",
    name: "strips",
    height: 390,
    margin: [12, 84, 40, 54],
    x: { domain: [0, 1], label: "place on the line, x", ticks: [0, 0.25, 0.5, 0.75, 1], text: short },
    y: ({ rows }) => ({
      domain: [0, rows.length],
      label: "",
      ticks: rows.map((_, k) => rows.length - k - 1),
      text: (t) => name(rows.length - 1 - t),
    }),
    layers: { curve: { tag: "path", many: true } },
    over: { count: { tag: "text", many: true } },
    draw({ curve, count }, { x, y, line }, { rows, pieces, wrong }) {
      const base = (k) => rows.length - k - 1;
      curve(rows, (row, k) => ({
        d: line(outline(row).map(([place, v]) => [place, base(k) + SHARE * v])),
        class: `curve${wrong(k) ? " wrong" : ""}${row.x.length > 200 ? " fine" : ""}`,
      }));
      const beside = { class: "count", x: x.range[1] + 8 };
      count(pieces, (n, k) => ({ ...beside, y: y(base(k) + SHARE / 2) + 4, words: counted(n, "piece") }));
    },
  });

// What the result line says.
export function describe(depth, width, lacking, pieces) {
  const units = depth * width;
  const text = `${counted(depth, "layer")} of ${width} units: ${counted(pieces, "straight piece")}`;
  const whole = width ** depth;
  if (lacking > 0)
    return pieces === whole
      ? `${text}, no fewer: what is wrong here are heights.`
      : `${text} instead of ${grouped(whole)}.`;
  return `${text}. One layer with the same ${units} units draws at most ${units + 1}.`;
}

export default widget("fold", ({ controls }) => {
  const [drawing, result] = [strips(), resultLine()];
  return {
    layout: [
      columns("controls", [controls.depth, controls.width], [controls.lacking, controls.where]),
      result,
      drawing,
    ],
    draw({ depth, width, lacking, where }) {
      const rows = fold(depth, width, lacking / 100, where);
      const pieces = rows.map(countPieces);
      const wrong = (k) => lacking > 0 && k > 0 && disturbed(k - 1, depth, where);
      drawing.draw({ rows, pieces, wrong });
      result.say(describe(depth, width, lacking, pieces[depth]));
    },
  };
});
