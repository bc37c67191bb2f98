// Be the rater: twelve pairs of replies, the reward that your choices say, and what it would grant.
//
// The functions above `bars` are the mathematics and the words; the tests compare them with primer.

import { between, button, columns, counted, div, format, heading, html, key, panel } from "../kit/kit.js";
import { resultLine, set, signed, sum, widget, write } from "../kit/kit.js";
import { table } from "../shared/table.js";
import { bestOf, divergence, mean, tilted } from "../shared/policies.js";

const count = (text, what) => text.split(what).length - 1;

/** What the reward may look at: marks, tens of characters, questions, commas. */
export const features = (text) => [
  count(text, "!"),
  [...text].length / 10,
  count(text, "?"),
  count(text, ","),
];

/** What each choice adds: [features chosen less rejected, weight]; who cannot say chooses each by half. */
export function comparisons(answers, differences) {
  return answers.flatMap((answer, i) => {
    const turned = differences[i].map((x) => -x);
    if (answer === 2) return [differences[i], turned].map((d) => [d, 0.5]);
    return [[answer === 0 ? differences[i] : turned, 1]];
  });
}

/** The inverse of a symmetric positive matrix, by Gauss and Jordan. */
function inverse(matrix) {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => Number(i === j))]);
  for (let k = 0; k < n; k++) {
    const pivot = rows[k][k];
    rows[k] = rows[k].map((x) => x / pivot);
    for (let i = 0; i < n; i++) {
      const factor = rows[i][k];
      if (i !== k) rows[i] = rows[i].map((x, j) => x - factor * rows[k][j]);
    }
  }
  return rows.map((row) => row.slice(n));
}

const dot = (a, b) => sum(a.map((x, i) => x * b[i]));

/** Bradley and Terry's fit with a normal prior, by Newton: { weights, deviations }. */
export function fit(pairs, prior, size) {
  let weights = Array(size).fill(0);
  for (let step = 0; ; step++) {
    const gradient = weights.map((w) => prior * w);
    const information = weights.map((_, i) => weights.map((_, j) => (i === j ? prior : 0)));
    for (const [delta, times] of pairs) {
      const p = 1 / (1 + Math.exp(-dot(delta, weights)));
      delta.forEach((x, i) => {
        gradient[i] += times * (p - 1) * x;
        delta.forEach((y, j) => {
          information[i][j] += times * p * (1 - p) * x * y;
        });
      });
    }
    const covariance = inverse(information);
    const move = covariance.map((row) => dot(row, gradient));
    const longest = Math.max(...move.map(Math.abs));
    const share = Math.min(1, 2 / longest); // a step of more than 2 is shortened
    if (longest < 1e-10 || step === 100) {
      return { weights, deviations: covariance.map((row, i) => Math.sqrt(row[i])) };
    }
    weights = weights.map((w, i) => w - share * move[i]);
  }
}

/** The reward of replies; what differs in rounding only is worth the same. */
export const rewards = (seen, weights) => seen.map((x) => Math.round(1e9 * dot(x, weights)) / 1e9);

/** What a policy says most often; where several replies are ahead together, that they are. */
export function mostOften(policy, replies) {
  const top = Math.max(...policy) * (1 - 1e-9);
  const ahead = [...new Set(replies.filter((_, i) => policy[i] >= top))];
  if (ahead.length === new Set(replies).size) return "all alike";
  return ahead.length === 1 ? `“${ahead[0]}”` : `“${ahead[0]}” and ${ahead.length - 1} more, alike`;
}

const range = (w, s) => `between ${format(w - 1.96 * s, 1)} and ${format(w + 1.96 * s, 1)}`;

/** What the result line says of the fit. */
export function describe(answered, names, { weights, deviations }) {
  if (!answered) {
    return `You have not chosen yet: each wish may be anything ${range(0, deviations[0])}.`;
  }
  const sure = weights.map((w, i) => Math.abs(w) / deviations[i]);
  const best = sure.indexOf(Math.max(...sure));
  const said = `${names[best]} is worth ${signed(weights[best], 1)}, ${range(weights[best], deviations[best])}`;
  const many = counted(answered, "choice");
  return sure[best] > 1.96
    ? `After ${many} the surest wish: ${said}.`
    : `After ${many} no wish is sure of its sign; the surest is that ${said}.`;
}

// ---------------------------------------------------------------- what the reader sees

