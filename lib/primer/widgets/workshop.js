// Work in small pieces: long computations that leave the page alive.

const BUDGET = 5; // milliseconds of a frame in which they may run

/**
 * Runs generators a few milliseconds in each frame, in turns, and calls `redraw` as they get on.
 * `job(name, key, make)` is the job of that name; it starts anew, with make(), when its key changes.
 * A job is { value, result, done }: what it yielded last, and what it returned in the end.
 */
export function workshop(redraw) {
  const jobs = new Map();
  const calm = matchMedia("(prefers-reduced-motion: reduce)"); // then texts appear when they are whole
  let request = 0;
  const open = () => [...jobs.values()].filter(({ done }) => !done);
  function advance(one) {
    const { value, done } = one.steps.next();
    if (done) Object.assign(one, { done, result: value });
    else one.latest = value ?? one.latest;
    if (done || !calm.matches) one.value = one.latest;
  }
  function run() {
    request = 0;
    const until = performance.now() + BUDGET;
    let waiting = open();
    while (waiting.length && performance.now() < until) {
      for (const one of waiting) if (performance.now() < until) advance(one);
      waiting = open();
    }
    if (!calm.matches || !waiting.length) redraw();
    schedule();
  }
  function schedule() {
    if (open().length) request ||= requestAnimationFrame(run);
  }
  function job(name, key, make) {
    if (jobs.get(name)?.key !== key)
      jobs.set(name, { key, steps: make(), latest: null, value: null, result: null, done: false });
    schedule();
    return jobs.get(name);
  }
  return {
    job,
    busy: () => open().length > 0,
    clear: () => jobs.clear(),
    stop: () => cancelAnimationFrame(request),
  };
}
