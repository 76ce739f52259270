// Minimises by L-BFGS (Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.4), with steps halved until the value
// falls enough. `evaluate(x)` returns [value, gradient]; an infinite value is no step to take.
const dot = (a, b) => a.reduce((sum, each, i) => sum + each * b[i], 0);

export function minimise(evaluate, start, { memory = 8, steps = 100, tolerance = 1e-6 } = {}) {
  let x = start.slice();
  let [value, gradient] = evaluate(x);
  const pairs = [];
  let iteration = 0;
  for (; iteration < steps && Math.max(...gradient.map(Math.abs)) > tolerance; ++iteration) {
    const direction = gradient.map((each) => -each);
    const factors = [];
    for (let k = pairs.length - 1; k >= 0; --k) {
      const { s, y, rho } = pairs[k];
      factors[k] = rho * dot(s, direction);
      direction.forEach((_, i) => (direction[i] -= factors[k] * y[i]));
    }
    if (pairs.length) {
      const { s, y } = pairs.at(-1);
      const scale = dot(s, y) / dot(y, y);
      direction.forEach((_, i) => (direction[i] *= scale));
    }
    pairs.forEach(({ s, y, rho }, k) => {
      const factor = factors[k] - rho * dot(y, direction);
      direction.forEach((_, i) => (direction[i] += factor * s[i]));
    });
    const slope = dot(gradient, direction);
    if (!(slope < 0)) break;
    let size = pairs.length ? 1 : Math.min(1, 1 / Math.sqrt(dot(gradient, gradient)));
    let next, found;
    do {
      next = x.map((each, i) => each + size * direction[i]);
      found = evaluate(next);
      size /= 2;
    } while (!(found[0] <= value + 2e-4 * size * slope) && size > 1e-12);
    if (size <= 1e-12) break;
    const s = next.map((each, i) => each - x[i]), y = found[1].map((each, i) => each - gradient[i]);
    if (dot(s, y) > 1e-12) pairs.push({ s, y, rho: 1 / dot(s, y) });
    if (pairs.length > memory) pairs.shift();
    [value, gradient] = found;
    x = next;
  }
  return { x, value, iterations: iteration };
}
