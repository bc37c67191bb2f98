// Moves every control of a widget there and back, for tests/widgets/test_soak.py: `await soak.round(6)`, sliders in
// six steps.

const frame = () => new Promise(requestAnimationFrame);
const tell = (element, type) => element.dispatchEvent(new Event(type, { bubbles: true }));
const press = (element, key) =>
  element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

async function slide(slider, steps) {
  const [min, max, before] = [Number(slider.min), Number(slider.max), slider.value];
  for (let step = 0; step < steps; step++) {
    slider.value = String(min + (max - min) * (0.5 - 0.5 * Math.cos((2 * Math.PI * step) / steps)));
    tell(slider, "input");
    await frame();
  }
  slider.value = before;
  tell(slider, "input");
  tell(slider, "change");
}

async function choose(select) {
  const before = select.selectedIndex;
  for (const index of [...Array(select.length).keys(), before]) {
    select.selectedIndex = index;
    tell(select, "change");
    await frame();
  }
}

async function write(field) {
  const before = field.value;
  for (const text of [`${before} e`, before]) {
    field.value = text;
    tell(field, "input");
    await frame();
  }
}

async function pick(radio) {
  const before = [...document.getElementsByName(radio.name)].find((one) => one.checked);
  radio.click();
  await frame();
  before?.click();
}

async function clickTwice(element) {
  element.click();
  await frame();
  // what began to play ends; what asks whether it is meant, is answered
  if (element.isConnected) element.click();
}

async function push(mark) {
  for (const key of ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"]) {
    press(mark, key);
    await frame();
  }
}

const MOVES = {
  range: slide,
  select: choose,
  text: write,
  radio: pick,
  mark: push,
  checkbox: clickTwice,
  button: clickTwice,
};

async function round(steps) {
  const kinds = drawn.controls().map(([kind]) => kind);
  for (const [number, kind] of kinds.entries()) {
    const control = document.querySelector(`[data-control='${number}']`);
    if (!control || control.disabled) continue;
    await MOVES[kind]?.(control, steps);
    await frame();
  }
}

globalThis.soak = { round };
