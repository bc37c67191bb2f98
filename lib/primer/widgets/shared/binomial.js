// The binomial law, as scipy.stats.binom has it.

const LOG_FACTORIALS = [0, 0];

/** log n! of whole numbers. */
export function logFactorial(n) {
  for (let i = LOG_FACTORIALS.length; i <= n; i++) LOG_FACTORIALS.push(LOG_FACTORIALS[i - 1] + Math.log(i));
  return LOG_FACTORIALS[n];
}

/** P(X = k) of n independent answers, each right with probability p. */
export function chance(k, n, p) {
  const ways = logFactorial(n) - logFactorial(k) - logFactorial(n - k);
  return Math.exp(ways + (k ? k * Math.log(p) : 0) + (n - k ? (n - k) * Math.log1p(-p) : 0));
}

const ways = [];

/** How many ways lead to 0, 1, … n right answers, as logarithms. */
const waysTo = (n) =>
  (ways[n] ??= Float64Array.from(
    { length: n + 1 },
    (_, k) => logFactorial(n) - logFactorial(k) - logFactorial(n - k),
  ));

/** P(X = k) for k = 0, 1, … n. */
export function chances(n, p) {
  const [logs, right, wrong] = [waysTo(n), Math.log(p), Math.log1p(-p)];
  return Array.from(logs, (way, k) => Math.exp(way + (k ? k * right : 0) + (n - k ? (n - k) * wrong : 0)));
}

/** P(some(X)). */
export function chanceOf(some, n, p) {
  const [logs, right, wrong] = [waysTo(n), Math.log(p), Math.log1p(-p)];
  let total = 0;
  for (let k = 0; k <= n; k++)
    if (some(k)) total += Math.exp(logs[k] + (k ? k * right : 0) + (n - k ? (n - k) * wrong : 0));
  return total;
}

/** P(X ≥ k), for a p below k / n, where each further term is smaller than the one before. */
function tail(k, n, p) {
  let [term, total] = [chance(k, n, p), 0];
  for (let j = k; j <= n && term > 1e-17 * total; j++) {
    total += term;
    term *= ((n - j) / (j + 1)) * (p / (1 - p));
  }
  return total;
}

/**
 * The p under which k or more right answers have the probability alpha, which is also the quantile alpha of
 * Beta(k, n − k + 1): Newton's method, kept in its bracket.
 */
export function lowest(k, n, alpha) {
  if (k === 0) return 0;
  let [low, high, p] = [0, k / n, k / n / 2];
  for (let i = 0; i < 100; i++) {
    const gap = tail(k, n, p) - alpha;
    if (gap > 0) high = p;
    else low = p;
    const next = p - (gap * p) / (k * chance(k, n, p)); // the derivative is that of a beta law
    const moved = low < next && next < high ? next : (low + high) / 2;
    if (Math.abs(moved - p) < 1e-15) break;
    p = moved;
  }
  return p;
}
