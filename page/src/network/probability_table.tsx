// The table of a node: rows that do not sum to 1 are shown, and can be normalised.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Schemas } from "../api/client";
import { TypedInput } from "../components/typed_input";
import { compact } from "../numbers";

interface Props {
  readonly table: Schemas["TableView"];
  readonly stale?: boolean; // whether another table is on its way: what is typed into this one would be lost
  readonly action: string; // what the button says
  readonly onUse: (rows: number[][]) => void;
}

const MOST_ROWS = 200;

export function ProbabilityTable({ table, stale = false, action, onUse }: Props) {
  const rows = useMemo(() => signal(table.rows.map((row) => [...row])), [JSON.stringify(table)]);
  const sums = rows.value.map((row) => row.reduce((sum, value) => sum + value, 0));
  const off = sums.map((sum) => Math.abs(sum - 1) > 1e-9);
  const changed = JSON.stringify(rows.value) !== JSON.stringify(table.rows);
  const set = (row: number, state: number, value: number) => (rows.value = rows.value.map((each, at) => (at === row ? each.map((old, place) => (place === state ? value : old)) : each)));
  const normalise = () => (rows.value = rows.value.map((row, at) => (off[at] && sums[at]! > 0 ? row.map((value) => value / sums[at]!) : row)));
  return (
    <>
      <div class={stale ? "wide stale" : "wide"}>
        <table class="numbers">
          <thead><tr>{table.parents.map((parent) => <th key={parent} scope="col">{parent}</th>)}{table.states.map((state) => <th key={state} scope="col" class="number">{state}</th>)}<td /></tr></thead>
          <tbody>
            {rows.value.slice(0, MOST_ROWS).map((row, at) => (
              <tr key={at} class={off[at] ? "off" : undefined}>
                {(table.configurations[at] ?? []).map((state, place) => <th key={place} scope="row">{state}</th>)}
                {row.map((value, state) => (
                  <td key={state} class="number">
                    <TypedInput class="probability" aria-label={`P(${table.node} = ${table.states[state]}), row ${at + 1}`} type="number" min={0} max={1} step="any" readOnly={stale} value={value}
                      onTyped={(text) => set(at, state, Number(text))} />
                  </td>
                ))}
                <td class="sum">{off[at] ? `sums to ${compact(sums[at]!)}` : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.value.length > MOST_ROWS && <p class="quiet">{rows.value.length - MOST_ROWS} more rows.</p>}
      <p class="remedies">
        <button type="button" disabled={stale || !off.some(Boolean)} onClick={normalise}>normalise</button>
        <button type="button" disabled={!changed} onClick={() => (rows.value = table.rows.map((row) => [...row]))}>reset</button>
        <button type="button" disabled={stale || !changed || off.some(Boolean)} onClick={() => onUse(rows.value)}>{action}</button>
      </p>
    </>
  );
}
