// Shannon's game: guess a play letter by letter; the models' predictions are stored.
//
// The functions above `LAST` are the mathematics and the rules; the tests compare them with primer.

import { button, columns, counted, div, format, heading, html, key, panel, percent } from "../kit/kit.js";
import { resultLine, set, sum, widen, widget, write } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { visible } from "../shared/tokenizer.js";

export const readGame = (data) => JSON.parse(new TextDecoder().decode(data));

/** From how many guesses each letter took to bounds of the entropy, in bits: [lower, upper]. */
export function shannonBounds(ranks) {
  const shares = new Float64Array(Math.max(...ranks) + 1);
  for (const rank of ranks) shares[rank - 1] += 1 / ranks.length;
  let [lower, upper] = [0, 0];
  for (let r = 1; r < shares.length; r++) {
    const share = shares[r - 1];
    lower += r * (share - shares[r]) * Math.log2(r);
    if (share > 0) upper -= share * Math.log2(share);
  }
  return [lower, upper];
}

/** What a guess makes of { ranks, tried } when `truth` is the letter; one that was tried changes nothing. */
export function guess({ ranks, tried }, letter, truth) {
  if (tried.includes(letter)) return { ranks, tried };
  if (letter !== truth) return { ranks, tried: tried + letter };
  return { ranks: [...ranks, tried.length + 1], tried: "" };
}

/** How many guesses it takes in all when a model, whose guesses are `order`, goes on after the wrong ones. */
export const finish = (tried, order, truth) =>
  tried.length + [...order].filter((letter) => !tried.includes(letter)).indexOf(truth) + 1;

/** What a model did on the letters from … to: bits per letter (null: infinite) and the ranks of what came. */
export function tally({ order, bits }, text, from, to) {
  const some = bits.slice(from, to);
  const ranks = order.slice(from, to).map((guesses, i) => guesses.indexOf(text[from + i]) + 1);
  return { bits: some.includes(null) ? null : sum(some) / some.length, ranks };
}

/** The places from … to that a model had excluded, each with the run of characters that it never saw. */
export function guilty({ bits }, text, length, from, to) {
  const found = [];
  for (let at = from; at < to; at++)
    if (bits[at] === null) found.push({ at, run: text.slice(Math.max(at - length + 1, 0), at + 1) });
  return found;
}

const LAST = 30; // letters in the drawing
const ENOUGH = 20; // letters from which on bounds are shown
const KEYS = "abcdefghijklmnopqrstuvwxyz \n,.;:!?'-";
const NAMES = { " ": "space", "\n": "end of line", ",": "comma", ".": "full stop", ";": "semicolon" };
Object.assign(NAMES, { ":": "colon", "!": "exclamation mark", "?": "question mark" });
Object.assign(NAMES, { "'": "apostrophe", "-": "hyphen" });
const called = (letter) => (letter in NAMES ? NAMES[letter] : `“${letter}”`);
const surprise = (bits) => (bits === null ? "infinitely many bits" : `${format(bits, 2)} bits`);
const ordinal = (rank) => (rank === 1 ? "its first guess" : `number ${rank} of its guesses`);

/** What the result line says. */
export function describe({ ranks, tried, rival, smoothing, letter, order, bits, left }) {
  const name = `The ${rival === "letters" ? "table of letters" : rival}`;
  if (tried) {
    const wrong = [...tried].map(called).join(", ");
    return `Not ${wrong}. This is guess ${tried.length + 1} at the same letter.`;
  }
  if (!ranks.length) {
    return `What comes next? Type a letter, or press one above. ${name} has its guess ready; what it paid for the letters given stands above them.`;
  }
  const yours = `You found ${called(letter)} with guess ${ranks.at(-1)}.`;
  const bare = smoothing || rival === "transformer" ? "" : " without smoothing";
  const its =
    bits === null
      ? `${name}${bare} had held it to be impossible: infinitely many bits.`
      : `${name}${bare} paid ${surprise(bits)}: it was ${ordinal(order.indexOf(letter) + 1)}.`;
  return `${yours} ${its}${left ? "" : " That was the last letter of the passage."}`;
}

// ---------------------------------------------------------------- the drawing

const eachLetter = (name) =>
  Object.fromEntries(
    Array.from({ length: LAST + 1 }, (_, i) => [`${name}${i}`, { tag: "text", class: name }]),
  );

