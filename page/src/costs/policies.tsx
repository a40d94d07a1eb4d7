// What a decision costs per case beside every other policy, with intervals, and how many rows it puts where.
import type { Schemas } from "../api/client";
import type { Outcome, Rows } from "../decide/outcome";
import { compact, count, lowToHigh, type Interval } from "../numbers";

type Facts = Schemas["EvaluationView"]["facts"];

interface Props {
  readonly outcome: Outcome;
  readonly rows: Rows;
  readonly facts: Facts | null; // what the server has computed of costs that rest
  readonly stale: boolean;
  readonly unit: string; // what costs are counted in; may be empty
}

export function Policies({ outcome, rows, facts, stale, unit }: Props) {
  const of = (name: string) => (facts?.[name] ?? null) as Interval | null;
  const always = (facts?.["always"] ?? {}) as Record<string, Interval>;
  const policies: [string, number | null, Interval | null][] = [
    ["this decision", outcome.paid, of("cost_per_case")], ["this decision, as promised", outcome.expected, of("expected_cost_per_case")],
    ...outcome.actions.map((action, at): [string, number | null, Interval | null] => [`always ${action}`, outcome.always[at]!, always[action] ?? null]),
    ["best for the most probable state", outcome.mostProbable, of("most_probable")], ["best possible: the true state is known", outcome.perfect, of("perfect")],
  ];
  const known = policies.filter((policy): policy is [string, number, Interval | null] => policy[1] !== null);
  const [low, high] = [Math.min(0, ...known.map(([, cost]) => cost)), Math.max(0, ...known.map(([, cost]) => cost))];
  const share = (cost: number) => `${(100 * (cost - low)) / (high - low || 1)}%`;
  return (
    <div class="results">
      <section aria-label="Cost per case">
        <h2>Cost per case</h2>
        <div class="wide">
          <table class="policies">
            <thead><tr><th scope="col">policy</th><th scope="col" class="number">{unit ? `cost (${unit})` : "cost"}</th><th scope="col" class="number">{String(facts?.["interval"] ?? "interval")}</th><td /></tr></thead>
            <tbody>
              {known.map(([name, cost, estimate], at) => (
                <tr key={name} class={at === 0 ? "chosen" : undefined}>
                  <th scope="row">{name}</th>
                  <td class="number">{compact(cost)}</td>
                  <td class={stale ? "number quiet stale" : "number quiet"}>{estimate && lowToHigh(estimate)}</td>
                  <td class="bar-cell"><span class="bar" style={{ marginLeft: share(Math.min(0, cost)), width: `calc(${share(Math.max(0, cost))} - ${share(Math.min(0, cost))})` }} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <section aria-label="Rows per action">
        <h2>Rows per action</h2>
        <div class="wide">
          <table class="numbers">
            <thead><tr><th scope="col">true state</th>{outcome.actions.map((action) => <th key={action} scope="col" class="number">{action}</th>)}</tr></thead>
            <tbody>
              {rows.states.map((state, position) => (
                <tr key={state}>
                  <th scope="row">{state}</th>
                  {outcome.actions.map((action, at) => <td key={action} class="number">{count(outcome.confusion[at * rows.states.length + position]!)}</td>)}
                </tr>
              ))}
              <tr><th scope="row">all rows</th>{outcome.actions.map((action, at) => <td key={action} class="number">{count(outcome.taken[at]!)}</td>)}</tr>
            </tbody>
          </table>
        </div>
      </section>
    </div>
  );
}
