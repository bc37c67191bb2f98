// Moved vector: one token's vector before and after an attention layer, and the arrows that moved it.
//
// What is computed is in moving.js.

import {
  button,
  clamp,
  columns,
  counted,
  div,
  format,
  heading,
  legend,
  memory,
  panel,
  percent,
} from "../kit/kit.js";
import { resultLine, set, short, widget, write } from "../kit/kit.js";
import { inTurns, news } from "../shared/in_turns.js";
import { newCache, nextSteps, readModel } from "../shared/language_model.js";
import { softmax } from "../shared/probability.js";
import { BYTE_BY_BYTE, textInput } from "../shared/text_input.js";
import { cut, encode, nameOf, tokenText } from "../shared/tokenizer.js";
import { workshop } from "../shared/workshop.js";
import { angle, byLength, changed, directions, dot, look, norm, plus, steps, total } from "./moving.js";

const NAMED = 4; // so many arrows have a color and a name
const ROWS = 5; // so many guesses are shown

/** The most probable tokens, of equal ones the first. */
export function likeliest(chances, count) {
  const found = [];
  while (found.length < Math.min(count, chances.length)) {
    let best = -1;
    for (let id = 0; id < chances.length; id++)
      if ((best < 0 || chances[id] > chances[best]) && !found.includes(id)) best = id;
    found.push(best);
  }
  return found;
}

/** The guesses to show, the same however long the arrows are: as the model runs, without them, twice as long. */
export function rowsOf(now, others, count) {
  const found = likeliest(now, 3);
  const lists = others.map((one) => likeliest(one, count));
  for (let rank = 0; found.length < count; rank++)
    for (const list of lists) {
      const id = list[rank];
      if (found.length < count && !found.includes(id)) found.push(id);
    }
  return found;
}

/** What the result line says. */
export function describe({ layer, head, strength }, longest, guess, [now, then], apart = null) {
  const heads = head === null ? "all heads" : `head ${head}`;
  const arrow = `Layer ${layer}, ${heads}: the longest arrow, ${format(longest.length, 2)}, comes from “${longest.name}”.`;
  const next = `“${guess}” comes next with ${percent(now, 0)}`;
  const away = apart === null ? "" : ` The kept move points ${format(apart, 0)}° away.`;
  if (strength === 1) return `${arrow} ${next}.${away}`;
  return `${arrow} ${next}; with these arrows times ${short(strength)}, with ${percent(then, 0)}.${away}`;
}

/** The last letters of a text, as many as have room in a drawing. */
export const ending = (text) => (text.trim().length > 14 ? `…${text.trim().slice(-13)}` : text.trim());

/** How much of some lengths a plane shows. */
export const shares = (plane, vectors) =>
  vectors.map(
    (vector) => Math.hypot(dot(plane[0], vector), dot(plane[1], vector)) / Math.max(norm(vector), 1e-9),
  );

// ---------------------------------------------------------------- the tokens

const BELOW = 58; // room for the tokens, slanted where they would meet

