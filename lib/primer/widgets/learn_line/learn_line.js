// One layer learns a line: layers of attention beside steps of gradient descent.
//
// The functions above `reach` are the mathematics; the tests compare them with primer.pretraining.

import { clamp, columns, format, heading, key, panel, resultLine, sum, widget } from "../kit/kit.js";
import { softmax } from "../shared/probability.js";

// Layers of linear attention: what is left unexplained at the examples and at the question.
export function layersAnswer(points, query, rate, layers) {
  const x = points.map(([px]) => px);
  let left = points.map(([, py]) => py);
  let own = 0;
  for (let layer = 0; layer < layers; layer++) {
    const heard = sum(x.map((v, j) => v * left[j])) * (rate / points.length);
    left = left.map((r, i) => r - x[i] * heard);
    own -= query * heard;
  }
  return -own;
}

// Steps of gradient descent on the mean squared error, halved; the weight begins at 0.
export function weightAfter(points, rate, steps) {
  let w = 0;
  for (let step = 0; step < steps; step++) {
    w += (rate / points.length) * sum(points.map(([x, y]) => (y - w * x) * x));
  }
  return w;
}

// Softmax attention with the same products: a mean of the heights.
export function softmaxAnswer(points, query) {
  const weights = softmax(points.map(([x]) => x * query));
  return sum(points.map(([, y], j) => weights[j] * y));
}

// What the result line says.
export function describe({ points, query, rate, layers, attention, best }) {
  const where = `At x = ${format(query, 1)}`;
  if (attention === "softmax") {
    const [low, high] = [Math.min, Math.max].map((of) => of(...points.map(([, y]) => y)));
    return `${where} softmax attention says ${format(softmaxAnswer(points, query), 3)}, a mean of heights between ${format(low, 1)} and ${format(high, 1)}.`;
  }
  const said = layersAnswer(points, query, rate, layers);
  const step = query * weightAfter(points, rate, layers);
  const much = Math.abs(said) > 99 ? "a number beyond all points" : format(said, 3);
  const steps = layers === 1 ? "one step" : `${layers} steps`;
  const same = Math.abs(said - step) <= 1e-9 * Math.max(1, Math.abs(step)) ? "as does" : "unlike";
  const note = layers === 1 ? ` The best single step on random lines is η = ${format(best, 2)}.` : "";
  return `${where} ${layers === 1 ? "one layer says" : `${layers} layers say`} ${much}, ${same} gradient descent after ${steps}.${note}`;
}

const reach = 3;

const plane = ({ movePoint, moveQuery }) =>
  panel({
    label: "The examples; move them with the arrow keys",
    name: "plane",
    height: (width) => clamp(width * 0.62, 250, 360),
    margin: [26, 14, 40, 40],
    x: { domain: [-reach, reach], label: "x" },
    y: { domain: [-reach, reach], label: "y" },
    layers: { question: "path", answers: "path" },
    over: { dot: { tag: "circle", r: 5.5, many: true }, said: { tag: "circle", r: 5 } },
    marks: [
      {
        at: (state) => [state.query, clamp(state.answer(state.query), -reach, reach)],
        label: ({ query, answer }) => `The question ${format(query, 1)}: ${format(answer(query), 2)}`,
        move: ([x]) => moveQuery(x),
        step: 0.1,
      },
      {
        count: ({ points }) => points.length,
        at: ({ points }, i) => points[i],
        label: ({ points }, i) =>
          `Example ${i + 1}: x ${format(points[i][0], 1)}, y ${format(points[i][1], 1)}`,
        move: movePoint,
        step: 0.1,
      },
    ],
    draw({ question, answers, dot, said }, { at, line, spot }, { points, places, query, answer }) {
      question(line([-reach, reach].map((y) => [query, y])));
      answers(line(places.map((place) => [place, clamp(answer(place), -3 * reach, 3 * reach)])));
      dot(points.map(at), ([cx, cy]) => ({ cx, cy }));
      said(spot(query, clamp(answer(query), -reach, reach)));
    },
  });

export default widget("learn-line", ({ model, controls, constants: { places, best }, write }) => {
  const inside = (v) => Math.round(10 * clamp(v, -reach, reach)) / 10;
  const plot = plane({
    movePoint: (point, i) =>
      write({ points: model.get("points").map((p, j) => (j === i ? point.map(inside) : p)) }),
    moveQuery: (x) => write({ query: inside(x) }),
  });
  const result = resultLine();
  return {
    layout: [
      columns("controls", [controls.layers, controls.rate], [controls.attention, controls.query]),
      heading(
        key("dot", "examples, to drag"),
        key("answers", "what attention says at each x"),
        key("said", "the question"),
      ),
      plot,
      result,
    ],
    draw(state) {
      const { points, rate, layers, attention } = state;
      const answer = (query) =>
        attention === "softmax" ? softmaxAnswer(points, query) : layersAnswer(points, query, rate, layers);
      plot.draw({ ...state, places, answer });
      result.say(describe({ ...state, best }));
    },
  };
});
