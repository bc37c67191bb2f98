// The controls that a widget's Python class declares on its traits, joined to the model in both directions.

import { checkbox, radio, select, slider } from "./controls.js";
import { set } from "./elements.js";
import { named } from "./memory.js";
import { clamp, format, grouped, short, significant } from "./numbers.js";

const FORMS = { fixed: format, grouped, short, significant };

// From a value to its place on the slider, and back; one of them turns at a knee from even steps to even factors.
const SCALES = {
  linear: [(x) => x, (v) => v],
  falling: [(x) => -x, (v) => -v],
  decades: [Math.log10, (v) => 10 ** v],
  octaves: [Math.log2, (v) => 2 ** v],
  shifted: [(x, knee = 1) => Math.log10(1 + x / knee), (v, knee = 1) => knee * (10 ** v - 1)],
};

/** How a value is written beside its slider. */
export function words({ form, digits, unit, named = [] }, value) {
  const own = named.find(([v]) => v === value);
  return own ? own[1] : FORMS[form](value, digits) + unit;
}

/** The value at a place on the slider: never outside its range, and with no digits that nobody meant. */
export function valueAt({ scale, low, high, whole, knee }, place) {
  const x = clamp(SCALES[scale][1](place, knee), low, high);
  if (whole) return Math.round(x);
  return clamp(Number(x.toPrecision(scale === "linear" || scale === "falling" ? 12 : 3)), low, high);
}

/** The ends and the step of a slider; its last step may reach beyond `high`, so that `high` is reached. */
export function ends({ scale, low, high, step, knee }) {
  const [min, max] = [low, high].map((x) => SCALES[scale][0](x, knee)).sort((a, b) => a - b);
  return { min, max: min + step * Math.ceil((max - min) / step - 1e-9), step };
}

// A slider; where no value is allowed (`none` says what that means), it stands at the end.
function numberControl(declared, change, own) {
  const now = { ...declared };
  const last = () => ends(now).max;
  const place = (value) => (value === null ? last() : SCALES[now.scale][0](value, now.knee));
  const read = (v) => (now.none && v >= last() - 1e-9 ? null : valueAt(now, v));
  const write = (value) => own(value) ?? (value === null ? now.none : words(now, value));
  const control = slider({
    label: now.label,
    ...ends(now),
    text: (v) => write(read(v)),
    change: (v) => change(read(v)),
  });
  const limit = (other) => {
    Object.assign(now, other);
    control.limit(ends(now));
  };
  const within = (value) => clamp(value, now.low, now.high);
  return {
    ...control,
    set: (value) => control.set(place(value)),
    limit,
    within,
    range: () => [now.low, now.high],
  };
}

// A slider over the members of a list.
function listControl({ label, options }, change) {
  const at = (value) => options.findIndex(([v]) => v === value);
  const control = slider({
    label,
    min: 0,
    max: options.length - 1,
    text: (i) => options[i][1],
    change: (i) => change(options[i][0]),
  });
  return { ...control, set: (value) => control.set(at(value)) };
}

function choiceControl(declared, change) {
  const { look, label, options } = declared;
  if (look === "slider") return listControl(declared, change);
  if (look === "radio") return radio({ label, options, change });
  // a <select> knows strings only
  return select({ label, options, change: (v) => change(options.find(([own]) => `${own}` === v)?.[0] ?? v) });
}

/**
 * The controls of a widget, by the names of their traits: { row, input, set(value) }, for numbers also
 * within(value), the value inside the range, range(), and limit({ low, high }), another range; a row carries
 * its trait's name in `data-trait`.  `change({ trait: value })` is told what the reader does, and
 * `text(trait, value)` may write a number in other words than those declared.
 */
export function bind(declared, change, text = (_trait, _value) => undefined) {
  const make = (name) => {
    const one = declared[name];
    const tell = (value) => change({ [name]: value });
    if (one.kind === "number") return numberControl(one, tell, (value) => text(name, value));
    if (one.kind === "switch") return checkbox({ label: one.label, change: tell });
    return choiceControl(one, tell);
  };
  const controls = named(Object.keys(declared), make);
  for (const [name, { row }] of Object.entries(controls)) row.dataset.trait = name;
  return controls;
}

/** Bring controls to a state, and switch off those that have no effect in it. */
export function settle(controls, declared, state) {
  for (const [name, control] of Object.entries(controls)) {
    control.set(state[name]);
    const { when } = declared[name];
    if (when) set(control.input, { disabled: state[when[0]] !== when[1] });
  }
}
