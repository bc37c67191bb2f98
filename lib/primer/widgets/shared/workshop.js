// Work in small pieces: long computations that leave the page alive.

const BUDGET = 5; // milliseconds of a frame for drawing and work together
const LEAST = 2; // of them for work, however long the drawing takes

/**
 * Runs generators a few milliseconds in each frame, in turns, and calls `redraw` as they get on.
 * `job(name, key, make)` is the job of that name; it starts anew, with make(), when its key changes.
 * A job is { value, result, done }: what it yielded last, and what it returned in the end.
 */
export function workshop(redraw) {
  const jobs = new Map();
  const calm = matchMedia("(prefers-reduced-motion: reduce)"); // then texts appear when they are whole
  let [request, begun] = [0, false]; // and whether a job has begun in this frame
  const open = () => [...jobs.values()].filter(({ done }) => !done);
  function advance(one) {
    const { value, done } = one.steps.next();
    if (done) Object.assign(one, { done, result: value });
    else one.latest = value ?? one.latest;
    if (done || !calm.matches) one.value = one.latest;
  }
  function work(until) {
    for (let waiting = open(); waiting.length && performance.now() < until; waiting = open())
      for (const one of waiting) if (performance.now() < until) advance(one);
  }
  function run() {
    const start = performance.now();
    [request, begun] = [0, false];
    if (!calm.matches || !open().length) redraw(); // first, so that a long drawing leaves less for work
    if (open().length) schedule();
    // A frame that answers the reader has enough to draw: what was asked for is begun in the next one.
    if (!begun) work(Math.max(start + BUDGET, performance.now() + LEAST));
  }
  const schedule = () => {
    request ||= requestAnimationFrame(run);
  };
  function job(name, key, make) {
    if (jobs.get(name)?.key !== key) {
      jobs.set(name, { key, steps: make(), latest: null, value: null, result: null, done: false });
      begun = true;
      schedule();
    }
    return jobs.get(name);
  }
  return {
    job,
    busy: () => open().length > 0,
    clear: () => jobs.clear(),
    stop: () => cancelAnimationFrame(request),
  };
}
