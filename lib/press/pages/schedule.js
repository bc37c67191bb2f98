// When what was met comes back: after a day, a week and a month, and the next day when it was missed. Pure
// functions of records, [how often it was known since, when it was last asked], and of the time.
(() => {
  "use strict";
  const DAYS = [1, 7, 30];
  const DAY = 86_400_000; // ms

  // Days are those of the calendar: what was read at night is asked in the morning.
  const dayOf = (time) => Math.floor((time - new Date(time).getTimezoneOffset() * 60_000) / DAY);
  const dueDay = ([step, at]) => (step < DAYS.length ? dayOf(at) + DAYS[step] : Number.POSITIVE_INFINITY);
  const isDue = (record, now) => dueDay(record) <= dayOf(now);
  const after = ([step], known, now) => [known ? Math.min(step + 1, DAYS.length) : 0, now];

  window.schedule = { dayOf, dueDay, isDue, after };
})();
