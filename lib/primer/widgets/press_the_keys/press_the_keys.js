// Press the keys: a reader and two models on the same way from a start to a target.
//
// What is computed is in calculator.js.

import {
  button,
  clamp,
  columns,
  div,
  heading,
  html,
  memory,
  panel,
  percent,
  resultLine,
  set,
  span,
  widen,
  widget,
  write,
} from "../kit/kit.js";
import { table } from "../shared/table.js";
import { details } from "../shared/folded.js";
import { readModel } from "../shared/language_model.js";
import { workshop } from "../shared/workshop.js";
import { asked, counts, distances, END, expected, KEYS, KINDS, LIMIT, MOST } from "./calculator.js";
import { newReader, press, replies, SIZE, verdict, walk, words } from "./calculator.js";

const NAMES = { "+3": "plus 3", "−5": "minus 5", "×2": "times 2", "÷2": "÷2, half" };

/** What the verdicts mean, in two words each. */
export const MEANT = ["the target", "other end", "wrong number", "not allowed", "mixed up", "too long"];

const presses = (n) => (n === 1 ? "1 press" : `${n} presses`);

/** Where the reader stands, in words. */
export function place(start, target, keys) {
  const shown = walk(start, keys);
  const [now, least, pressed] = [shown.at(-1), distances(target), shown.length - 1];
  if (!pressed) return `Your display shows ${start}; ${presses(least[start])} can do it.`;
  const so = `after ${presses(pressed)}`;
  if (now === target) {
    const more = pressed - least[start];
    return more
      ? `You are there ${so}, ${more} more than it takes.`
      : `You are there ${so}; fewer cannot do it.`;
  }
  if (pressed === MOST) return `You show ${now} ${so}: a reply has no room for more. Take one back.`;
  return `You show ${now} ${so}; ${least[now]} more could do it.`;
}

/** Why a key cannot be pressed; empty when it can. */
export function refused(display, key) {
  if (press(display, key) >= 0) return "";
  const at = `${KEYS[key]} is illegal at ${display}`;
  if (display % 2 && KEYS[key] === "÷2") return `${at}: half of an odd number is no whole number.`;
  return `${at}: the display shows 0 to ${SIZE - 1}.`;
}

/** What the result line says. */
export function describe({ start, target, pressed }, right, tries) {
  const [base, trained] = right;
  const models = `${start} → ${target}: of ${tries} replies the base has ${base} right, the trained model ${trained}`;
  return `${models}. ${place(start, target, pressed)}`;
}

/** Why there is no question; empty when there is one. */
export const trouble = ({ start, target }) =>
  start === target
    ? `The display shows ${target} already: no press is needed, and an empty answer would be right. Choose another start or target.`
    : "";

// ---------------------------------------------------------------- what the reader sees

const points = (shown) => shown.map((display, i) => [i, display]);

const ways = () =>
  panel({
    label:
      "What the display shows after each press: replies of the chosen model by verdict, and your own way",
    height: (width) => clamp(0.6 * width, 190, 250),
    margin: [24, 12, 42, 32],
    x: { domain: [-0.2, LIMIT / 2 + 0.2], label: "presses", ticks: [0, 2, 4, 6, 8, 10] },
    y: { domain: [-1.5, SIZE + 0.5], label: "display", ticks: [0, 10, 20, 30, 40] },
    layers: {
      target: "path",
      way: { tag: "path", many: true },
      stop: { tag: "circle", many: true, r: 3 },
      own: "path",
    },
    over: { here: { tag: "circle", r: 5 } },
    draw({ target: aim, way, stop, own, here }, plot, { target, verdicts, mine }) {
      const { x, y, line, spot } = plot;
      aim(`M${x.range[0]} ${y(target)}H${x.range[1]}`);
      const order = [...verdicts].sort((a, b) => b.kind - a.kind); // what is right lies on top
      way(order, ({ kind, shown }) => ({ class: `way ${KINDS[kind]}`, d: line(points(shown)) }));
      stop(order, ({ kind, shown }) => ({
        class: `stop ${KINDS[kind]}`,
        ...spot(shown.length - 1, shown.at(-1)),
      }));
      own(line(points(mine)));
      here(spot(mine.length - 1, mine.at(-1)));
    },
  });

// A key with what either model expects of it; the last of them, the end, is none to press.
function keyTile(text, click) {
  const chances = ["base", "trained"].map((name) => {
    const [bar, value] = [html("i", { class: name }), span("value")];
    const element = html("div", { class: "chance", role: "img" }, span("track", bar), value);
    return { name, bar, value, element };
  });
  const top = click ? button(text, click) : span("end", text);
  if (click) top.ariaLabel = NAMES[text];
  const draw = (shares, allowed) => {
    if (click) set(top, { "aria-disabled": String(!allowed) });
    chances.forEach(({ name, bar, value, element }, i) => {
      const share = shares[i];
      const words = share === null ? "…" : percent(share, 0);
      widen(bar, share ?? 0);
      write(value, words);
      set(element, { "aria-label": `${name} ${words}` });
    });
  };
  return { element: div("tile", top, ...chances), draw };
}

