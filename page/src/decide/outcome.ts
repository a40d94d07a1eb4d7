// What a table of costs does to rows whose posteriors were sent once: least expected cost, recomputed at every drag.
import type { Schemas } from "../api/client";
import { FormulaError, formulaValues, type Columns } from "./formula";

export type CostCells = Schemas["DecisionDocument"]["costs"]; // costs[action][state]

export interface Rows {
  readonly n: number;
  readonly states: readonly string[];
  readonly posterior: Float64Array; // row by row
  readonly weights: Float64Array;
  readonly truth: Int32Array; // position of the state, -1 where it is not known
  readonly columns: Columns;
}

export interface Outcome {
  readonly actions: readonly string[];
  readonly taken: Float64Array; // weight of the rows in each action
  readonly confusion: Float64Array; // action by action, weight of the rows of each true state
  readonly expected: number; // per case, by the posteriors
  readonly paid: number | null; // per case, where the truth is known
  readonly always: readonly (number | null)[]; // per case, for each action
  readonly mostProbable: number | null;
  readonly perfect: number | null;
  readonly problem: string | null;
}

/** The layout of /api/costs/rows.bin: posteriors, weights, columns as doubles, then the true states. */
export function readRows(view: Schemas["RowsView"], bytes: ArrayBuffer): Rows {
  const { rows: n, states, columns } = view;
  let at = 0;
  const doubles = (count: number) => {
    const found = new Float64Array(bytes, at, count);
    at += 8 * count;
    return found;
  };
  const posterior = doubles(n * states.length);
  const weights = doubles(n);
  const named = new Map(columns.map((name) => [name, doubles(n)]));
  return grouped({ n, states, posterior, weights, columns: named, truth: new Int32Array(bytes, at, n) });
}

/** The rows by most probable and true state: a pass over neighbours that are alike takes a third less time. */
function grouped({ n, states, posterior, weights, columns, truth }: Rows): Rows {
  const nStates = states.length;
  const group = new Uint32Array(n);
  const begins = new Uint32Array(nStates * (nStates + 1) + 1);
  for (let row = 0; row < n; row++) {
    let best = 0;
    for (let state = 1; state < nStates; state++) if (posterior[row * nStates + state]! > posterior[row * nStates + best]!) best = state;
    group[row] = best * (nStates + 1) + truth[row]! + 1;
    begins[group[row]! + 1]! += 1;
  }
  for (let each = 1; each < begins.length; each++) begins[each]! += begins[each - 1]!;
  const order = new Uint32Array(n); // the row at each place
  for (let row = 0; row < n; row++) order[begins[group[row]!]!++] = row;
  const moved = (values: Float64Array) => Float64Array.from(order, (row) => values[row]!);
  const posteriors = new Float64Array(n * nStates);
  for (let place = 0; place < n; place++) posteriors.set(posterior.subarray(order[place]! * nStates, (order[place]! + 1) * nStates), place * nStates);
  return {
    n, states, posterior: posteriors, weights: moved(weights), truth: Int32Array.from(order, (row) => truth[row]!),
    columns: new Map([...columns].map(([name, values]) => [name, moved(values)])),
  };
}

/** What the costs do: one pass over the rows; with two states and numbers not even that, if they are decided `again` and again. */
export function outcomeOf(rows: Rows, costs: CostCells, { again = true } = {}): Outcome {
  const actions = Object.keys(costs);
  const [nActions, nStates] = [actions.length, rows.states.length];
  const found = { taken: new Float64Array(nActions), confusion: new Float64Array(nActions * nStates), expected: 0 };
  let cells: Cells;
  try {
    cells = cellsOf(rows, costs, actions);
  } catch (error) {
    const nothing = { paid: null, always: actions.map(() => null), mostProbable: null, perfect: null };
    return { actions, ...found, ...nothing, problem: error instanceof FormulaError ? error.message : String(error) };
  }
  const sums = cells.varying.length ? byFormulas(rows, cells, found) : byNumbers(rows, cells, found, again);
  const known = knownOf(rows);
  const perCase = (sum: number) => (known.weight > 0 ? sum / known.weight : null);
  return {
    actions, taken: found.taken, confusion: found.confusion, expected: known.all > 0 ? found.expected / known.all : 0,
    paid: perCase(sums.paid), always: Array.from(sums.always, perCase), mostProbable: perCase(sums.mostProbable), perfect: perCase(sums.perfect),
    problem: null,
  };
}

interface Found {
  readonly taken: Float64Array;
  readonly confusion: Float64Array;
  expected: number;
}

interface Sums {
  readonly paid: number;
  readonly always: Float64Array;
  readonly mostProbable: number;
  readonly perfect: number;
}

