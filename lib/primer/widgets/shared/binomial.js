// The binomial law, as scipy.stats.binom has it.

const LOG_FACTORIALS = [0, 0];

function logFactorial(n) {
  for (let i = LOG_FACTORIALS.length; i <= n; i++) LOG_FACTORIALS.push(LOG_FACTORIALS[i - 1] + Math.log(i));
  return LOG_FACTORIALS[n];
}

/** P(X = k) of n independent answers, each right with probability p. */
export function chance(k, n, p) {
  const ways = logFactorial(n) - logFactorial(k) - logFactorial(n - k);
  return Math.exp(ways + (k ? k * Math.log(p) : 0) + (n - k ? (n - k) * Math.log1p(-p) : 0));
}
