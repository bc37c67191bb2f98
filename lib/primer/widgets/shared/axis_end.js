// Ends of axes.  All of it runs in Node.

const ENDS = [1.5, 2, 3, 5, 7, 10, 15];

/** A round number a little above the largest that is drawn, one of a few: an axis stays while what it shows moves. */
export function axisEnd(largest) {
  const power = 10 ** Math.floor(Math.log10(largest));
  return power * ENDS.find((end) => largest <= 0.96 * end * power);
}
