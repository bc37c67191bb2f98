// Which of what is due is asked now, and in which order: never two of one section one after the other, and of
// two sections with as much to ask one of another chapter. Pure functions.
(() => {
  "use strict";

  // Sorted by urgency: what has waited longest first, and of each section one before any has a second one.
  const urgent = (due) => {
    const seen = new Map(); // of each section and day, how many
    return due
      .map((item) => {
        const place = `${item.section} ${item.day}`;
        seen.set(place, (seen.get(place) ?? -1) + 1);
        return { ...item, rank: seen.get(place) };
      })
      .sort((one, other) => one.day - other.day || one.rank - other.rank);
  };

  // No section may have more than every second place, or two of it would meet.
  const chosen = (due, most) => {
    const of = new Map();
    const taken = [];
    for (const item of urgent(due)) {
      const number = of.get(item.section) ?? 0;
      if (taken.length === most || number >= Math.ceil(most / 2)) continue;
      of.set(item.section, number + 1);
      taken.push(item);
    }
    return taken;
  };

  // The section with most left comes next, unless it came last. What cannot be parted waits for another time.
  const parted = (items) => {
    const left = new Map();
    for (const item of items) left.set(item.section, [...(left.get(item.section) ?? []), item]);
    const order = [];
    while (left.size) {
      const last = order.at(-1);
      const open = [...left].filter(([section]) => section !== last?.section);
      if (!open.length) break;
      const [[section, [next, ...rest]]] = open.sort(
        ([, one], [, other]) =>
          other.length - one.length ||
          (one[0].chapter === last?.chapter) - (other[0].chapter === last?.chapter),
      );
      order.push(next);
      if (rest.length) left.set(section, rest);
      else left.delete(section);
    }
    return order;
  };

  // `due`: items with their chapter, their section and the day on which they were due.
  window.mix = (due, most) => parted(chosen(due, most));
})();