const tape = (highest) =>
  panel({
    label: "Surprise of the model at each of the last letters, and the number of your guesses",
    height: 230,
    margin: [24, 6, 44, 30],
    x: { domain: [-0.6, LAST + 0.6], label: "", ticks: [], text: String },
    y: { domain: [0, highest], label: "surprise (bits)", ticks: [0, 4, 8, 12] },
    layers: { bar: { tag: "rect", many: true } },
    over: { ...eachLetter("letter"), ...eachLetter("count") },
    draw(layers, { x, y }, { text, at, bits, ranks, given, tried }) {
      const from = Math.max(0, at - LAST);
      const places = Array.from({ length: at - from }, (_, i) => from + i);
      const width = 0.76 * (x(1) - x(0));
      layers.bar(places, (place, i) => {
        const height = y(0) - y(bits[place] === null ? highest : Math.min(bits[place], highest));
        const begins = place > 0 && " \n".includes(text[place - 1]);
        const kind = bits[place] === null ? "bar never" : begins ? "bar begins" : "bar";
        return { class: kind, x: x(i) - width / 2, y: y(0) - height, width, height: Math.max(height, 0.5) };
      });
      for (let i = 0; i <= LAST; i++) {
        const place = from + i;
        const [hidden, rank] = [place >= at, ranks[place - given]];
        const middle = { x: x(i), "text-anchor": "middle" };
        layers[`letter${i}`](place > at ? "" : hidden ? "?" : visible(text[place]), {
          ...middle,
          y: y(0) + 16,
          class: hidden ? "letter hidden" : "letter",
        });
        const number = hidden ? (tried ? `${tried.length + 1}` : "") : rank ? `${rank}` : "";
        layers[`count${i}`](place > at ? "" : number, { ...middle, y: y(0) + 33 });
      }
    },
  });

// The five letters that a model held most probable, and the one that came.
function expectations() {
  const rows = Array.from({ length: 6 }, () => {
    const [letter, bar, value] = [html("span"), html("i"), html("b")];
    return {
      letter,
      bar,
      value,
      element: html("p", {}, letter, html("span", { class: "track" }, bar), value),
    };
  });
  function draw(order, shares, truth, bits) {
    const came = bits === null ? 0 : 2 ** -bits;
    const list = shares.map((share, i) => [order[i], share / 1e7]);
    const rank = order.indexOf(truth);
    rows.forEach(({ letter, bar, value, element }, i) => {
      const last = i === list.length;
      const [name, share] = last ? [truth, came] : list[i];
      const shown = !last || rank >= list.length;
      element.style.visibility = shown ? "" : "hidden";
      element.classList.toggle("came", name === truth);
      write(letter, visible(name));
      widen(bar, share);
      write(value, share > 0 && share < 0.0005 ? "<\u00a00.1%" : percent(share));
    });
  }
  return { element: div("expected", ...rows), draw };
}

// ---------------------------------------------------------------- the widget

