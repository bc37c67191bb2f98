// Names beside the tips of arrows, off all that is drawn.  All of it runs in Node.

const LETTER = 8; // pixels of a letter's width, at most
const [ABOVE, BELOW] = [13, 5]; // of its height, over and under the line it stands on
const GAPS = [7, 13, 20, 30]; // from the tip to the name: the nearest that is free
const TURNS = 24; // directions that are tried
const CLEAR = 4; // pixels between a name and a line, which is as wide as twice that at most

/** Does a line from one point to another touch a box? */
export function touches([[x0, y0], [x1, y1]], { left, right, top, bottom }) {
  let [from, to] = [0, 1];
  const sides = [
    [x0 - x1, x0 - left],
    [x1 - x0, right - x0],
    [y0 - y1, y0 - top],
    [y1 - y0, bottom - y0],
  ];
  for (const [way, room] of sides) {
    if (way === 0) {
      if (room < 0) return false;
    } else if (way < 0) from = Math.max(from, room / way);
    else to = Math.min(to, room / way);
  }
  return from <= to;
}

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const wider = ({ left, right, top, bottom }) => ({
  ...{ left: left - CLEAR, right: right + CLEAR, top: top - CLEAR, bottom: bottom + CLEAR },
});

/** The box of a name that stands so far from a tip in a direction. */
function boxAt([x, y], text, angle, gap) {
  const [w, h] = [(LETTER * text.length) / 2, (ABOVE + BELOW) / 2];
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
  const [cx, cy] = [x + dx * (gap + w), y + dy * (gap + h)];
  return { left: cx - w, right: cx + w, top: cy - h, bottom: cy + h };
}

/**
 * Where names of tips go: { x, y, "text-anchor" } for each { tip: [x, y], from: [x, y], text }, in pixels, the middle of
 * its foot: as near as may be, preferably outwards, on none of the `lines` [[x, y], [x, y]], on no other name, and inside
 * `frame`.  Where nothing is free, on as little as possible.
 */
export function placeNames(names, lines, frame) {
  const taken = [];
  return names.map(({ tip, from, text }) => {
    const outwards = Math.atan2(tip[1] - from[1], tip[0] - from[0]);
    let best = { cost: Number.POSITIVE_INFINITY, box: null };
    for (const gap of GAPS) {
      for (let turn = 0; turn < TURNS; turn++) {
        const side = (turn % 2 ? 1 : -1) * Math.ceil(turn / 2) * ((2 * Math.PI) / TURNS);
        const way = gap + 4 * Math.abs(side);
        if (way >= best.cost) continue; // mostly the first place is free
        const box = boxAt(tip, text, outwards + side, gap);
        const outside =
          Math.max(0, frame.left - box.left, box.right - frame.right) +
          Math.max(0, frame.top - box.top, box.bottom - frame.bottom);
        const struck = lines.filter((line) => touches(line, wider(box))).length;
        const covered = taken.filter((other) => overlap(other, wider(box))).length;
        const cost = 100 * (struck + 2 * covered) + 200 * outside + way;
        if (cost < best.cost) best = { cost, box };
      }
    }
    taken.push(best.box);
    const { left, right, bottom } = best.box;
    return { x: (left + right) / 2, y: bottom - BELOW, "text-anchor": "middle" };
  });
}
