// RoPE, taken hold of: turn a query and a key by their positions and watch the score.
//
// First the parts of the drawing, each { element, draw(state) }; then what joins them.

import { arrow, clamp, columns, div, format, grouped, heading, html, legend } from "../kit/kit.js";
import { memory, panel, paragraph, path, paths, radio, resultLine, select, set } from "../kit/kit.js";
import { signed, sketch, slider, span, sum, widget, write } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { play } from "../shared/play.js";
import { inTurns } from "../shared/in_turns.js";
import { details } from "../shared/folded.js";
import {
  applyRope,
  lookalike,
  pairCurve,
  pairIndices,
  pairScores,
  ropeFrequencies,
} from "../shared/rotation.js";
import { ropePermutation, scoreCurve } from "../shared/rotation.js";

const PACE = 2; // tokens per second while playing
const MOVERS = { both: "both positions", key: "the key alone" };
const largest = (numbers) => Math.max(...numbers.map(Math.abs));

// ---------------------------------------------------------------- controls

// One slider for both positions: their distance stays.
function shiftBoth(last, move) {
  let state = null;
  const words = () => {
    const { m, n, anchor } = state;
    const moved = m - anchor.m;
    return `${signed(moved)} (${signed(moved - Math.min(m, n))} … ${signed(moved + last - Math.max(m, n))})`;
  };
  const control = slider({
    ...{ label: "Shift both", min: 0, max: last, text: words },
    change(start) {
      const by = start - Math.min(state.m, state.n);
      move(state.m + by, state.n + by);
    },
  });
  function draw(now) {
    state = now;
    control.limit({ max: last - Math.abs(state.n - state.m) });
    control.set(Math.min(state.m, state.n));
  }
  return { row: control.row, draw };
}

// Moves one token after the other.  `glide` is the part of a token that the arrows are ahead of m and n.
function motion({ last, positions, move, redraw }) {
  let glide = 0;
  const what = select({ label: "moves", options: Object.entries(MOVERS), value: "both", change: redraw });
  const alone = () => what.input.value === "key";
  const step = () => {
    const [m, n] = positions();
    if (alone()) move(m, n < last ? n + 1 : 0);
    else if (Math.max(m, n) < last) move(m + 1, n + 1);
    else move(m - Math.min(m, n), n - Math.min(m, n));
  };
  const { button, playing, stop } = play({
    frame(seconds) {
      glide += PACE * seconds;
      if (glide >= 1) {
        glide -= 1;
        step();
      }
      redraw();
    },
    end() {
      glide = 0;
      redraw();
    },
  });
  const ahead = () => ({ glideM: alone() ? 0 : glide, glideN: glide, playing: playing() });
  return { element: div("control", button, what), ahead, stop };
}

// ---------------------------------------------------------------- the score

function readout() {
  const [number, kept, result] = [span("number"), paragraph(""), resultLine()];
  function draw({ m, n, score, anchor, playing }) {
    write(number, format(score));
    const since = `difference since the shift ${format(score - anchor.score)}`;
    const untouched = "Move a slider, or drag the point along the curve.";
    write(kept, m === anchor.m ? untouched : `Both shifted by ${signed(m - anchor.m)}: ${since}`);
    result.say(`m = ${m}, n = ${n}, distance ${format(n - m, 0)}, score ${format(score)}`, playing);
  }
  return { element: div("readout", paragraph("", "Score ", number), div("", result, kept)), draw };
}

// ---------------------------------------------------------------- the pairs: circles with two arrows

const RADIUS = 46;
const at = (angle, radius) => [radius * Math.cos(angle), -radius * Math.sin(angle)];

function wedge(from, to, radius) {
  const turn = Math.atan2(Math.sin(to - from), Math.cos(to - from));
  const rim = Array.from({ length: 13 }, (_, i) => at(from + (turn * i) / 12, radius));
  return path([[0, 0], ...rim, [0, 0]]);
}

// A dot on the rim for every position passed: a slow pair keeps them together.  What was passed stays where it is.
function trail(radius) {
  let [same, dots] = ["", []];
  return (start, frequency, position) => {
    const now = `${start} ${frequency}`;
    if (now !== same) [same, dots] = [now, []];
    while (dots.length <= position) dots.push(`${path([at(start + dots.length * frequency, radius)])}h0`);
    return dots.slice(0, position + 1).join("");
  };
}

