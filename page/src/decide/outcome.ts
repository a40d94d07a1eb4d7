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
  return { n, states, posterior, weights, columns: named, truth: new Int32Array(bytes, at, n) };
}

export function outcomeOf(rows: Rows, costs: CostCells): Outcome {
  const actions = Object.keys(costs);
  const [nActions, nStates] = [actions.length, rows.states.length];
  const empty = { actions, taken: new Float64Array(nActions), confusion: new Float64Array(nActions * nStates) };
  const nothing = { expected: 0, paid: null, always: actions.map(() => null), mostProbable: null, perfect: null };
  let cells: Cell[];
  try {
    cells = cellsOf(rows, costs, actions);
  } catch (error) {
    return { ...empty, ...nothing, problem: error instanceof FormulaError ? error.message : String(error) };
  }
  const { taken, confusion } = empty;
  const { posterior, weights, truth } = rows;
  const probable = mostProbableStates(rows);
  const always = new Float64Array(nActions);
  const bestIf = new Int32Array(nStates); // the best action if the state were certain
  let [weight, known, expected, paid, mostProbable, perfect] = [0, 0, 0, 0, 0, 0];
  const constant = cells.every((cell) => typeof cell === "number");
  const table = new Float64Array(nActions * nStates);
  for (let row = 0; row < rows.n; row++) {
    if (!constant || row === 0) {
      for (let cell = 0; cell < table.length; cell++) table[cell] = cellAt(cells[cell]!, row);
      for (let state = 0; state < nStates; state++) bestIf[state] = bestFor(state, table, nActions, nStates);
    }
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
    weight += w;
    expected += w * least;
    taken[best]! += w;
    const state = truth[row]!;
    if (state < 0) continue;
    known += w;
    confusion[best * nStates + state]! += w;
    paid += w * table[best * nStates + state]!;
    mostProbable += w * table[bestIf[probable[row]!]! * nStates + state]!;
    perfect += w * table[bestIf[state]! * nStates + state]!;
    for (let action = 0; action < nActions; action++) always[action]! += w * table[action * nStates + state]!;
  }
  const perCase = (sum: number) => (known > 0 ? sum / known : null);
  return {
    actions, taken, confusion, expected: weight > 0 ? expected / weight : 0, paid: perCase(paid),
    always: Array.from(always, perCase), mostProbable: perCase(mostProbable), perfect: perCase(perfect), problem: null,
  };
}

type Cell = number | Float64Array;

function cellAt(cell: Cell, row: number): number {
  return typeof cell === "number" ? cell : cell[row]!;
}

function cellsOf(rows: Rows, costs: CostCells, actions: readonly string[]): Cell[] {
  return actions.flatMap((action) => rows.states.map((state) => {
    const cell = costs[action]![state] ?? 0;
    return typeof cell === "number" ? cell : formulaValues(cell, rows.columns, rows.n);
  }));
}

const probableStates = new WeakMap<Rows, Int32Array>(); // posteriors do not change while costs do

function mostProbableStates(rows: Rows): Int32Array {
  let found = probableStates.get(rows);
  if (!found) {
    const n = rows.states.length;
    found = Int32Array.from({ length: rows.n }, (_, row) => {
      let best = 0;
      for (let state = 1; state < n; state++) if (rows.posterior[row * n + state]! > rows.posterior[row * n + best]!) best = state;
      return best;
    });
    probableStates.set(rows, found);
  }
  return found;
}

/** The action that costs least if the state were certain; the first of those that cost the same. */
function bestFor(state: number, table: Float64Array, nActions: number, nStates: number): number {
  let best = 0;
  for (let action = 1; action < nActions; action++) if (table[action * nStates + state]! < table[best * nStates + state]!) best = action;
  return best;
}

export interface Piece {
  readonly action: string;
  readonly low: number;
  readonly high: number;
}

/** For two states and costs that are numbers: which action is best at which probability of the second state. */
export function piecesOf(costs: CostCells, states: readonly string[]): Piece[] | null {
  const lines = Object.entries(costs).map(([action, cells]) => ({ action, zero: cells[states[0]!] ?? 0, one: cells[states[1]!] ?? 0 }));
  if (states.length !== 2 || !lines.every(({ zero, one }) => typeof zero === "number" && typeof one === "number")) return null;
  const risk = (line: (typeof lines)[number], p: number) => (line.zero as number) * (1 - p) + (line.one as number) * p;
  const pieces: Piece[] = [];
  let [p, current] = [0, lines.reduce((best, line) => (risk(line, 0) < risk(best, 0) || (risk(line, 0) === risk(best, 0) && risk(line, 1) < risk(best, 1)) ? line : best))];
  for (let guard = 0; guard <= lines.length; guard++) {
    let [next, edge] = [current, 1];
    for (const line of lines) {
      const gain = risk(current, 1) - risk(current, 0) - (risk(line, 1) - risk(line, 0)); // how much faster the current one rises
      if (gain <= 0) continue;
      const meet = (risk(line, 0) - risk(current, 0)) / gain;
      if (meet < edge - 1e-15 && meet >= p - 1e-12) [next, edge] = [line, Math.max(p, meet)];
    }
    if (edge > p) pieces.push({ action: current.action, low: p, high: edge });
    if (next === current) break;
    [p, current] = [edge, next];
  }
  return pieces;
}

/** Costs with which the edge between two neighbours lies at `p`: the right one's cost in the first state gives way. */
export function withEdgeAt(costs: CostCells, states: readonly string[], left: string, right: string, p: number): CostCells {
  const cell = (action: string, state: number) => costs[action]![states[state]!] as number;
  const moved = (cell(left, 0) * (1 - p) + cell(left, 1) * p - cell(right, 1) * p) / (1 - p);
  return { ...costs, [right]: { ...costs[right]!, [states[0]!]: Number(moved.toPrecision(4)) } };
}
