// The binomial law, as scipy.stats.binom has it.

const LOG_FACTORIALS = [0, 0];

/** log n! of whole numbers. */
export function logFactorial(n) {
  for (let i = LOG_FACTORIALS.length; i <= n; i++) LOG_FACTORIALS.push(LOG_FACTORIALS[i - 1] + Math.log(i));
  return LOG_FACTORIALS[n];
}

/** log P(X = k) of n independent answers, each right with probability p. */
function logChance(k, n, p) {
  const ways = logFactorial(n) - logFactorial(k) - logFactorial(n - k);
  return ways + (k ? k * Math.log(p) : 0) + (n - k ? (n - k) * Math.log1p(-p) : 0);
}

/** P(X = k). */
export const chance = (k, n, p) => Math.exp(logChance(k, n, p));

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
  const found = Array(n + 1); // a plain loop: a frame asks for a hundred laws
  for (let k = 0; k <= n; k++)
    found[k] = Math.exp(logs[k] + (k ? k * right : 0) + (n - k ? (n - k) * wrong : 0));
  return found;
}

/** P(some(X)). */
export function chanceOf(some, n, p) {
  const [logs, right, wrong] = [waysTo(n), Math.log(p), Math.log1p(-p)];
  let total = 0;
  for (let k = 0; k <= n; k++)
    if (some(k)) total += Math.exp(logs[k] + (k ? k * right : 0) + (n - k ? (n - k) * wrong : 0));
  return total;
}

/** P(X ≥ k) over P(X = k). */
function tail(k, n, p) {
  let [term, total] = [1, 0];
  for (let j = k; j <= n && term > 1e-17 * total; j++) {
    total += term;
    term *= ((n - j) / (j + 1)) * (p / (1 - p));
  }
  return total;
}

/**
 * The p under which k or more right answers have the probability alpha, which is also the quantile alpha of
 * Beta(k, n − k + 1).  Newton's method between the logarithms of p and of that probability, which is concave in them:
 * however small alpha is, every step but the first comes from below.
 */
export function lowest(k, n, alpha) {
  if (k === 0) return 0;
  let p = k / n;
  for (let i = 0; i < 100; i++) {
    const times = tail(k, n, p);
    const gap = Math.log(alpha / times) - logChance(k, n, p);
    const next = p * Math.exp((gap * times) / k); // the derivative of the probability is that of a beta law
    if (Math.abs(next - p) < 1e-9 * p) return next; // the next step would be the square of that
    p = next;
  }
  return p;
}
