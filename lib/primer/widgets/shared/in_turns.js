// A widget whose parts are drawn in frames of their own: one that writes everything at once takes long.

/**
 * { draw(state, whole) → whether something is left to draw, stop() }: each frame draws the next of the parts that has something to draw, which a part
 * returns, until all show one state; a state that comes meanwhile waits for that.  The first time, and when `whole`
 * says so, all are drawn at once.  `redraw` has the widget drawn at once.  Not for what keys move from where it was
 * drawn: two keys within a frame would start from the same place; that is for `aroundMarks`.
 */
export function inTurns(redraw, ...parts) {
  let [next, request] = [0, 0];
  let shown = null;
  const stop = () => cancelAnimationFrame(request);
  const differs = (state) => Object.keys(state).some((name) => state[name] !== shown[name]);
  function draw(state, whole = false) {
    stop();
    if (shown === null || whole) {
      [shown, next] = [state, 0];
      for (const part of parts) part(state);
      return false;
    }
    for (const begun = next; ; ) {
      if (next === 0) shown = state;
      const wrote = parts[next](shown);
      next = (next + 1) % parts.length;
      if (wrote || next === begun || (next === 0 && !differs(state))) break;
    }
    const left = next !== 0 || differs(state);
    if (left) request = requestAnimationFrame(() => redraw());
    return left;
  }
  return { draw, stop };
}

/**
 * The same around a part with marks, which keys move: `marks(state)` → whether it drew something, in each frame, and the
 * others in turns.
 */
export function aroundMarks(redraw, marks, ...parts) {
  let drew = false;
  const others = inTurns(redraw, () => drew, ...parts);
  function draw(state, whole = false) {
    drew = marks(state);
    return others.draw(state, whole);
  }
  return { draw, stop: others.stop };
}

/** Returns `anew(name, on, make)`: make(), when what it depends on has changed; and whether it has. */
export function news() {
  const known = {};
  return (name, on, make = () => {}) => {
    const key = JSON.stringify(on);
    if (known[name] === key) return false;
    known[name] = key;
    make();
    return true;
  };
}
