// Functions for the tests: what the workshop does in each frame, by a clock of the test's own.
import { workshop } from "../../lib/primer/widgets/shared/workshop.js";

/** Let a function run with a page's clock, frames and timers: { now(), spend(ms), frame(), timer() }. */
function withClock(calm, run) {
  const known = [
    ...["performance", "requestAnimationFrame", "cancelAnimationFrame", "matchMedia"],
    ...["setTimeout", "clearTimeout"],
  ];
  const before = known.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  let [time, asked, later] = [0, null, null];
  const now = () => time;
  const clock = {
    now,
    spend: (ms) => {
      time += ms;
    },
    frame() {
      const call = asked;
      asked = null;
      call?.();
      return call !== null;
    },
    timer() {
      const call = later;
      later = null;
      call?.();
    },
  };
  const given = [
    { now },
    (call) => {
      asked = call;
      return 1;
    },
    () => {},
    () => ({ matches: calm }),
    (call) => {
      later = call;
      return 1;
    },
    () => {
      later = null;
    },
  ];
  known.forEach((name, i) =>
    Object.defineProperty(globalThis, name, { value: given[i], configurable: true, writable: true }),
  );
  try {
    return run(clock);
  } finally {
    known.forEach((name, i) => {
      if (before[i]) Object.defineProperty(globalThis, name, before[i]);
      else delete globalThis[name];
    });
  }
}

/**
 * The frames of a widget with one job of so many pieces: for each { drawn, took }, and how many pieces were
 * `worked` in the `rest` after it.  Before the frame of the number `again` the reader asks for the job with another key.
 */
export function frames({ drawing, piece, pieces, again = -1, calm = false }) {
  return withClock(calm, (clock) => {
    let [key, seen] = [0, { drawn: 0, worked: 0 }];
    function* job() {
      for (let i = 0; i < pieces; i++) {
        clock.spend(piece);
        seen.worked += 1;
        yield i;
      }
      return "done";
    }
    const shop = workshop(() => draw());
    function draw() {
      clock.spend(drawing);
      seen.drawn += 1;
      seen.result = shop.job("one", key, job).result;
      seen.busy = shop.busy();
    }
    draw();
    const found = [];
    for (let number = 0; number < 1000; number++) {
      if (number === again) key += 1;
      seen = { drawn: 0, worked: 0 };
      const start = clock.now();
      if (!clock.frame()) return found;
      const took = clock.now() - start;
      clock.timer();
      found.push({ ...seen, took, rest: clock.now() - start - took });
    }
    throw new Error("it does not come to an end");
  });
}