export default widget("shannon-game", ({ model, constants, controls, read, write: put }) => {
  const { given, letters, highest, models, lengths } = constants;
  const { symbols, passages } = readGame(model.get("game"));
  const told = Object.fromEntries(
    Object.entries(passages).map(([name, { text }]) => [name, text.toLowerCase()]),
  );
  const column = ({ passage, smoothing }, name) =>
    passages[passage].models[smoothing || name === "transformer" ? name : `${name} unsmoothed`];
  const open = ({ ranks }) => ranks.length < letters;
  const truthOf = ({ passage, ranks }) => told[passage][given + ranks.length];

  const result = resultLine();
  function take(letter) {
    const state = read();
    if (!open(state)) return;
    if (!symbols.includes(letter)) return result.say(`${called(letter)} does not occur in the plays.`);
    put(guess(state, letter, truthOf(state)));
  }
  function help(count) {
    let { ranks, tried, ...state } = read();
    for (let i = 0; i < count && open({ ranks }); i++) {
      const order = column(state, state.rival).order[given + ranks.length];
      ranks = [...ranks, finish(tried, order, truthOf({ ...state, ranks }))];
      tried = "";
    }
    put({ ranks, tried });
  }

  const field = html("input", {
    type: "text",
    class: "guess",
    "aria-label": "Your guess: type a letter",
    placeholder: "type a letter",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    oninput: () => {
      const letter = [...field.value].at(-1);
      field.value = "";
      if (letter) take(letter.toLowerCase());
    },
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      take("\n");
    },
  });
  const keys = [...KEYS].map((letter) =>
    Object.assign(
      button(visible(letter), () => take(letter)),
      { ariaLabel: NAMES[letter] ?? letter },
    ),
  );
  const [one, twenty] = [button("", () => help(1)), button("", () => help(20))];
  const again = button("Begin again", () => put({ ranks: [], tried: "" }));
  const [drawing, expected] = [tape(highest), expectations()];
  const [before, found, next] = [html("span", { class: "given" }), html("span"), html("b", {}, "?")];
  const [paid, thought] = [html("span"), heading()];
  const never = html("p", { class: "never", role: "status" });
  const scores = table({ head: ["", "first guess right", "Shannon's bounds", "bits a letter"] });
  const caption = heading();

  function board(state, from, to) {
    const text = told[state.passage];
    const row = (name, ranks, bits) => [
      name,
      percent(ranks.filter((rank) => rank === 1).length / ranks.length, 0),
      shannonBounds(ranks)
        .map((x) => format(x, 2))
        .join(" to "),
      bits,
    ];
    const rivals = models.map((name) => {
      const { ranks, bits } = tally(column(state, name), text, from, to);
      return row(name, ranks, bits === null ? "∞" : format(bits, 2));
    });
    const missing = ENOUGH - state.ranks.length;
    const you =
      missing > 0
        ? ["you", "–", `after ${counted(missing, "more letter")}`, "–"]
        : row("you", state.ranks, "between");
    scores.draw([you, ...rivals], { chosen: 1 + models.indexOf(state.rival) });
    const played = state.ranks.length;
    write(
      caption,
      played
        ? `On the ${played === 1 ? "letter" : `${played} letters`} you found`
        : `On the ${given} letters given`,
    );
  }

  function accuse(state, from, to) {
    const { rival, smoothing, passage } = state;
    if (smoothing) return write(never, "");
    if (rival === "transformer")
      return write(never, "Nothing to switch off: a transformer's softmax gives nothing the probability 0.");
    const found = guilty(column(state, rival), passages[passage].text, lengths[rival], from, to);
    if (!found.length) return write(never, `No letter here is impossible to the ${rival}, so far.`);
    const { run } = found.at(-1);
    const more = found.length > 1 ? ` So it was with ${found.length} letters here; one is enough.` : "";
    write(
      never,
      `Guilty: “${visible(run)}”. These ${[...run].length} characters never stood side by side in the 34 plays: probability 0, surprise ∞.${more}`,
    );
  }

  return {
    layout: [
      columns("controls", [controls.passage], [controls.rival, controls.smoothing]),
      html("p", { class: "text" }, before, found, next),
      div("answer", field, div("keys", ...keys)),
      result,
      columns(
        "views",
        [
          heading(
            paid,
            " at each letter, at ",
            key("begins", "beginnings of words"),
            "; below, your guesses",
          ),
          drawing,
          never,
        ],
        [thought, expected],
      ),
      div("buttons", one, twenty, again),
      caption,
      scores,
    ],
    change: (changes) => put("passage" in changes ? { ...changes, ranks: [], tried: "" } : changes),
    draw(state) {
      const { passage, rival, ranks, tried } = state;
      const at = given + ranks.length;
      const { text } = passages[passage];
      const now = column(state, rival);
      const letter = told[passage][at - 1];
      write(before, text.slice(0, given));
      write(found, text.slice(given, at));
      set(next, { hidden: !open(state) });
      keys.forEach((element, i) => {
        set(element, { "aria-disabled": String(!open(state) || tried.includes(KEYS[i])) });
      });
      set(field, { disabled: !open(state) });
      const name = rival === "letters" ? "table of letters" : rival;
      write(paid, `Surprise of the ${name}`);
      write(thought, `What the ${name} expected in place of ${visible(letter)}`);
      write(one, `Let the ${name} find it`);
      write(twenty, "Let it find 20 letters");
      for (const element of [one, twenty]) set(element, { disabled: !open(state) });
      drawing.draw({ text, at, bits: now.bits, ranks, given, tried });
      expected.draw(now.order[at - 1], now.shares[at - 1], letter, now.bits[at - 1]);
      const [from, to] = ranks.length ? [given, at] : [0, given];
      accuse(state, from, to);
      board(state, from, to);
      const shown = { ...state, letter, order: now.order[at - 1], bits: now.bits[at - 1] };
      result.say(describe({ ...shown, left: letters - ranks.length }));
    },
  };
});