/** Costs that are numbers: rows are only counted, and what is paid follows from the counts. */
function byNumbers(rows: Rows, { table, nActions, nStates }: Cells, found: Found, again: boolean): Sums {
  if (nStates === 2 && again) decideSorted(sortedOf(rows), table, nActions, found);
  else decideAll(rows, table, nActions, found);
  const { confusion } = knownOf(rows);
  const always = new Float64Array(nActions);
  let [paid, mostProbable, perfect] = [0, 0, 0];
  for (let state = 0; state < nStates; state++) {
    const best = bestFor(state, table, nActions, nStates);
    for (let truth = 0; truth < nStates; truth++) {
      const weight = confusion[state * nStates + truth]!;
      mostProbable += weight * table[best * nStates + truth]!;
      for (let action = 0; action < nActions; action++) always[action]! += weight * table[action * nStates + truth]!;
      perfect += weight * table[bestFor(truth, table, nActions, nStates) * nStates + truth]!;
    }
    for (let action = 0; action < nActions; action++) paid += found.confusion[action * nStates + state]! * table[action * nStates + state]!;
  }
  return { paid, always, mostProbable, perfect };
}

/**
 * Two states: along rows that are sorted by their posterior, the rows of an action lie together, since the least of straight
 * lines is concave. So the ends of these stretches are found by halving, and sums are differences of running sums.
 */
function decideSorted({ n, first, second, weight, promised, truth }: Sorted, table: Float64Array, nActions: number, found: Found): void {
  const bestAt = (row: number) => {
    const [p, q] = [first[row]!, second[row]!];
    let [best, least] = [0, Infinity];
    for (let action = 0; action < nActions; action++) {
      const risk = p * table[2 * action]! + q * table[2 * action + 1]!;
      if (risk < least) [best, least] = [action, risk];
    }
    return best;
  };
  const stretch = (begin: number, end: number, action: number) => {
    found.taken[action]! += weight[end]! - weight[begin]!;
    for (let state = 0; state < 2; state++) {
      found.expected += (promised[state]![end]! - promised[state]![begin]!) * table[2 * action + state]!;
      found.confusion[2 * action + state]! += truth[state]![end]! - truth[state]![begin]!;
    }
  };
  const halve = (begin: number, end: number, low: number, high: number) => { // actions of the first and of the last row
    if (low === high) return stretch(begin, end, low);
    if (end - begin === 2) {
      stretch(begin, begin + 1, low);
      return stretch(begin + 1, end, high);
    }
    const middle = (begin + end) >> 1;
    const action = bestAt(middle);
    halve(begin, middle + 1, low, action);
    if (middle + 1 < end) halve(middle + 1, end, bestAt(middle + 1), high);
  };
  if (n) halve(0, n, bestAt(0), bestAt(n - 1));
}

function decideAll({ n, states, posterior, weights, truth }: Rows, table: Float64Array, nActions: number, found: Found): void {
  const nStates = states.length;
  const { taken, confusion } = found;
  let expected = 0;
  for (let row = 0; row < n; row++) {
    let best = 0;
    let least = Infinity;
    for (let action = 0; action < nActions; action++) {
      let risk = 0;
      for (let state = 0; state < nStates; state++) risk += posterior[row * nStates + state]! * table[action * nStates + state]!;
      if (risk < least) {
        best = action;
        least = risk;
      }
    }
    const w = weights[row]!;
    expected += w * least;
    taken[best]! += w;
    if (truth[row]! >= 0) confusion[best * nStates + truth[row]!]! += w;
  }
  found.expected = expected;
}

/** Costs that depend on the row: its own table of costs is filled in for each. */
function byFormulas(rows: Rows, { table, nActions, nStates, varying }: Cells, found: Found): Sums {
  const { n, posterior, weights, truth } = rows;
  const { probable } = knownOf(rows);
  const places = varying.map(({ cell }) => cell);
  const values = varying.map((each) => each.values);
  const { taken, confusion } = found;
  const always = new Float64Array(nActions);
  let [expected, paid, mostProbable, perfect] = [0, 0, 0, 0];
  for (let row = 0; row < n; row++) {
    for (let each = 0; each < places.length; each++) table[places[each]!] = values[each]![row]!;
    let best = 0;
    let least = Infinity;
    for (let action = 0; action < nActions; action++) {
      let risk = 0;
      for (let state = 0; state < nStates; state++) risk += posterior[row * nStates + state]! * table[action * nStates + state]!;
      if (risk < least) {
        best = action;
        least = risk;
      }
    }
    const w = weights[row]!;
    expected += w * least;
    taken[best]! += w;
    const state = truth[row]!;
    if (state < 0) continue;
    confusion[best * nStates + state]! += w;
    paid += w * table[best * nStates + state]!;
    mostProbable += w * table[bestFor(probable[row]!, table, nActions, nStates) * nStates + state]!;
    perfect += w * table[bestFor(state, table, nActions, nStates) * nStates + state]!;
    for (let action = 0; action < nActions; action++) always[action]! += w * table[action * nStates + state]!;
  }
  found.expected = expected;
  return { paid, always, mostProbable, perfect };
}