function strip(choose, step) {
  return panel({
    label: "The length of the arrow from each token; arrow keys choose the token whose vector is looked at",
    name: "strip",
    role: "application",
    height: 138,
    margin: [22, 12, BELOW, 34],
    x: ({ names }) => ({ domain: [0, names.length], ticks: [], label: "" }),
    y: ({ most }) => ({
      domain: [0, most],
      ticks: [0, most / 2, most],
      text: (t) => short(t),
      label: "length of the arrow from",
    }),
    layers: { here: "rect", bar: { tag: "path", many: true } },
    over: { token: { tag: "text", many: true, "text-anchor": "end" } },
    drag: ([x]) => choose(Math.floor(x)),
    step: (dx) => step(dx),
    draw({ here, bar, token }, { x, y, height }, { names, lengths, colorOf, place }) {
      const size = x(1) - x(0);
      here({ x: x(place), y: 0, width: size, height: height - BELOW });
      bar([...lengths.keys()], (j) => ({
        class: `bar ${colorOf(j)}`,
        d: `M${(x(j) + 0.15 * size).toFixed(1)} ${y(0)}V${y(lengths[j]).toFixed(1)}H${(x(j + 1) - 0.15 * size).toFixed(1)}V${y(0)}Z`,
      }));
      const room = Math.ceil(13 / size);
      const own = (i) => i === place || (colorOf(i) !== "rest" && size >= 9);
      const shown = [...names.keys()].filter(
        (i) => own(i) || (i % room === 0 && Math.abs(i - place) >= room),
      );
      const upright = shown.every((i) => 8 * cut(names[i]).length < size);
      token(shown, (i) => ({
        words: cut(names[i]),
        class: `token ${colorOf(i)} ${i === place ? "chosen" : ""} ${i > place ? "later" : ""}`,
        "text-anchor": upright ? "middle" : "end",
        transform: upright
          ? `translate(${x(i + 0.5).toFixed(1)} ${height - BELOW + 16})`
          : `translate(${(x(i + 0.5) + 4).toFixed(1)} ${height - BELOW + 12}) rotate(-55)`,
      }));
    },
  });
}

// ---------------------------------------------------------------- the plane

/** Where the names of arrows stand, [[x, y, words], …], moved apart where they would lie on each other. */
export function apart(labels, gap = 13) {
  const placed = [];
  for (const label of [...labels].sort((a, b) => a.y - b.y)) {
    const near = placed.filter(
      (one) => Math.abs(one.x - label.x) < 7 * Math.max(one.words.length, label.words.length),
    );
    placed.push({ ...label, y: Math.max(label.y, ...near.map(({ y }) => y + gap)) });
  }
  return placed;
}

const TALL = 300;

/** The ends of both axes, so that a unit is as long on either: [[low, high], [low, high]]. */
export function frame(points, width, height) {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [low, high] = [Math.min, Math.max].map((most) => [xs, ys].map((all) => most(0, ...all)));
  const unit = 1.16 * Math.max((high[0] - low[0]) / width, (high[1] - low[1]) / height, 1 / width);
  return [width, height].map((pixels, axis) => {
    const middle = (low[axis] + high[axis]) / 2;
    return [middle - (unit * pixels) / 2, middle + (unit * pixels) / 2];
  });
}

const plane = () => {
  const margin = [24, 66, 38, 34];
  const ends = ({ points, ghost }, width) =>
    frame(ghost ? [...points, ghost] : points, width - margin[1] - margin[3], TALL - margin[0] - margin[2]);
  return panel({
    label:
      "The vector before the layer, the vector after it, and the arrows from the one to the other, tip to tail",
    name: "plane",
    height: TALL,
    margin,
    x: (state, width) => ({ domain: ends(state, width)[0], label: state.across }),
    y: (state, width) => ({ domain: ends(state, width)[1], label: state.up }),
    layers: { before: "path", after: "path", ghost: "path", step: { tag: "path", many: true } },
    over: { name: { tag: "text", many: true } },
    draw(
      { before, after, ghost: other, step, name },
      { at, arrow, width },
      { points, parts, ghost, whole, of },
    ) {
      const last = points.length - 1;
      const kept = whole && ghost; // with the last arrow comes what it leads to
      before(arrow([0, 0], points[0]));
      after(whole ? arrow([0, 0], points[last]) : null);
      other(kept ? arrow(points[0], kept) : null);
      step(parts, ({ color }, i) => ({ class: `step ${color}`, d: arrow(points[i], points[i + 1]) }));
      const labels = [
        { words: "before", color: "plain", from: [0, 0], to: points[0] },
        ...(whole ? [{ words: "after", color: "end", from: [0, 0], to: points[last] }] : []),
        ...(kept ? [{ words: of, color: "plain", from: points[0], to: kept }] : []),
        ...parts.map(({ words, color }, i) => ({ words, color, from: points[i], to: points[i + 1] })),
      ].flatMap(({ words, color, from, to }) => {
        const [[x0, y0], [x1, y1]] = [at(from), at(to)];
        const length = Math.hypot(x1 - x0, y1 - y0);
        if (length < 16) return [];
        const side = words === "before" ? -1 : 1; // beside the middle, to the right of the way
        const [x, y] = [
          (x0 + x1) / 2 - (side * 9 * (y1 - y0)) / length,
          (y0 + y1) / 2 + (side * 9 * (x1 - x0)) / length,
        ];
        const room = 7 * words.length;
        return [{ words, color, x: clamp(x, 36, width - 2 - room), y: y + 4 }];
      });
      name(apart(labels), ({ words, color, x, y }) => ({ words, class: `name ${color}`, x, y }));
    },
  });
};

