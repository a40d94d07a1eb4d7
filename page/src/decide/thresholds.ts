// Thresholds: for two states and costs that are numbers, which action is best at which probability.
import type { CostCells } from "./outcome";

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
