// Medians and how far they can be trusted. The figures of a summary are those of the native program, to the nanosecond.

const ascending = (values) => [...values].sort((a, b) => a - b);

/** The median of whole numbers in rising order, rounded down. */
function median(sorted) {
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : Math.floor((sorted[middle - 1] + sorted[middle]) / 2);
}

/**
 * 95 % interval of a median by order statistics: whatever the distribution, the true median lies between two of the
 * sorted samples with the binomial probability of as many on each side. Null with fewer than six samples.
 */
function intervalOfMedian(sorted) {
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

/** Figures of whole nanoseconds in any order, at least one. The median absolute deviation is not scaled. */
function summary(values) {
  const sorted = ascending(values);
  const middle = median(sorted);
  const mad = median(ascending(sorted.map((value) => Math.abs(value - middle))));
  return {
    median: middle, mad, min: sorted[0], p95: sorted[Math.ceil(0.95 * sorted.length) - 1],
    p99: sorted.length < 100 ? null : sorted[Math.ceil(sorted.length * 99 / 100) - 1], max: sorted.at(-1), noisy: mad > 0.05 * middle,
    interval: intervalOfMedian(sorted),
  };
}
