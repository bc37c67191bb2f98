// Toss by toss: a posterior that moves with every toss of a coin, and what two hypotheses win and lose by it.
//
// The functions above `LEFT` are the mathematics; the tests compare them with primer.statistics.

import {
  between,
  button,
  clamp,
  columns,
  counted,
  div,
  format,
  grouped,
  heading,
  html,
  key,
  memory,
  panel,
  paths,
  percent,
  resultLine,
  set,
  short,
  sum,
  uniqueId,
  widget,
  write as say,
} from "../kit/kit.js";
import { aroundMarks, news } from "../shared/in_turns.js";
import { play } from "../shared/play.js";
import { scientific } from "../shared/scientific.js";
import { chance, logFactorial, lowest } from "../shared/binomial.js";
import { firstOf } from "../shared/random.js";

/** How many of the tosses, "H" or "T", show heads. */
export const heads = (tosses) => tosses.split("H").length - 1;

/** The density of Beta(a, b), a and b whole numbers, is that of a binomial law in another order. */
export const density = (p, a, b) => (a + b - 1) * chance(a - 1, a + b - 2, p);

/** The central interval that holds 95 % of Beta(a, b). */
export const interval = (a, b) => [lowest(a, a + b - 1, 0.025), 1 - lowest(b, a + b - 1, 0.025)];

const logBeta = (a, b) => logFactorial(a - 1) + logFactorial(b - 1) - logFactorial(a + b - 1);

/** How much the fair coin and the bent one, whose chance is drawn from Beta(a, b), bet on k heads in n tosses. */
export function bets(k, n, a, b) {
  const ways = logFactorial(n) - logFactorial(k) - logFactorial(n - k);
  return [chance(k, n, 0.5), Math.exp(ways + logBeta(a + k, b + n - k) - logBeta(a, b))];
}

/** log₁₀ of the Bayes factor B₀₁ before the first toss, after it, and so on to the last. */
export function course(tosses, a, b) {
  let [k, total] = [0, 0];
  const found = [0];
  for (let n = 0; n < tosses.length; n++) {
    const head = tosses[n] === "H";
    const bent = head ? (a + k) / (a + b + n) : (b + n - k) / (a + b + n);
    total += Math.log10(0.5 / bent);
    k += Number(head);
    found.push(total);
  }
  return found;
}

/** The part of the pot that the fair coin has in the end: P(H₀ | x), if both began with half of it. */
export const share = (power) => 1 / (1 + 10 ** -power);

/** The first `count` tosses of a coin; coins of one seed differ in as many tosses as their chances. */
export const toss = (seed, count, p) =>
  Array.from(firstOf(seed, count + 2).subarray(2), (u) => (u < p ? "H" : "T")).join("");

/** The chance of a coin to guess: fair with probability ½, else drawn evenly from 0 to 1. */
export function coin(seed) {
  const [which, bent] = firstOf(seed, 2);
  return which < 0.5 ? 0.5 : bent;
}

/** How many heads each of so many other coins of that chance shows in n tosses. */
export function others(seed, count, n, p) {
  const numbers = firstOf(seed + 1_000_000, count * n);
  return Array.from({ length: count }, (_, i) =>
    sum(numbers.subarray(i * n, (i + 1) * n).map((u) => Number(u < p))),
  );
}

/** The 95 % interval of k heads in n tosses: credible, from a Beta(a, b) prior, or a confidence interval, exact. */
export const rung = (kind, k, n, a, b) =>
  kind === "credible"
    ? interval(a + k, b + n - k)
    : [lowest(k, n, 0.025), 1 - lowest(n - k, n, 0.025)].map((end) => clamp(end, 0, 1));

