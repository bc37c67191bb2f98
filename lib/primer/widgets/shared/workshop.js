// Work in small pieces: long computations in the time that the frames leave over.

const BUDGET = 5; // milliseconds of work between two frames

/**
 * Runs generators a few milliseconds after each frame, in turns, and calls `redraw` in the next as they get on: what
 * a frame draws for the reader waits for no work.
 * `job(name, key, make)` is the job of that name; it starts anew, with make(), when its key changes.
 * A job is { value, result, done }: what it yielded last, and what it returned in the end.
 */
export function workshop(redraw) {
  const jobs = new Map();
  const calm = matchMedia("(prefers-reduced-motion: reduce)"); // then texts appear when they are whole
  let [request, timer] = [0, 0];
  const open = () => [...jobs.values()].filter(({ done }) => !done);
  function advance(one) {
    const { value, done } = one.steps.next();
    if (done) Object.assign(one, { done, result: value });
    else one.latest = value ?? one.latest;
    if (done || !calm.matches) one.value = one.latest;
  }
  function work() {
    const until = performance.now() + BUDGET;
    for (let waiting = open(); waiting.length && performance.now() < until; waiting = open())
      for (const one of waiting) if (performance.now() < until) advance(one);
    schedule();
  }
  function run() {
    request = 0;
    if (!calm.matches || !open().length) redraw();
    if (!open().length) return;
    clearTimeout(timer);
    timer = setTimeout(work); // the browser paints what was drawn before
  }
  const schedule = () => {
    request ||= requestAnimationFrame(run);
  };
  function job(name, key, make) {
    if (jobs.get(name)?.key !== key) {
      jobs.set(name, { key, steps: make(), latest: null, value: null, result: null, done: false });
      schedule();
    }
    return jobs.get(name);
  }
  return {
    job,
    busy: () => open().length > 0,
    clear: () => jobs.clear(),
    stop() {
      cancelAnimationFrame(request);
      clearTimeout(timer);
    },
  };
}

/** Run a generator to its end, and return what it returns. */
export function finish(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