function circle(pair) {
  const [trailQ, trailK] = [trail(RADIUS + 6), trail(RADIUS + 12)];
  const { element: drawing, layers } = sketch({
    box: "-62 -62 124 124",
    layers: {
      ...{ rim: { tag: "circle", r: RADIUS }, wedge: "path" },
      ...{ passedQ: { tag: "path", class: "query trail" }, passedK: { tag: "path", class: "key trail" } },
      ...paths("query", "key"),
    },
  });
  const [speed, share] = [span("speed"), span("share")];

  function draw(state, scale) {
    const frequency = state.frequencies[pair];
    const [q, k] = [state.query, state.key].map((v) => v.slice(2 * pair, 2 * pair + 2));
    const [startQ, startK] = [q, k].map(([a, b]) => Math.atan2(b, a));
    const angleQ = startQ + (state.m + state.glideM) * frequency;
    const angleK = startK + (state.n + state.glideN) * frequency;
    layers.wedge(wedge(angleQ, angleK, RADIUS / 2.6));
    layers.passedQ(trailQ(startQ, frequency, state.m));
    layers.passedK(trailK(startK, frequency, state.n));
    layers.query(arrow([0, 0], at(angleQ, (RADIUS * Math.hypot(...q)) / scale)));
    layers.key(arrow([0, 0], at(angleK, (RADIUS * Math.hypot(...k)) / scale)));
    const turn = (2 * Math.PI) / frequency;
    write(speed, `one turn in ${turn < 100 ? format(turn, 1) : grouped(turn)}`);
    write(share, format(state.shares[pair]));
  }
  return { element: span("pair", html("b", {}, `Pair ${pair}`), drawing, speed, share), draw };
}

function circles(choose) {
  const element = div("circles");
  let [cards, faces, choice, shown] = [[], [], null, 0];
  function build(most) {
    cards = Array.from({ length: most }, (_, i) => circle(i));
    choice = radio({
      label: "Each pair of coordinates is an arrow on a circle; choose the pair to follow",
      options: cards.map((card, i) => [i, card.element]),
      change: choose,
    });
    faces = [...choice.row.querySelectorAll("label")];
    element.replaceChildren(choice.row);
  }
  // A circle that goes is kept, for when it comes again.
  function show(count) {
    faces.forEach((face, i) => (i < count ? face.isConnected || choice.row.append(face) : face.remove()));
    choice.row.style.setProperty("--columns", Math.min(count, 4));
    shown = count;
  }
  function draw(state) {
    const count = state.dim / 2;
    if (cards.length < count) build(state.most);
    if (shown !== count) show(count);
    choice.set(state.pair);
    const length = (v) => pairIndices(state.dim).map(([a, b]) => Math.hypot(v[a], v[b]));
    const scale = largest([...length(state.query), ...length(state.key)]) || 1;
    for (const card of cards.slice(0, count)) card.draw(state, scale);
  }
  return { element, draw };
}

// ---------------------------------------------------------------- the score against the distance

