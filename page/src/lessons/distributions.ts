// The distributions of the lessons, to the digits that a picture and a test need (about 1e-14).

const SQRT_2PI = Math.sqrt(2 * Math.PI);

export interface Normal {
  readonly mean: number;
  readonly spread: number;
}

export function normalDensity(x: number, { mean, spread }: Normal): number {
  const z = (x - mean) / spread;
  return Math.exp(-0.5 * z * z) / (spread * SQRT_2PI);
}

export function logNormalDensity(x: number, { mean, spread }: Normal): number {
  const z = (x - mean) / spread;
  return -0.5 * z * z - Math.log(spread * SQRT_2PI);
}

/** P(X <= x). */
export function normalBelow(x: number, { mean, spread }: Normal): number {
  const z = (x - mean) / spread;
  return z < 0 ? upperTail(-z) : 1 - upperTail(z);
}

/** P(Z > z) for z >= 0: a series near the middle, a continued fraction in the tail. */
function upperTail(z: number): number {
  if (z > 38) return 0;
  const density = Math.exp(-0.5 * z * z) / SQRT_2PI;
  if (z < 3) {
    let term = z;
    let sum = z;
    for (let n = 3; Math.abs(term) > 1e-17 * Math.abs(sum); n += 2) sum += term *= (z * z) / n;
    return 0.5 - density * sum;
  }
  let fraction = z;
  for (let n = 80; n >= 1; n--) fraction = z + n / fraction;
  return density / fraction;
}

/** Where prior x density of two classes are equal, in order: none, one or two places. */
export function equalPlaces(first: Normal, second: Normal, prior: number): number[] {
  const a = 0.5 / second.spread ** 2 - 0.5 / first.spread ** 2;
  const b = first.mean / first.spread ** 2 - second.mean / second.spread ** 2;
  const c = 0.5 * (second.mean / second.spread) ** 2 - 0.5 * (first.mean / first.spread) ** 2
    + Math.log(second.spread / first.spread) + Math.log(prior / (1 - prior));
  if (Math.abs(a) < 1e-12) return Math.abs(b) < 1e-12 ? [] : [-c / b];
  const under = b * b - 4 * a * c;
  if (under <= 0) return [];
  const stable = -0.5 * (b + Math.sign(b || 1) * Math.sqrt(under)); // no cancellation
  return [stable / a, c / stable].sort((left, right) => left - right);
}

/** log of the gamma function, by Stirling's series above 10. */
function logGamma(x: number): number {
  if (x < 10) return logGamma(x + 1) - Math.log(x);
  const inverse = 1 / (x * x);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}

/** Density of a Beta distribution at 0 < x < 1. */
export function betaDensity(x: number, a: number, b: number): number {
  return Math.exp((a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b));
}
