// The posteriors of a table's rows, sent once, and the costs to decide them by.
import { get, getBytes, type Schemas } from "../api/client";
import { readRows, type CostCells, type Rows } from "./outcome";

export interface Loaded {
  readonly request: string;
  readonly view: Schemas["RowsView"];
  readonly rows: Rows;
  readonly document: Schemas["DecisionDocument"];
  readonly file: string | null;
  readonly version: string | null;
}

export async function load(request: string, model: string, table: string, file: string | null): Promise<Loaded> {
  const [view, bytes, saved] = await Promise.all([
    get("/api/costs/rows", { model, table, decision: file }),
    getBytes("/api/costs/rows.bin", { model, table, decision: file }),
    file === null ? null : get("/api/decision", { file }),
  ]);
  const document = saved?.document ?? { costs: zeroOne(view.states) };
  return { request, view, rows: readRows(view, bytes), document, file, version: saved?.version ?? null };
}

function zeroOne(states: readonly string[]): CostCells {
  return Object.fromEntries(states.map((action) => [action, Object.fromEntries(states.map((state) => [state, Number(state !== action)]))]));
}
