// Capacity: at most N rows of the table in an action, at least total expected cost, and what one more place is worth.
import { post, type Schemas } from "../api/client";
import { useResource, useRested } from "../api/resource";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { TypedInput } from "../components/typed_input";
import { compact, count, lowToHigh } from "../numbers";
import { change, query } from "../router";

interface Props {
  readonly model: string;
  readonly table: string;
  readonly file: string | null;
  readonly document: Schemas["DecisionDocument"];
}

const NAME = "at_most";

export function Capacity({ model, table, file, document }: Props) {
  const actions = Object.keys(document.costs);
  const limits: Readonly<Record<string, string>> = Object.fromEntries(query.value.getAll(NAME).map((word) => {
    const cut = word.lastIndexOf("=");
    return [word.slice(0, cut), word.slice(cut + 1)];
  }).filter(([action]) => actions.includes(action!)));
  const set = (action: string, typed: string) => {
    const next = { ...limits, [action]: typed.trim() };
    change({ [NAME]: Object.entries(next).filter(([, most]) => most).map(([name, most]) => `${name}=${most}`) });
  };
  const typed = Object.entries(limits);
  const wrong = typed.filter(([, most]) => limitOf(most) === null);
  const chosen = Object.fromEntries(typed.map(([action, most]) => [action, limitOf(most) ?? {}]));
  const request = useRested({ model, table, file, document, at_most: chosen });
  const ready = typed.length > 0 && wrong.length === 0;
  const stale = JSON.stringify(request.at_most) !== JSON.stringify(chosen);
  const { value, problem, loading } = useResource(ready && !stale ? JSON.stringify(request) : null, (control) => post("/api/costs/limited", request, {}, control)).value;
  return (
    <section aria-label="Capacity">
      <h2>Capacity</h2>
      <p class="quiet">Limit an action to a number of rows of this table (20), or to a share of them (5%).</p>
      <div class="controls">
        {actions.map((action) => (
          <label key={action}>{action} <TypedInput class="short" aria-label={`At most this many rows in ${action}`} placeholder="no limit" value={limits[action] ?? ""} onTyped={(text) => set(action, text)} /></label>
        ))}
      </div>
      {wrong.map(([action, most]) => <ProblemNote key={action} problem={{ error: "Limit", what: `${action}: “${most}” is not a number of rows`, fix: "type a whole number (20), or a share (5%)" }} />)}
      {ready && problem && <ProblemNote problem={problem} />}
      {ready && value && !problem && (
        <div class={loading || stale ? "stale" : undefined}>
          <p role="status">
            {value.moved === 0 ? "No row changes its action" : <><b>{count(value.moved)}</b> of {count(value.rows)} rows get a different action</>};
            expected cost per case <b>{compact(value.expected)}</b>, without limits {compact(value.unlimited)}
            {value.paid && <>; paid <b>{compact(value.paid.mean)}</b>, {value.paid.interval} {lowToHigh(value.paid)}</>}.
          </p>
          <div class="wide">
            <table class="numbers">
              <thead><tr><th scope="col">action</th><th scope="col" class="number">at most</th><th scope="col" class="number">rows</th><th scope="col" class="number">without limits</th><th scope="col" class="number">one more place saves</th></tr></thead>
              <tbody>
                {value.actions.map((each) => (
                  <tr key={each.action}>
                    <th scope="row">{each.action}</th>
                    <td class="number">{limits[each.action] ?? ""}</td>
                    <td class="number">{count(each.rows)}</td>
                    <td class="number">{count(each.unlimited)}</td>
                    <td class="number">{each.price === null ? "" : compact(each.price)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <SameAsBox same={value.same_as} about=", with these limits" />
        </div>
      )}
    </section>
  );
}

/** A number of rows, or a share of them with %; null if it is neither. */
function limitOf(text: string): Schemas["Limit"] | null {
  const found = /^\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*$/.exec(text);
  if (!found) return null;
  const number = Number(found[1]);
  if (found[2]) return number <= 100 ? { share: number / 100 } : null;
  return Number.isSafeInteger(number) ? { rows: number } : null;
}
