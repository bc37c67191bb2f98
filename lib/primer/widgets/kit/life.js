// A widget's life: shown, drawn anew when something changed, taken away.

import { bind, settle } from "./bind.js";
import { append } from "./elements.js";
import { named } from "./memory.js";

/** Set traits, { name: value, … }, and tell Python. */
export function update(model, changes) {
  for (const [name, value] of Object.entries(changes)) model.set(name, value);
  model.save_changes();
}

/** Draws in the next frame, once, when it is asked; at once with now(), after which nothing is left to draw. */
function drawing(draw) {
  let request = 0;
  const stop = () => cancelAnimationFrame(request);
  const now = () => {
    stop();
    request = 0;
    draw();
  };
  const ask = () => {
    request ||= requestAnimationFrame(now);
  };
  return { ask, now, stop, asked: () => request };
}

/**
 * Draw now, and once per frame after any of the traits, the size of `el` or the theme changed; returns the
 * function that ends it.  `resized()` is called before it is drawn in another size or theme.
 */
export function mount({ model, el, traits, draw = null, picture = drawing(draw), resized = () => {} }) {
  // A key moves what it finds drawn: two keys within one frame must not both start from the same place.
  const catchUp = () => picture.asked() && picture.now();
  el.addEventListener("keydown", catchUp, { capture: true });
  el.classList.add("primer-widget");
  for (const name of traits) model.on(`change:${name}`, picture.ask);
  let wide = -1;
  const size = new ResizeObserver(
    ([
      {
        contentRect: { width },
      },
    ]) => {
      // What is drawn depends on the width alone; it makes the height, which would ask for the same frame again.
      if (Math.abs(width - wide) < 0.5) return;
      wide = width;
      resized();
      picture.ask();
    },
  );
  size.observe(el);
  const theme = new MutationObserver(() => {
    resized();
    picture.ask();
  });
  for (const node of [document.documentElement, document.body]) {
    theme.observe(node, { attributeFilter: ["class", "data-theme", "data-jp-theme-light"] });
  }
  picture.now();
  el.dataset.ready = "true";
  return () => {
    picture.stop();
    el.removeEventListener("keydown", catchUp, { capture: true });
    size.disconnect();
    theme.disconnect();
    for (const name of traits) model.off(`change:${name}`, picture.ask);
  };
}

/**
 * The module's `export default`.  `build` gets
 *
 *   model, el      as anywidget hands them over; get(trait) is its value
 *   constants      what the Python class declares besides its traits
 *   controls       { trait: { row, input, … } }, one for each control declared on a trait
 *   write(changes) sets traits
 *   redraw()       draws at once
 *   measured(f)    f(), asked again only when el has another size or theme: a frame that asks what the page looks like
 *                  after it wrote something has it styled and laid out twice
 *
 * and returns { layout: [what html takes as children], draw(state) }, with `state` the values of all traits, and where needed
 * `change(changes)`, instead of write, for what the reader does with a control; `texts`, see bind;
 * `read()`, a state other than the model's; `stop()`, called when the widget is taken away.
 */
export const widget = (name, build) => ({
  render({ model, el }) {
    const { traits, controls: declared, constants } = model.get("_spec");
    const get = (trait) => model.get(trait);
    const read = () => named(traits, get);
    const write = (changes) => update(model, changes);
    let parts = null;
    const change = (changes) => (parts.change ?? write)(changes);
    const controls = bind(declared, change, (trait, value) => parts.texts?.[trait]?.(value));
    const picture = drawing(() => {
      const state = (parts.read ?? read)();
      settle(controls, declared, state);
      parts.draw(state);
    });
    let sizes = null;
    const measured = (measure) => (sizes ??= measure());
    const resized = () => {
      sizes = null;
    };
    const given = { model, el, constants, controls, get, read, write, redraw: picture.now, measured };
    parts = build(given);
    el.classList.add(name);
    append(el, ...parts.layout);
    const end = mount({ model, el, traits, picture, resized });
    return () => {
      parts.stop?.();
      end();
    };
  },
});
