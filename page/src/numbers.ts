// Numbers as they are shown: tabular, short, never more digits than are known.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A count with separators. */
export function count(value: number): string {
  return whole.format(value);
}

/** Four significant digits. */
export function compact(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

/** A share as percent; tiny but not zero is 0+. */
export function percent(part: number, all: number): string {
  if (!all || !part) return "0 %";
  const share = (100 * part) / all;
  return share < 0.05 ? "0+ %" : `${share.toFixed(share < 10 ? 1 : 0)} %`;
}

/** With its sign, also above 0. */
export function signed(value: number, digits = 2): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** The ends of an interval. */
export function lowToHigh({ low, high }: Interval): string {
  return `${compact(low)} to ${compact(high)}`;
}
