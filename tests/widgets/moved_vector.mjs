// Functions for the tests: what moved a token's vector, by the page's language model, read from a file.
import { readFileSync } from "node:fs";
import { newCache, nextSteps, readModel } from "../../lib/primer/widgets/shared/language_model.js";
import { finish } from "../../lib/primer/widgets/shared/workshop.js";
import {
  angle,
  changed,
  directions,
  dot,
  look,
  norm,
  steps,
  total,
} from "../../lib/primer/widgets/moved_vector/moving.js";

const models = new Map();
function model(file) {
  if (!models.has(file)) models.set(file, readModel(readFileSync(file)));
  return models.get(file);
}

/** One place of a text: the vector before, the arrows, the plane and the scores with longer arrows. */
export function taken(file, tokens, { place, layer, head, strength, plane, best }) {
  const own = model(file);
  const cache = newCache(own);
  finish(nextSteps(own, tokens, cache));
  const seen = look(own, cache, tokens, place);
  const arrows = seen.arrows(layer);
  const chain = steps(arrows, head, strength, 4);
  const change = chain.own.map((x) => (strength - 1) * x);
  const logits = changed(own, seen, layer, change);
  const axes = directions(own, plane, seen.before(layer), chain.added, best);
  return {
    before: Array.from(seen.before(layer)),
    lengths: chain.sources.map(norm),
    sum: axes.map((axis) => chain.steps.reduce((all, [, step]) => all + dot(axis, step), 0)),
    names: chain.steps.map(([name]) => name),
    axes: axes.map((axis) => Array.from(axis)),
    logits: Array.from(logits),
    untouched: Array.from(seen.logits),
  };
}

/** How far the moves of the last tokens of two texts point apart, and the plane of both. */
export function apart(file, tokens, kept, layer) {
  const own = model(file);
  const move = (ids) => {
    const cache = newCache(own);
    finish(nextSteps(own, ids, cache));
    const seen = look(own, cache, ids, ids.length - 1);
    return [seen.before(layer), total(seen.arrows(layer).flat(), own.config.d_model)];
  };
  const [[before, added], [, other]] = [move(tokens), move(kept)];
  const axes = directions(own, "move", before, added, [0, 1], other);
  return { angle: angle(other, added), axes: axes.map((axis) => Array.from(axis)) };
}