// Your fit over an outline of that of the chapter's rater, all of whose choices are known.
const bars = (names, chapters) =>
  panel({
    label: "The weight of each feature in your reward, with an interval of 95 percent",
    height: 190,
    margin: [8, 12, 42, 118],
    x: { domain: [-3.5, 3.5], label: "worth", ticks: between(-3, 3, 6) },
    y: {
      domain: [names.length - 0.5, -0.5],
      label: "",
      ticks: names.map((_, i) => i),
      text: (i) => names[i],
    },
    layers: {
      nothing: "path",
      other: { tag: "rect", many: true, height: 14, rx: 7 },
      reach: { tag: "rect", many: true, height: 10, rx: 5 },
      weight: { tag: "circle", many: true, r: 6 },
    },
    draw({ nothing, other, reach, weight }, { x, y, line }, { weights, deviations }) {
      nothing(line([-0.5, names.length - 0.5].map((i) => [0, i])));
      const from = (found, half) => (w, i) => ({
        x: x(w - 1.96 * found[i]),
        y: y(i) - half,
        width: x(w + 1.96 * found[i]) - x(w - 1.96 * found[i]),
      });
      other(chapters.weights, from(chapters.deviations, 7));
      reach(weights, from(deviations, 5));
      weight(weights, (w, i) => ({ cx: x(w), cy: y(i) }));
    },
  });

export default widget("be-the-rater", ({ constants, controls, read, write: put }) => {
  const { pool, pairs, names, prior, frames, rater } = constants;
  const seen = pool.map(features);
  const reference = pool.map(() => 1 / pool.length);
  const differences = pairs.map(({ at }) => seen[at].map((x, i) => x - seen[at + 1][i]));
  const answer = (choice) => () => {
    const { answers } = read();
    if (answers.length < pairs.length) put({ answers: [...answers, choice] });
  };
  const [first, second, neither] = [0, 1, 2].map((choice) => button("", answer(choice)));
  const back = button("Take the last one back", () => put({ answers: read().answers.slice(0, -1) }));
  const others = button("Let the chapter's rater choose the rest", () => {
    const { answers } = read();
    put({ answers: [...answers, ...rater.slice(answers.length)] });
  });
  const [asked, prompt] = [heading(), html("p", { class: "prompt" })];
  const chapters = fit(comparisons(rater, differences), prior, names.length);
  const [wishes, result] = [bars(names, chapters), resultLine()];
  const choices = div("choices", first, second);
  const grants = table({
    caption: `What ${pool.length} replies of the model become under your reward`,
    head: ["", "reward", "KL", "marks", "length", { text: "says most often", class: "reply" }],
  });
  const film = table({ head: ["reply to four prompts"] });
  const told = html("p", { class: "told" });

  const row = (name, policy, reward) => [
    name,
    format(mean(policy, reward), 2),
    format(Math.abs(divergence(policy, reference)), 2),
    format(
      mean(
        policy,
        seen.map(([marks]) => marks),
      ),
      2,
    ),
    format(
      10 *
        mean(
          policy,
          seen.map(([, tens]) => tens),
        ),
      0,
    ),
    { text: mostOften(policy, pool), class: "reply" },
  ];

  return {
    layout: [
      asked,
      prompt,
      choices,
      div("buttons", neither, back, others),
      heading(
        "What each is worth: ",
        key("weight", "to you"),
        key("other", "to the chapter's rater, after all twelve"),
      ),
      wishes,
      result,
      columns("controls", [controls.beta], [controls.draws]),
      grants,
      columns("controls", [controls.frame], [told]),
      film,
    ],
    texts: { frame: (i) => `step ${frames[i].step}` },
    draw({ answers, beta, draws, frame }) {
      const now = pairs[answers.length];
      write(
        asked,
        now ? `Pair ${answers.length + 1} of ${pairs.length}. Which reply is better?` : "All are chosen.",
      );
      write(prompt, now ? `…${now.prompt.trimEnd()}` : "…");
      write(first, now ? pool[now.at] : "–");
      write(second, now ? pool[now.at + 1] : "–");
      write(neither, "Can't say");
      set(choices, { hidden: !now });
      for (const one of [first, second, neither, others]) set(one, { disabled: !now });
      set(back, { disabled: !answers.length });
      const found = fit(comparisons(answers, differences), prior, names.length);
      wishes.draw(found);
      result.say(describe(answers.length, names, found));
      const reward = rewards(seen, found.weights);
      const tilt = tilted(reference, reward, beta);
      grants.draw([
        row("reference", reference, reward),
        row(`tilt, β = ${format(beta, 2)}`, tilt, reward),
        row(`best of ${draws}`, bestOf(reference, reward, draws), reward),
      ]);
      const { replies, gold, proxy, kl } = frames[frame];
      write(told, `proxy ${format(proxy, 1)}, gold ${format(gold, 1)}, KL ${format(kl, 1)}`);
      film.draw(replies.map((text) => [`“${text}”`]));
    },
  };
});