function curve(last, goTo) {
  const distances = Array.from({ length: 8 * last + 1 }, (_, i) => i / 4 - last);
  const once = memory();

  // The curves stay as they are while only the positions move.
  const curvesOf = ({ query, key, base, pair }) =>
    once("curves", [query, key, base, pair], () => {
      const scores = scoreCurve(query, key, distances, base);
      const share = pairCurve(query, key, pair, distances, base);
      const all = [...scores, ...share, 0];
      const unit = 10 ** Math.floor(Math.log10(largest(all) || 1)) / 2;
      const round = (value, to) => to(value / unit) * unit;
      const domain = [round(Math.min(...all), Math.floor), round(Math.max(...all), Math.ceil) || unit];
      return { scores, share, domain };
    });

  // The distance that is most easily taken for the one with the highest score.
  function drawMark({ alias, name }, { x, spot, width }, scores) {
    const whole = scores.filter((_, i) => i % 4 === 0);
    const [top, like] = [whole.indexOf(Math.max(...whole)) - last, lookalike(whole) - last];
    if (like < -last) return [alias, name].forEach((layer) => layer(null));
    alias(spot(like, whole[like + last]));
    const words = `${format(like, 0)} looks like ${format(top, 0)}`;
    // to the right of the axis' own name, which stands in the same line
    name(words, { x: clamp(x(like), 144, width - 70), y: 14, "text-anchor": "middle" });
  }

  const chart = panel({
    label: "Curve of the score against the distance n − m",
    name: "curve",
    height: 230,
    margin: [26, 14, 42, 40],
    x: (_, width) => ({
      ...{ domain: [-last, last], label: "distance n − m (tokens)" },
      ticks: [-64, -48, -32, -16, 0, 16, 32, 48, 64].filter((t) => width > 500 || t % 32 === 0),
    }),
    y: (state) => ({ domain: curvesOf(state).domain, label: "score" }),
    layers: paths("now", "part", "total"),
    over: {
      alias: { tag: "circle", r: 8 },
      name: { tag: "text", class: "tick" },
      point: { tag: "circle", r: 6 },
    },
    drag: ([distance]) => goTo(Math.round(distance)),
    draw(layers, plot, state) {
      const { x, y, line, width } = plot;
      const { query, key, m, n, base, pair, glideM, glideN } = state;
      once("drawn", [query, key, base, pair, width], () => {
        const { scores, share } = curvesOf(state);
        layers.total(line(distances.map((r, i) => [r, scores[i]])));
        layers.part(line(distances.map((r, i) => [r, share[i]])));
        drawMark(layers, plot, scores);
      });
      const now = n + glideN - m - glideM;
      const height = y(scoreCurve(query, key, [now], base)[0]);
      layers.now(`M${x(now)} ${y.range[0]}V${y.range[1]}M${x.range[0]} ${height}H${x.range[1]}`);
      layers.point({ cx: x(now), cy: height });
    },
  });
  const names = legend({ "": "score, all pairs", chosen: "" });
  function draw(state) {
    write(names.lastChild, `pair ${state.pair} alone`);
    names.lastChild.hidden = state.dim === 2; // it is the whole score
    chart.draw(state);
  }
  return { element: div("", names, chart), draw };
}

// ---------------------------------------------------------------- the numbers

function numbers() {
  const list = table({
    caption:
      "Every pair in numbers: its speed ω in radians per token, how many radians its arrows have turned, what it adds",
    head: ["Pair", "ω", "query turned", "key turned", "difference", "dot product"],
  });
  function draw({ m, n, pair, frequencies, shares, score }) {
    const turned = (w) => [m * w, n * w, (n - m) * w].map((x) => format(x, 2));
    const rows = frequencies.map((w, i) => [`${i}`, w.toPrecision(3), ...turned(w), format(shares[i])]);
    list.draw(rows, { chosen: pair, foot: ["score, the sum", format(score)] });
  }
  return { element: list.element, draw };
}

// ---------------------------------------------------------------- which coordinates make a pair

function pairing(title, layout) {
  const { element: drawing, layers } = sketch({
    label: `${title}: arcs join the coordinates of a pair, bars are the query before and after its rotation`,
    layers: {
      ...paths("axis", "before", "after", "arcs", "chosen"),
      name: { tag: "text", many: true, "text-anchor": "middle" },
    },
  });
  const score = html("b");

  function draw({ x, turned, order, pair, scale, total }) {
    const step = 240 / x.length;
    const pairs = pairIndices(x.length, layout);
    const center = (i) => (i + 0.5) * step;
    const arc = (/** @type {number[]} */ [a, b]) => {
      const top = 44 - Math.min(54, 14 * (b - a));
      return `M${center(a)} 44C${center(a)} ${top} ${center(b)} ${top} ${center(b)} 44`;
    };
    const bar = (width) => (v, i) => `M${center(i) - width / 2} 92v${(-40 * v) / scale}h${width}V92Z`;
    layers.axis("M0 92H240");
    layers.before(x.map(bar(step * 0.8)).join(""));
    layers.after(turned.map(bar(step * 0.44)).join(""));
    layers.arcs(pairs.map(arc).join(""));
    layers.chosen(arc(pairs[pair]));
    const rows = x.length > 10 ? 2 : 1; // of names, so that they have room beside each other
    set(drawing, { viewBox: `0 0 240 ${138 + 12 * rows}` });
    layers.name(order, (name, i) => ({
      ...{ x: center(i), y: 147 + 12 * (i % rows) },
      ...{ class: pairs[pair].includes(i) ? "tick chosen" : "tick", words: `${name}` },
    }));
    write(score, format(total));
  }
  return { element: div("", html("b", {}, title), drawing, span("", "score ", score)), draw };
}