// ---------------------------------------------------------------- what comes next

const guesses = () =>
  panel({
    label:
      "The probabilities of the next token, as the model runs and with the arrows as long as the slider says",
    name: "guesses",
    height: 172,
    margin: [4, 40, 36, 64],
    x: ({ most }) => ({ domain: [0, most], label: "probability of coming next", text: (t) => percent(t, 0) }),
    y: ({ rows }) => ({
      domain: [rows.length, 0],
      ticks: rows.map((_, i) => i + 0.5),
      text: (t) => rows[t - 0.5]?.name ?? "",
      label: "",
    }),
    layers: { now: "path", longer: "path" },
    over: { value: { tag: "text", many: true } },
    draw({ now, longer, value }, { x, y }, { rows }) {
      const bar = (i, from, to, chance) =>
        `M${x(0)} ${y(i + from)}H${x(chance).toFixed(1)}V${y(i + to)}H${x(0)}Z`;
      now(rows.map((row, i) => bar(i, 0.12, 0.48, row.now)).join(""));
      longer(rows.map((row, i) => bar(i, 0.52, 0.88, row.longer)).join(""));
      value(rows, (row, i) => ({
        words: percent(row.longer, row.longer < 0.095 ? 1 : 0),
        x: x(Math.max(row.now, row.longer)) + 5,
        y: y(i + 0.5) + 4,
      }));
    },
  });

// ---------------------------------------------------------------- the widget

