// Medians and how far they can be trusted.

const ascending = (values) => [...values].sort((a, b) => a - b);

function median(values) {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * 95 % interval of a median by order statistics: whatever the distribution, the true median lies between two of the
 * sorted samples with the binomial probability of as many on each side. Null with fewer than six samples.
 */
function intervalOfMedian(values) {
  const sorted = ascending(values);
  const count = sorted.length;
  let tail = 0.5 ** count;
  let term = tail;
  let rank = 0;
  for (let next = 1; next <= count / 2; next++) {
    if (tail > 0.025) break;
    rank = next;
    term *= (count - next + 1) / next;
    tail += term;
  }
  return rank === 0 ? null : [sorted[rank - 1], sorted[count - rank]];
}

/** A summary in the form of the native program's: nanoseconds, and a spread that is not scaled. */
function summary(values) {
  const sorted = ascending(values);
  const middle = median(values);
  const deviation = median(values.map((value) => Math.abs(value - middle)));
  const rank = Math.max(Math.ceil(0.95 * sorted.length) - 1, 0);
  return {
    median: Math.round(middle), mad: Math.round(deviation), min: Math.round(sorted[0]),
    p95: Math.round(sorted[rank]), max: Math.round(sorted.at(-1)), noisy: deviation > 0.05 * middle,
    interval: intervalOfMedian(values),
  };
}