function conventions() {
  const panels = [
    pairing("Interleaved: 2i with 2i + 1", "interleaved"),
    pairing("Half-split: i with i + d/2", "half"),
    pairing("Half-split, reordered first", "half"),
  ];
  const words = paragraph("");

  function draw({ query, key, m, n, dim, base, pair }) {
    const order = ropePermutation(dim);
    const plain = order.map((_, i) => i);
    const reorder = (x) => order.map((i) => x[i]);
    const cases = [
      [query, key, plain, "interleaved"],
      [query, key, plain, "half"],
      [reorder(query), reorder(key), order, "half"],
    ];
    const turned = cases.map(([q, , , layout]) => applyRope(q, m, base, layout));
    const scale = largest([...query, ...turned.flat()]) || 1;
    cases.forEach(([x, k, names, layout], i) => {
      const total = sum(pairScores(x, k, m, n, base, layout));
      panels[i].draw({ x, turned: turned[i], order: names, pair, scale, total });
    });
    const gap = (x, y) => format(largest(x.map((v, i) => v - y[i])));
    const first = `With other partners, the query turned to position ${m} differs by up to ${gap(turned[0], turned[1])} in a coordinate.`;
    const second = `Take its coordinates in the order ${order.join(" ")} first, and the half-split rotation gives the interleaved result in that order: difference ${gap(reorder(turned[0]), turned[2])}.`;
    write(words, `${first} ${second}`);
  }
  const title =
    "Which coordinates make a pair: the query before its rotation (outline) and after it (filled)";
  return { element: div("", heading(title), div("conventions", ...panels), words), draw };
}

// ---------------------------------------------------------------- the widget

export default widget("rope", ({ el, controls, constants: { last }, get, write: put, redraw }) => {
  const positions = () => [get("m"), get("n")];
  const move = (m, n) => put({ m: clamp(m, 0, last), n: clamp(n, 0, last) });
  const player = motion({ last, positions, move, redraw });
  const both = shiftBoth(last, move);
  const words = readout();
  const pairs = circles((pair) => put({ pair }));
  const scores = curve(last, (distance) => move(get("m"), get("m") + distance));
  const more = "Every pair in numbers, and two ways to pair coordinates";
  const closer = details(more, numbers(), conventions());
  let anchor = { same: "", m: 0, score: 0 }; // the position and score where the present distance was first seen
  const once = memory();

  /** A state with its numbers. */
  function whole(state) {
    const { m, n, base, dim } = state;
    const [query, key] = [state.query, state.key].map((v) => v.slice(0, dim));
    const shares = pairScores(query, key, m, n, base);
    const score = sum(shares);
    const same = JSON.stringify([n - m, base, query, key]);
    if (anchor.same !== same) anchor = { same, m, score };
    const numbered = { query, key, shares, score, frequencies: ropeFrequencies(dim, base) };
    return { ...state, ...numbered, most: Math.min(state.query.length, state.key.length) / 2, anchor };
  }
  // Parts of the drawing that are drawn in one frame.
  const together = (...parts) => {
    let shown = null;
    return ({ now }) => {
      const differs = now !== shown;
      if (differs) for (const part of parts) part.draw(now);
      shown = now;
      return differs;
    };
  };
  const picture = inTurns(redraw, together(words, pairs), together(scores), together(closer));
  controls.m.row.classList.add("query");
  controls.n.row.classList.add("key");

  return {
    layout: [
      columns("controls", [controls.m, controls.n, both], [controls.base, controls.dim, player]),
      words,
      div("stage", pairs, scores),
      closer,
    ],
    change({ dim, ...others }) {
      put(dim ? { dim, pair: Math.min(get("pair"), dim / 2 - 1) } : others);
    },
    draw(state) {
      const { m, n, base, dim, pair, query, key } = state;
      const ahead = player.ahead();
      const on = [m, n, base, dim, pair, query, key, ahead];
      const now = once("now", on, () => whole({ ...state, ...ahead }));
      el.classList.toggle("few", dim <= 4);
      controls.dim.limit({ high: 2 * now.most });
      both.draw(now); // keys move it from where it stands
      picture.draw({ now }, ahead.playing);
    },
    stop() {
      picture.stop();
      player.stop();
    },
  };
});
