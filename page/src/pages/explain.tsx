// Explain: one case, from a table or typed in; why this posterior and this action, and what would change them.
import { get, post, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { Nomogram } from "../charts/nomogram";
import { Waterfall } from "../charts/waterfall";
import { CaseFiles, chosenCase } from "../components/case_files";
import { Choice } from "../components/choice";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { TypedInput } from "../components/typed_input";
import { compact, signed } from "../numbers";
import { go, pairs, path, query, urlOf } from "../router";

type View = Schemas["ExplainView"];
type Cells = Record<string, string | null>;

export function ExplainPage() {
  const files = chosenCase();
  const { model, table, decision } = files;
  const place = Math.max(1, Math.trunc(Number(query.value.get("row") ?? 1)) || 1);
  const page = useResource(table && JSON.stringify([table, place]), (control) => get("/api/rows", { table: table!, start: String(place), count: "1" }, control)).value;
  const changed = changedCells();
  const row = page.value?.start === place ? page.value : null;
  const cells: Cells | null = row && { ...Object.fromEntries(row.columns.map((name, at) => [name, row.rows[0]?.[at] ?? null])), ...changed };
  const request = model && cells ? { model, cells, decision, state: query.value.get("state"), against: null } : null;
  const answer = useResource(request ? JSON.stringify(request) : null, (control) => post("/api/explain", request!, {}, control)).value;
  const view = answer.value;
  return (
    <article aria-busy={answer.loading || page.loading}>
      <h1>Explain</h1>
      <CaseFiles {...files} none="no costs">
        <label>Row <TypedInput class="short" type="number" min={1} value={place} onTyped={(row) => goTo({ row }, {})} /></label>
        <button type="button" disabled={place <= 1} onClick={() => goTo({ row: String(place - 1) }, {})} aria-label="Previous row">←</button>
        <button type="button" disabled={row !== null && !row.more} onClick={() => goTo({ row: String(place + 1) }, {})} aria-label="Next row">→</button>
      </CaseFiles>
      {page.problem && <ProblemNote problem={page.problem} />}
      {answer.problem && <ProblemNote problem={answer.problem} />}
      {view && cells && <Explained view={view} cells={cells} changed={changed} />}
    </article>
  );
}

function Explained({ view, cells, changed }: { view: View; cells: Cells; changed: Cells }) {
  const choose = (column: string, value: string | null) => goTo({}, { ...changed, [column]: value }, isDrag(column));
  return (
    <>
      <p class="answer" role="status">
        {view.action ? <><b>{view.action.action}</b> has the least expected cost. </> : null}
        {view.states.map((state, at) => <span key={state} class="posterior">P({state}) = <b>{view.posterior[at]!.toFixed(4)}</b> </span>)}
      </p>
      {view.action && <pre class="summary">{view.action.summary}</pre>}
      <Flip title="Smallest change to another class" change={view.change} states={view.states} onTake={choose} />
      {view.action && <Flip title="Smallest change to another action" change={view.action.change} states={view.states} onTake={choose} />}
      <div class="controls">
        <Choice label="In favour of" value={view.state} options={view.states} onChoose={(state) => goTo({ state }, changed)} />
        {Object.keys(changed).length > 0 && <button type="button" onClick={() => goTo({}, {})}>reset to the row of the table</button>}
      </div>
      <Waterfall view={view} />
      <h2>The case</h2>
      <div class="wide">
        <table>
          <thead><tr><th scope="col">Column</th><th scope="col">Value</th><th scope="col" class="number">Log-odds</th><th scope="col">Note</th></tr></thead>
          <tbody>
            {view.parts.map((part) => (
              <tr key={part.column}>
                <th scope="row">{part.column}</th>
                <td><TypedInput class="cell" aria-label={`Value of ${part.column}`} value={cells[part.column] ?? ""} placeholder="missing" onTyped={(text) => choose(part.column, text || null)} /></td>
                <td class="number">{part.weight === null ? "∞" : signed(part.weight)}</td>
                <td class="why">{part.note}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {view.nomogram && <><h2>Nomogram</h2><Nomogram view={view.nomogram} onChoose={choose} /></>}
      {view.action && view.action.tests.length > 0 && <Tests action={view.action} />}
      {view.notes.map((note) => <p key={note} class="quiet">{note}</p>)}
      <SameAsBox same={view.same_as} />
    </>
  );
}

interface FlipProps {
  readonly title: string;
  readonly change: Schemas["ChangeView"] | null;
  readonly states: readonly string[];
  readonly onTake: (column: string, value: string | null) => void;
}

function Flip({ title, change, states, onTake }: FlipProps) {
  if (!change) return null;
  return (
    <p>
      {title}:{" "}
      {change.changes.map((each) => {
        const [column, after] = [String(each["column"]), each["after"] as string | number | null];
        return <button key={column} type="button" class="small" onClick={() => onTake(column, after === null ? null : String(after))}>{column} = {after ?? "missing"}</button>;
      })}{" "}
      leads to <b>{change.to}</b> <span class="quiet">({states.map((state, at) => `P(${state}) = ${compact(change.posterior[at]!)}`).join(", ")})</span>
    </p>
  );
}

function Tests({ action }: { action: Schemas["ActionView"] }) {
  return (
    <section aria-label="What to find out next">
      <h2>What to find out next</h2>
      <table class="numbers">
        <thead><tr><th scope="col">Column</th><th scope="col" class="number">worth</th><th scope="col" class="number">price</th><th scope="col" class="number">net</th></tr></thead>
        <tbody>
          {action.tests.map((test) => (
            <tr key={test.column} class={test.column === action.next_test ? "chosen" : undefined}>
              <th scope="row">{test.column}</th><td class="number">{compact(test.value)}</td><td class="number">{compact(test.price)}</td><td class="number">{compact(test.net)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

// -- what is chosen stands in the URL: changed cells as cell=column:value ----------------------------------------

function changedCells(): Cells {
  return Object.fromEntries(pairs("cell").filter(([column]) => column).map(([column, value]) => [column, value || null]));
}

const STEP = 600; // ms: what changes sooner again is one drag

let moved = { column: "", at: -Infinity };

/** Whether a change goes on with the one before: a drag is one step for the back button, a typed value another. */
function isDrag(column: string): boolean {
  const [before, now] = [moved, performance.now()];
  moved = { column, at: now };
  return before.column === column && now - before.at < STEP;
}

function goTo(parameters: Record<string, string | null>, cells: Cells, replace = false): void {
  const kept = Object.fromEntries([...query.value].filter(([name]) => name !== "cell"));
  const encoded = Object.entries(cells).map(([column, value]) => `${column}:${value ?? ""}`);
  go(urlOf(path.value, { ...kept, ...parameters, cell: encoded }), { replace });
}