export default widget("moved-vector", ({ controls, constants, get, read, write: tell, redraw }) => {
  const model = readModel(get("checkpoint"));
  const { tokenizer, config } = model;
  const { longest, all } = constants;
  const put = (changes) => tell({ arrows: all, ...changes }); // another picture is seen whole
  const [shop, once, anew] = [workshop(redraw), memory(), news()];
  let tokens = [];
  const input = textInput({
    label: "Text",
    examples: get("examples"),
    longest: 300,
    change: (text) => put({ text, place: longest - 1 }), // whoever types sees the last token move
  });
  const choose = (place) => put({ place: clamp(place, 0, tokens.length - 1) });
  const [told, result] = [heading(), resultLine()];
  const [row, space, board] = [
    strip(choose, (dx) => choose(Math.min(read().place, tokens.length - 1) + dx)),
    plane(),
    guesses(),
  ];
  const key = legend({ now: "as the model runs", longer: "with the arrows so long" });
  const name = (id) => nameOf(tokenizer, id);
  // The move of this token stays in the drawing while another text is read.
  const keep = button("", () => {
    const { text, place, kept_text: kept } = read();
    put(kept ? { kept_text: "" } : { kept_text: text, kept_place: Math.min(place, tokens.length - 1) });
  });
  let shown = 0; // of the arrows
  let there = 0; // so many there are
  const onward = button("", () => tell({ arrows: shown < there ? shown + 1 : 1 }));
  const stage = div(
    "stage",
    row,
    columns(
      "both",
      [space, told, div("buttons", onward, keep)],
      [controls.layer, controls.head, controls.strength, board, key, controls.plane],
    ),
    result,
  );

  function parse(text) {
    try {
      const all = encode(tokenizer, text);
      const strange = all.some((id) => tokenText(tokenizer, id).startsWith("‹"));
      const said = [
        all.length ? counted(all.length, "token") : "Type something: the model needs a token",
        all.length > longest && `the first ${longest} are read`,
        strange && BYTE_BY_BYTE,
      ];
      return { tokens: all.slice(0, longest), note: `${said.filter(Boolean).join("; ")}.` };
    } catch (error) {
      return { tokens: [], note: error.message };
    }
  }

  function* reading(ids) {
    const cache = newCache(model);
    yield* nextSteps(model, ids, cache);
    return cache;
  }

  const keptIds = ({ kept_text: text }) => once("kept ids", text, () => (text ? parse(text).tokens : []));

  // Whose move that is: the kept text up to its token.
  const keptWords = (state) =>
    ending(
      keptIds(state)
        .slice(0, state.kept_place + 1)
        .map((id) => tokenText(tokenizer, id))
        .join(""),
    );

  // The whole move of the token that was kept; none where it is the present one.
  function keptMove(state, layer, place) {
    const ids = keptIds(state);
    const there = ids.slice(0, state.kept_place + 1);
    if (!there.length || there.join() === tokens.slice(0, place + 1).join()) return null;
    const job = shop.job("kept", ids.join(), () => reading(ids));
    if (!job.done) return undefined;
    return once("kept", [there.join(), layer], () => {
      const arrows = look(model, job.result, ids, there.length - 1).arrows(layer);
      return total(arrows.flat(), config.d_model);
    });
  }

  /** What is looked at: a token, a layer, a head, and the arrows. */
  function scene(state, cache, place, layer, kept) {
    const { text, head, strength } = state;
    const here = [text, place];
    const seen = once("seen", here, () => look(model, cache, tokens, place));
    const arrows = once("arrows", [...here, layer], () => seen.arrows(layer));
    const own = once("own", [...here, layer, head], () => steps(arrows, head, 1, NAMED));
    const chain = strength === 1 ? own : steps(arrows, head, strength, NAMED);
    const run = (times) =>
      softmax(
        changed(
          model,
          seen,
          layer,
          own.own.map((x) => (times - 1) * x),
        ),
      );
    const now = once("now", here, () => softmax(seen.logits));
    const best = once("best", here, () => likeliest(now, 2));
    const order = byLength(own.sources);
    const lengths = own.sources.map(norm);
    const names = tokens.map(name);
    const before = seen.before(layer);
    return {
      ...{ state, here, place, layer, head, strength, kept, before, own, chain, run },
      now,
      best,
      order,
      lengths,
      names,
    };
  }

  /** The arrows: from each token, and in the plane. */
  function drawArrows({ state, place, kept, before, own, chain, best, order, lengths, names }) {
    const kind = state.plane;
    const axes = directions(model, kind, before, own.added, best, kept);
    const flat = (vector) => axes.map((axis) => dot(axis, vector));
    const colorOf = (j) => {
      const rank = order.indexOf(j);
      return rank < 0 || rank >= NAMED ? "rest" : `c${rank}`;
    };
    row.draw({ names, lengths, colorOf, place, most: Math.max(1, Math.ceil(Math.max(...lengths))) });

    there = chain.steps.length;
    shown = Math.min(state.arrows, there);
    const whole = shown === there;
    write(onward, whole ? "Arrow by arrow" : "Next arrow");
    const vectors = [before];
    for (const [, step] of chain.steps) vectors.push(plus(vectors[vectors.length - 1], step));
    const words = { others: "the others", heads: "other heads" };
    space.draw({
      points: vectors.map(flat),
      ghost: kept && flat(plus(before, kept)),
      whole,
      of: keptWords(state),
      parts: chain.steps.slice(0, shown).map(([from]) => ({
        words: words[from] ?? cut(names[from]),
        color: from in words ? "rest" : colorOf(from),
      })),
      across:
        kind === "move"
          ? `along the ${kept ? "kept move" : "vector before"}`
          : `more “${name(best[0])}”, less “${name(best[1])}” →`,
      up: kind === "move" ? "across it" : "↑ more of both",
    });
    const first = order[0];
    const after = vectors[vectors.length - 1];
    const [b, a, f] = shares(axes, [before, after, own.sources[first]]).map((share) => percent(share, 0));
    write(
      told,
      `A vector has ${config.d_model} numbers. Of its length this plane shows: before ${b}, after ${a}, the arrow from “${names[first]}” ${f}.`,
    );
  }

  // What comes next without the arrows and with arrows twice as long, for each layer and head until another token is
  // looked at: the rows that are shown, and how far their axis reaches.
  let known = 0;
  const endsOf = ({ here, layer, head, run }) =>
    once("ends", here, memory)(`${layer} ${head}`, 0, () => {
      known++;
      return [run(0), run(2)];
    });

  // The chances with arrows as long as the slider says.
  const longerOf = ({ here, layer, head, strength, run, now }) =>
    once("longer", [...here, layer, head, strength], () => (strength === 1 ? now : run(strength)));

  /** What comes next. */
  function drawGuesses(looked) {
    const { here, layer, head, strength, kept, own, now, best, order, lengths, names } = looked;
    const ends = endsOf(looked);
    const longer = longerOf(looked);
    const ids = once("rows", [...here, layer, head], () => rowsOf(now, ends, ROWS));
    const rows = ids.map((id) => ({ name: cut(name(id)), now: now[id], longer: longer[id] }));
    const most = Math.max(...ids.flatMap((id) => [now[id], ...ends.map((one) => one[id])]));
    board.draw({ rows, most: Math.min(1, Math.ceil(10 * most + 0.5) / 10) });
    const arrow = { length: lengths[order[0]], name: names[order[0]] };
    const away = kept && angle(kept, own.added);
    const [guess] = best;
    result.say(describe({ layer, head, strength }, arrow, name(guess), [now[guess], longer[guess]], away));
  }

  // Each in a frame of its own, once for what is looked at.
  const turn = (work) => {
    let done = null;
    return ({ looked }) => {
      if (looked === done) return false;
      done = looked;
      return work(looked) !== false;
    };
  };
  const compute = (looked) => {
    const before = known;
    endsOf(looked);
    if (known > before) return true;
    longerOf(looked);
    return looked.strength !== 1;
  };
  const picture = inTurns(redraw, turn(drawArrows), turn(compute), turn(drawGuesses));

  function drawAll(state, cache) {
    const place = clamp(state.place, 0, tokens.length - 1);
    const layer = clamp(state.layer, 0, config.n_layers - 1);
    const kept = keptMove(state, layer, place);
    if (kept === undefined) return set(stage, { "aria-busy": "true" });
    write(keep, state.kept_text ? "Let the kept move go" : "Keep this move");
    const { text, head, strength, plane: kind, arrows, kept_text: keptText, kept_place: keptPlace } = state;
    const on = [text, place, layer, head, strength, kind, arrows, keptText, keptPlace];
    const looked = once("looked", on, () => scene(state, cache, place, layer, kept));
    picture.draw({ looked }, anew("text", text));
  }

  return {
    layout: [input, stage],
    change: put,
    draw(state) {
      const parsed = once("tokens", state.text, () => parse(state.text));
      tokens = parsed.tokens;
      input.draw(state.text, parsed.note);
      stage.hidden = !tokens.length;
      if (!tokens.length) return;
      const job = shop.job("text", tokens.join(), () => reading(tokens));
      set(stage, { "aria-busy": String(!job.done) });
      if (job.done) drawAll(state, job.result);
      else write(result.row, "The model reads the text …");
    },
    stop() {
      picture.stop();
      shop.stop();
    },
  };
});
