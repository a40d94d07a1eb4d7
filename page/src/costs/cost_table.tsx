// The costs of actions in states: numbers with sliders, or formulas over columns; actions come and go.
import { useState } from "preact/hooks";
import type { CostCells } from "../decide/outcome";
import { TypedInput } from "../components/typed_input";

interface Props {
  readonly costs: CostCells;
  readonly settled: CostCells; // as they were before the slider moved: the ends of sliders rest meanwhile
  readonly states: readonly string[];
  readonly onChange: (costs: CostCells) => void; // while a slider moves
  readonly onSettle: () => void; // when a change is done: one step of undo
}

export function CostTable({ costs, settled, states, onChange, onSettle }: Props) {
  const [added, setAdded] = useState("");
  const actions = Object.keys(costs);
  const numbers = Object.values(settled).flatMap((cells) => Object.values(cells)).filter((cell) => typeof cell === "number");
  const most = Math.max(1, ...numbers.map(Math.abs)) * 2;
  const set = (action: string, state: string, cell: number | string) => onChange({ ...costs, [action]: { ...costs[action]!, [state]: cell } });
  const add = (event: Event) => {
    event.preventDefault();
    const name = added.trim();
    if (!name || name in costs) return;
    onChange({ ...costs, [name]: Object.fromEntries(states.map((state) => [state, most / 4])) });
    onSettle();
    setAdded("");
  };
  return (
    <div class="wide">
      <table class="costs">
        <caption>Cost of each action in each true state; a cell may be a formula such as 0.1 * amount</caption>
        <thead>
          <tr>
            <th scope="col">true state</th>
            {actions.map((action) => (
              <th key={action} scope="col">
                {action}{" "}
                {actions.length > 2 && (
                  <button type="button" class="small" aria-label={`Remove the action ${action}`} onClick={() => {
                    onChange(Object.fromEntries(Object.entries(costs).filter(([name]) => name !== action)));
                    onSettle();
                  }}>×</button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {states.map((state) => (
            <tr key={state}>
              <th scope="row">{state}</th>
              {actions.map((action) => {
                const cell = costs[action]![state] ?? 0;
                const label = `Cost of ${action} if ${state}`;
                return (
                  <td key={action}>
                    <TypedInput class={typeof cell === "number" ? "cell" : "cell formula"} aria-label={label} value={cell} onTyped={(text) => {
                      set(action, state, typed(text));
                      onSettle();
                    }} />
                    {typeof cell === "number" && (
                      <input type="range" aria-label={`${label}, slider`} min={Math.min(0, ...numbers) * 2} max={most} step={most / 200} value={cell}
                        onInput={(event) => set(action, state, Number(Number(event.currentTarget.value).toPrecision(3)))} onChange={onSettle} />
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <form class="controls" onSubmit={add}>
        <label>New action <input value={added} placeholder="ask" onInput={(event) => setAdded(event.currentTarget.value)} /></label>
        <button type="submit" disabled={!added.trim() || added.trim() in costs}>add</button>
      </form>
    </div>
  );
}

/** A number where it reads as one, otherwise a formula. */
function typed(text: string): number | string {
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : text.trim() || 0;
}