/** With which probability an interval holds p; `at(k)` is that of k heads in n tosses, and both its ends rise with k. */
function coverage(at, n, p) {
  const first = (holds) => {
    let [low, high] = [0, n + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(at(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const [from, behind] = [first(([, end]) => end >= p), first(([start]) => start > p)];
  return sum(Array.from({ length: Math.max(0, behind - from) }, (_, i) => chance(from + i, n, p)));
}

/** The same for one kind of interval. */
export const covers = (kind, n, a, b, p) => coverage((k) => rung(kind, k, n, a, b), n, p);

/** What of a text counts as tosses: { tosses, note }. */
export function typed(text, most) {
  const letters = text.toUpperCase().replace(/\s/g, "");
  const known = letters.replace(/[^HT]/g, "");
  const left = letters.length - known.length;
  const others = left ? `Only H and T count; ${counted(left, "other letter")} left out. ` : "";
  const more = known.length > most ? `The first ${grouped(most)} tosses count.` : "";
  return { tosses: known.slice(0, most), note: (others + more).trim() };
}

const factor = (power) => {
  const value = 10 ** power;
  if (value >= 10_000 || value < 0.001) return scientific(value);
  return value >= 100 ? grouped(value) : short(value, value < 0.1 ? 4 : 2);
};
const tossesOf = (n) => `${grouped(n)} toss${n === 1 ? "" : "es"}`;

/** A part of the pot, in words that no rounding makes wrong. */
export function portion(part) {
  if (part < 0.0005) return "<\u00a00.1%";
  return part > 0.9995 ? ">\u00a099.9%" : percent(part);
}

/** What the result line says. */
export function describe({ tosses, a, b, beside }, power, ladder = null) {
  const [n, k] = [tosses.length, heads(tosses)];
  const seen = n ? `${grouped(k)} heads in ${tossesOf(n)}` : "No toss yet";
  const [low, high] = interval(a + k, b + n - k).map((p) => format(p, 2));
  const law = `Beta(${a + k}, ${b + n - k}), mean ${format((a + k) / (a + b + n), 3)}, 95% from ${low} to ${high}`;
  if (beside !== "bets") {
    if (!ladder) return `${seen}: ${law}. The ladder of other coins waits until this one is shown.`;
    const { held, count, share: long } = ladder;
    return `${seen}: ${law}. Of ${count} ${beside} intervals ${held} hold θ, in the long run ${portion(long)}.`;
  }
  return `${seen}: ${law}. B₀₁ = ${factor(power)}; the fair coin has ${portion(share(power))} of the pot.`;
}

// ---------------------------------------------------------------- what the reader sees

const LEFT = 46;
const GRID = between(0, 1, 400);
const MANY = 30; // so many tosses have bars beside each other
const area = (road, x, y) => (road ? `${road}L${x[1]} ${y}L${x[0]} ${y}Z` : "");

const beliefs = (move) =>
  panel({
    label: "Density of the chance of heads, before the tosses and after them, with the middle 95 %",
    name: "beliefs",
    height: (width) => clamp(0.66 * width, 180, 300),
    margin: [26, 14, 42, LEFT],
    // with room at both ends: a mark there leaves the numbers of the other axis free
    x: {
      ...{ domain: [-0.02, 1.02], label: "chance of heads θ", ticks: [0, 0.25, 0.5, 0.75, 1] },
      text: (t) => short(t, 2),
    },
    y: ({ top }) => ({ domain: [0, top], label: "density" }),
    layers: paths("held", "prior", "posterior", "truth"),
    over: { coin: { tag: "circle", r: 6 } },
    marks: [
      {
        at: ({ hidden, chance: p, top }) => (hidden ? null : [p, 0.94 * top]),
        label: ({ chance: p }) => `Chance of heads of the coin: ${format(p, 2)}`,
        move: ([p]) => move(p),
        step: [0.01, 0],
      },
    ],
    draw({ held, prior, posterior, truth, coin: dot }, { x, y, line }, state) {
      const { before, after, ends, top, hidden, chance: p } = state;
      held(area(line(after.within), ends.map(x), y(0)));
      prior(line(before));
      posterior(line(after.all));
      truth(hidden ? null : `M${x(p)} ${y(0)}V${y(0.94 * top)}`);
      dot(hidden ? null : { cx: x(p), cy: y(0.94 * top) });
    },
  });

// Numbers of heads, with room for half a bar at both ends; one toss at least.
const spread = () =>
  panel({
    label: "What both hypotheses bet on each number of heads, and the number that came",
    name: "spread",
    height: 140,
    margin: [24, 14, 40, LEFT],
    x: ({ n }) => ({
      domain: [-0.6, Math.max(n, 1) + 0.6],
      label: n ? `heads in ${tossesOf(n)}` : "heads",
      ticks: n % 2 ? [0, n] : [0, n / 2, n].slice(0, n ? 3 : 1),
      text: String,
    }),
    y: ({ most }) => ({ domain: [0, most], label: "bet on it" }),
    layers: { ...paths("fair", "bent", "came"), dot: { tag: "circle", many: true, r: 4 } },
    draw({ fair, bent, came, dot }, { x, y, spot }, { n, k, all }) {
      const beside = n <= MANY; // above, they lie on each other
      const wide = (beside ? 0.42 : 1) * (x(1) - x(0));
      const bars = (i, from) =>
        all.map((pair, j) => `M${x(j) + from * wide} ${y(0)}V${y(pair[i])}h${wide}V${y(0)}Z`).join("");
      fair(bars(0, beside ? -1 : -0.5), { class: beside ? "fair" : "fair many" });
      bent(bars(1, beside ? 0 : -0.5), { class: beside ? "bent" : "bent many" });
      came(n ? `M${x(k)} ${y.range[0]}V${y.range[1]}` : null);
      dot(all[k], (bet, i) => ({
        class: `dot ${i ? "bent" : "fair"}`,
        ...spot(k + (n > MANY ? 0 : (i - 0.5) * 0.42), bet),
      }));
    },
  });

// An interval for each of the other coins, one above the other.
const ladderOf = (count) =>
  panel({
    label: "An interval for each of fifty coins of that chance; those that miss the chance are thicker",
    name: "ladder",
    height: 311,
    margin: [8, 14, 42, LEFT],
    x: {
      ...{ domain: [0, 1], label: "chance of heads θ", ticks: [0, 0.25, 0.5, 0.75, 1] },
      text: (t) => short(t, 2),
    },
    y: { domain: [count, 0], label: "", ticks: [] },
    layers: paths("holds", "misses", "truth"),
    draw({ holds, misses, truth }, { x, y }, { rungs, chance: p }) {
      const draw = (wanted) =>
        rungs
          .map(({ ends: [low, high], held }, i) =>
            held === wanted ? `M${x(low).toFixed(1)} ${y(i + 0.5)}H${x(high).toFixed(1)}` : "",
          )
          .join("");
      holds(draw(true));
      misses(draw(false));
      truth(rungs.length ? `M${x(p)} ${y.range[0]}V${y.range[1]}` : null);
    },
  });

// Whole powers of ten, at most five of them.
function powers([low, high]) {
  const step = Math.max(1, Math.ceil((high - low) / 4));
  const [first, last] = [Math.ceil(low / step), Math.floor(high / step)];
  return between(first, last, last - first).map((t) => t * step);
}
const tenTo = (t) => (t < -2 || t > 3 ? scientific(10 ** t, 0).slice(2) : short(10 ** t, 2));

const stakes = () =>
  panel({
    label: "The Bayes factor after each toss, on a logarithmic axis",
    name: "stakes",
    height: 144,
    margin: [24, 14, 40, LEFT],
    x: ({ n }) => ({ domain: [0, Math.max(n, 10)], label: "tosses", text: String }),
    y: ({ reach }) => ({
      ...{ domain: reach, label: "B₀₁: up, the fair coin wins", ticks: powers(reach), text: tenTo },
    }),
    layers: paths("even", "road"),
    over: { dot: { tag: "circle", r: 5 } },
    draw({ even, road, dot }, { x, y, line, spot }, { n, powers: found }) {
      even(`M${x.range[0]} ${y(0)}H${x.range[1]}`);
      road(line(found.map((t, i) => [i, t])));
      dot({ ...spot(n, found[n]), class: found[n] < 0 ? "dot bent" : "dot fair" });
    },
  });

export default widget(
  "toss-by-toss",
  ({ constants: { most, rungs: count }, controls, read, write, redraw }) => {
    const grow = (count) => {
      const { tosses, seed, chance: p } = read();
      const n = Math.min(tosses.length + count, most);
      write({ tosses: tosses + toss(seed, n, p).slice(tosses.length) });
      return n < most;
    };
    const move = (p) => put({ chance: clamp(Math.round(100 * p) / 100, 0, 1) });
    // Another coin falls with the same luck: what was tossed moves with its chance.
    const put = (changes) => {
      if (!("chance" in changes)) return write(changes);
      const { tosses, seed } = read();
      write({ ...changes, tosses: toss(seed, tosses.length, changes.chance) });
    };
    let waited = 0;
    const player = play({
      label: "Toss",
      start() {
        waited = 0;
      },
      frame(seconds) {
        waited += 8 * seconds;
        const count = Math.floor(waited);
        waited -= count;
        return count ? grow(count) : read().tosses.length < most;
      },
      end: redraw,
    });
    const throws = [1, 10, 100].map((count) => button(`+${count}`, () => grow(count)));
    const again = button("Start again", () => write({ tosses: "", seed: read().seed + 1 }));
    const another = button("A coin to guess", () => {
      const seed = read().seed + 1;
      write({ seed, chance: coin(seed), hidden: true, tosses: "", a: 1, b: 1 });
    });
    const id = uniqueId();
    const field = html("input", { id, type: "text", autocomplete: "off", spellcheck: "false" });
    const note = html("p", { class: "note", role: "status" });
    let told = "";
    field.addEventListener("input", () => {
      const found = typed(field.value, most);
      told = found.note;
      write({ tosses: found.tosses });
    });
    const views = [beliefs(move), spread(), stakes()];
    const [pot, result] = [heading(), resultLine()];
    const [once, anew] = [memory(), news()];
    const [ladder, kind] = [ladderOf(count), heading()];
    const owners = [key("fair", ""), key("bent", "")];
    pot.append("The pot: ", ...owners);
    const bettors = heading("Bets of ", key("fair", "a fair coin"), key("bent", "a bent one"));
    const games = div("games", bettors, views[1], pot, views[2]);
    const climb = div("climb", kind, ladder);
    // The other coins, each with its interval, and how often such an interval holds the chance.
    function rungsOf({ tosses: { length: n }, seed, a, b, chance: p, hidden, beside }) {
      if (hidden) return null;
      const found = once("ends", [beside, n, ...(beside === "credible" ? [a, b] : [])], () => new Map());
      const at = (k) => {
        if (!found.has(k)) found.set(k, rung(beside, k, n, a, b));
        return found.get(k);
      };
      const counts = once("others", [seed, n, p], () => others(seed, count, n, p));
      const rungs = counts.map(at).map((ends) => ({ ends, held: ends[0] <= p && p <= ends[1] }));
      return { rungs, count, held: rungs.filter(({ held }) => held).length, share: coverage(at, n, p) };
    }
    // What is believed before the tosses and after them.
    const believe = ({ tosses, a, b, hidden, chance: p }) =>
      anew("beliefs", [tosses.length, heads(tosses), a, b, hidden, p], () => {
        const [after, other] = [a + heads(tosses), b + tosses.length - heads(tosses)];
        const ends = interval(after, other);
        const at = (t) => [t, density(t, after, other)];
        const road = once("road", [after, other], () => ({
          all: GRID.map(at),
          within: [ends[0], ...GRID.filter((t) => t > ends[0] && t < ends[1]), ends[1]].map(at),
        }));
        const before = once("prior", [a, b], () => GRID.map((t) => [t, density(t, a, b)]));
        const top = 1.2 * Math.max(2.5, ...[...before, ...road.all].map(([, height]) => height));
        views[0].draw({ before, after: road, ends, top, hidden, chance: p });
      });
    // What was bet on the tosses, or what other coins show.
    function tell(state) {
      const { tosses, a, b, chance: p } = state;
      const n = tosses.length;
      const powers = once("course", [tosses, a, b], () => course(tosses, a, b));
      const last = powers[n];
      const betting = state.beside === "bets";
      set(games, { hidden: !betting });
      set(climb, { hidden: betting });
      if (betting) {
        const all = once("bets", [n, a, b], () => Array.from({ length: n + 1 }, (_, j) => bets(j, n, a, b)));
        const reach = [Math.min(-1.2, ...powers) - 0.2, Math.max(1.2, ...powers) + 0.2];
        views[1].draw({ n, k: heads(tosses), all, most: 1.12 * Math.max(...all.flat()) });
        views[2].draw({ n, powers, reach });
      }
      const climbed = betting ? null : rungsOf(state);
      if (!betting) {
        say(kind, `${count} such coins: 95% ${state.beside} intervals`);
        ladder.draw({ rungs: climbed?.rungs ?? [], chance: p });
      }
      ["fair", "bent"].forEach((name, i) => say(owners[i], `${name} ${portion(share(i ? -last : last))}`));
      result.say(describe(state, last, climbed), player.playing());
      return true;
    }
    const picture = aroundMarks(redraw, believe, tell);
    return {
      layout: [
        columns("controls", [controls.chance, controls.beside], [controls.a, controls.b]),
        div("buttons", player.button, ...throws, again, another, controls.hidden),
        columns(
          "views",
          [heading(key("posterior", "posterior, 95% filled"), key("prior", "prior")), views[0], result],
          [games, climb],
        ),
        div("control typed", html("label", { for: id }, "Tosses, or type H and T"), field),
        note,
      ],
      change: put,
      texts: { chance: () => (read().hidden ? "?" : undefined) },
      read() {
        const state = read();
        return state.hidden ? { ...state, chance: 0.5 } : state;
      },
      draw(state) {
        const { tosses } = state;
        picture.draw(state);
        if (field.value.toUpperCase() !== tosses) {
          if (document.activeElement !== field) told = "";
          field.value = tosses;
        }
        const full = tosses.length === most;
        say(note, full && !told ? `No more than ${grouped(most)} tosses have room.` : told);
        for (const one of [player.button, ...throws]) set(one, { disabled: full && !player.playing() });
      },
      stop() {
        picture.stop();
        if (player.playing()) player.stop();
      },
    };
  },
);