/** The costs as one table, action by action, and which of its cells have a value of their own in each row. */
interface Cells {
  readonly nActions: number;
  readonly nStates: number;
  readonly table: Float64Array;
  readonly varying: readonly { readonly cell: number; readonly values: Float64Array }[];
}

function cellsOf(rows: Rows, costs: CostCells, actions: readonly string[]): Cells {
  const nStates = rows.states.length;
  const table = new Float64Array(actions.length * nStates);
  const varying: { cell: number; values: Float64Array }[] = [];
  actions.forEach((action, a) => rows.states.forEach((state, s) => {
    const cell = costs[action]![state] ?? 0;
    if (typeof cell === "number") table[a * nStates + s] = cell;
    else varying.push({ cell: a * nStates + s, values: keptFormula(rows, cell) });
  }));
  return { nActions: actions.length, nStates, table, varying };
}

/** The action that costs least if the state were certain; the first of those that cost the same. */
function bestFor(state: number, table: Float64Array, nActions: number, nStates: number): number {
  let best = 0;
  for (let action = 1; action < nActions; action++) if (table[action * nStates + state]! < table[best * nStates + state]!) best = action;
  return best;
}

// -- what stays as it is while costs move ------------------------------------------------------------------------

const formulas = new WeakMap<Rows, Map<string, Float64Array>>();

function keptFormula(rows: Rows, text: string): Float64Array {
  const kept = formulas.get(rows) ?? new Map<string, Float64Array>();
  formulas.set(rows, kept);
  const values = kept.get(text) ?? formulaValues(text, rows.columns, rows.n);
  if (kept.size >= 32) kept.clear(); // a formula that is being typed
  kept.set(text, values);
  return values;
}

interface Known {
  readonly all: number; // weight of all rows
  readonly weight: number; // of those whose state is known
  readonly confusion: Float64Array; // of these, by most probable state and true state
  readonly probable: Int32Array; // the most probable state of each row
}

const knownRows = new WeakMap<Rows, Known>();

function knownOf(rows: Rows): Known {
  let known = knownRows.get(rows);
  if (!known) {
    const n = rows.states.length;
    const confusion = new Float64Array(n * n);
    const probable = new Int32Array(rows.n);
    let [all, weight] = [0, 0];
    for (let row = 0; row < rows.n; row++) {
      let best = 0;
      for (let state = 1; state < n; state++) if (rows.posterior[row * n + state]! > rows.posterior[row * n + best]!) best = state;
      probable[row] = best;
      all += rows.weights[row]!;
      if (rows.truth[row]! < 0) continue;
      weight += rows.weights[row]!;
      confusion[best * n + rows.truth[row]!]! += rows.weights[row]!;
    }
    known = { all, weight, confusion, probable };
    knownRows.set(rows, known);
  }
  return known;
}

/** Rows of two states by their posterior, and running sums along them: up to row `k` at place `k`. */
interface Sorted {
  readonly n: number;
  readonly first: Float64Array; // posterior of the first state
  readonly second: Float64Array;
  readonly weight: Float64Array;
  readonly promised: readonly [Float64Array, Float64Array]; // weight x posterior of each state
  readonly truth: readonly [Float64Array, Float64Array]; // weight of the rows of each true state
}

const sortedRows = new WeakMap<Rows, Sorted>();

function sortedOf(rows: Rows): Sorted {
  let sorted = sortedRows.get(rows);
  if (!sorted) {
    const { n, posterior, weights, truth } = rows;
    const order = Uint32Array.from({ length: n }, (_, row) => row).sort((a, b) => posterior[2 * a + 1]! - posterior[2 * b + 1]!);
    const running = (value: (row: number) => number) => {
      const sums = new Float64Array(n + 1);
      for (let place = 0; place < n; place++) sums[place + 1] = sums[place]! + value(order[place]!);
      return sums;
    };
    sorted = {
      n, first: Float64Array.from(order, (row) => posterior[2 * row]!), second: Float64Array.from(order, (row) => posterior[2 * row + 1]!),
      weight: running((row) => weights[row]!),
      promised: [running((row) => weights[row]! * posterior[2 * row]!), running((row) => weights[row]! * posterior[2 * row + 1]!)],
      truth: [running((row) => (truth[row] === 0 ? weights[row]! : 0)), running((row) => (truth[row] === 1 ? weights[row]! : 0))],
    };
    sortedRows.set(rows, sorted);
  }
  return sorted;
}