export default widget("press-the-keys", ({ constants, controls, get, read, write: put, redraw }) => {
  const { questions, names } = constants;
  const models = ["base", "trained"];
  const loaded = models.map((name) => readModel(get(name)));
  const shop = workshop(redraw);
  const once = memory();

  const type = (key) => () => {
    const { start, pressed } = read();
    const display = walk(
      start,
      pressed.map((one) => KEYS.indexOf(one)),
    ).at(-1);
    const why = pressed.length === MOST ? `${presses(MOST)} have room in a reply.` : refused(display, key);
    if (why) result.say(why);
    else put({ pressed: [...pressed, KEYS[key]] });
  };
  const tiles = [...KEYS.map((text, key) => keyTile(text, type(key))), keyTile("end", null)];
  const back = button("Take one back", () => put({ pressed: read().pressed.slice(0, -1) }));
  const again = button("Draw again", () => put({ seed: read().seed + 1 }));
  const next = button("Another question", () => {
    const { start, target } = read();
    const at = questions.findIndex(([s, t]) => s === start && t === target);
    const [from, to] = questions[(at + 1) % questions.length];
    put({ start: from, target: to, pressed: [] });
  });
  const [display, typed] = [html("b", { class: "display" }), html("span", { class: "typed" })];
  const whose = heading();
  const [view, result, note] = [ways(), resultLine(), html("p", { class: "note", role: "status" })];
  const board = table({ head: ["", ...KINDS.map((kind) => ({ text: kind, class: `kind ${kind}` }))] });
  board.headings.slice(1).forEach((head, i) => head.append(span("told", MEANT[i])));
  const list = table({ head: ["", "reply", "verdict"] });
  const all = details("The replies, key by key", {
    element: div("replies", list),
    draw: (some, verdicts) =>
      list.draw(some.map((tokens, i) => [`${i + 1}`, words(tokens), KINDS[verdicts[i].kind]])),
  });
  const output = div(
    "output-of-both",
    columns(
      "views",
      [
        div("screen", typed, display),
        heading(span("key base", "base"), span("key trained", "trained"), " press next with"),
        div("keys", ...tiles),
        div("buttons", back, again),
        div("board", board),
      ],
      [whose, view],
    ),
    result,
    all,
  );

  return {
    layout: [
      columns("controls", [controls.start, controls.target], [controls.model, controls.tries]),
      div("ask", next),
      div("room", note, output),
    ],
    change: (changes) =>
      put("start" in changes || "target" in changes ? { ...changes, pressed: [] } : changes),
    draw(state) {
      const { start, target, model, tries, seed } = state;
      const why = trouble(state);
      write(note, why);
      output.style.visibility = why ? "hidden" : ""; // it keeps its room: what stands below stays
      const job = (...given) => (why ? { key: "", done: false, value: [] } : shop.job(...given));
      const pressed = state.pressed.map((one) => KEYS.indexOf(one));
      const mine = walk(start, pressed);
      const tokens = asked(start, target, pressed);
      const asks = models.map((name, i) =>
        job(`next ${name}`, tokens.join(), () => expected(loaded[i], tokens)),
      );
      const jobs = models.map((name, i) =>
        job(name, [start, target, tries, seed].join(), () =>
          replies(loaded[i], start, target, tries, 2 * seed + i, newReader(loaded[i])),
        ),
      );
      const drawn = jobs.map(({ done, result: found, value }) => (done ? found : (value ?? [])));
      const verdicts = drawn.map((some, i) =>
        once(models[i], `${jobs[i].key} ${some.length}`, () =>
          some.map((one) => verdict(start, target, one)),
        ),
      );
      set(output, { "aria-busy": String(shop.busy()) });
      const room = pressed.length < MOST;
      tiles.forEach((tile, key) => {
        const isKey = key < KEYS.length;
        const token = isKey ? SIZE + key : END;
        const shares = asks.map(({ done, result: p }) => (done ? p[token] : null));
        tile.draw(shares, isKey && room && press(mine.at(-1), key) >= 0);
      });
      write(typed, `${start} ${state.pressed.slice(0, mine.length - 1).join(" ")}`);
      write(display, `${mine.at(-1)} → ${target}`);
      set(back, { disabled: !pressed.length });
      const chosen = models.indexOf(model);
      write(whose, `Ways of the ${names[model]}: ${verdicts[chosen].length} of ${tries} replies, and yours`);
      view.draw({ target, verdicts: verdicts[chosen], mine });
      const of = verdicts.map(counts);
      board.draw(
        of.map((row, i) => [models[i], ...row.map(String)]),
        { chosen },
      );
      all.draw(drawn[chosen], verdicts[chosen]);
      if (jobs.every(({ done }) => done))
        result.say(describe({ ...state, pressed }, [of[0][0], of[1][0]], tries));
      else write(result.row, "The models press …");
    },
    stop: shop.stop,
  };
});
