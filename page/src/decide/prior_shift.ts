// The same rows where the classes have other shares: what a decision costs there, with and without knowing of the change.
import type { CostCells, Rows } from "./outcome";
import { outcomeOf } from "./outcome";

interface Shifted {
  readonly knowing: number | null; // cost per case, with posteriors for the new prior
  readonly unaware: number | null; // with the posteriors as they are
}

/** Cost per case if `state` had the share `p` and the other states shared the rest as in `prior`. */
export function costAt(rows: Rows, costs: CostCells, prior: readonly number[], state: number, p: number): Shifted {
  const target = prior.map((share, place) => (place === state ? p : prior[state]! < 1 ? (share * (1 - p)) / (1 - prior[state]!) : 0));
  const seen = sharesOf(rows);
  const n = rows.states.length;
  const weights = new Float64Array(rows.n);
  const posterior = new Float64Array(rows.posterior.length);
  for (let row = 0; row < rows.n; row++) {
    const truth = rows.truth[row]!;
    weights[row] = truth < 0 || !seen[truth] ? 0 : (rows.weights[row]! * target[truth]!) / seen[truth]!;
    let sum = 0;
    for (let place = 0; place < n; place++) {
      const value = prior[place]! > 0 ? (rows.posterior[row * n + place]! * target[place]!) / prior[place]! : 0;
      posterior[row * n + place] = value;
      sum += value;
    }
    for (let place = 0; place < n; place++) posterior[row * n + place] = sum > 0 ? posterior[row * n + place]! / sum : rows.posterior[row * n + place]!;
  }
  return { knowing: outcomeOf({ ...rows, posterior, weights }, costs, { again: false }).paid, unaware: outcomeOf({ ...rows, weights }, costs, { again: false }).paid };
}

/** The shares of the true states among the rows whose state is known. */
export function sharesOf(rows: Rows): number[] {
  const sums = rows.states.map(() => 0);
  for (let row = 0; row < rows.n; row++) if (rows.truth[row]! >= 0) sums[rows.truth[row]!]! += rows.weights[row]!;
  const total = sums.reduce((sum, each) => sum + each, 0);
  return sums.map((sum) => (total > 0 ? sum / total : 0));
}
