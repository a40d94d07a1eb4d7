// Costs and decisions: what mistakes cost, where the thresholds lie, and what that means for the rows of a table.
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError, post, put, type Problem, type Schemas } from "../api/client";
import { problemOf, useResource, useRested } from "../api/resource";
import { ThresholdAxis } from "../charts/threshold_axis";
import { CaseFiles, chosenCase } from "../components/case_files";
import { CostTable } from "../components/cost_table";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { useUndo } from "../components/undo";
import { load, type Loaded } from "../decide/load";
import { outcomeOf, piecesOf, withEdgeAt, type CostCells, type Outcome, type Rows } from "../decide/outcome";
import { compact, count } from "../numbers";
import { go, path, query, urlOf } from "../router";
import { readWorkspace } from "../workspace";

type Document = Schemas["DecisionDocument"];

export function CostsPage() {
  const files = chosenCase();
  const { model, table, decision } = files;
  const key = model && table ? JSON.stringify([model, table, decision]) : null;
  const { value, problem, loading } = useResource(key, () => load(key!, model!, table!, decision)).value;
  return (
    <article aria-busy={loading}>
      <h1>Costs and decisions</h1>
      <CaseFiles {...files} />
      {problem && <ProblemNote problem={problem} />}
      {value && !problem && <Decide key={value.asked} {...value} />}
    </article>
  );
}

function Decide({ view, rows, document, file, version }: Loaded) {
  const steps = useUndo(view.model, () => document.costs);
  const draft = useMemo(() => signal(steps.now), []);
  const undoable = (step: () => void) => {
    step();
    draft.value = steps.now;
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      undoable(() => (event.shiftKey ? steps.redo() : steps.undo()));
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  const costs = draft.value;
  const outcome = useMemo(() => {
    const started = performance.now();
    const found = outcomeOf(rows, costs);
    performance.measure("decide", { start: started, end: performance.now() });
    return found;
  }, [rows, costs]);
  const pieces = piecesOf(costs, rows.states);
  const actions = Object.keys(costs);
  const change = (next: CostCells) => (draft.value = next);
  const settle = () => steps.take(draft.value);
  const moveEdge = (edge: number, p: number) => {
    change(withEdgeAt(costs, rows.states, pieces![edge]!.action, pieces![edge + 1]!.action, p));
  };
  return (
    <>
      <CostTable costs={costs} settled={steps.now} states={rows.states} onChange={change} onSettle={settle} />
      <p class="remedies">
        <button type="button" disabled={!steps.canUndo} onClick={() => undoable(() => steps.undo())}>undo</button>
        <button type="button" disabled={!steps.canRedo} onClick={() => undoable(() => steps.redo())}>redo</button>
        <SaveButton document={{ ...document, costs }} file={file} version={version} />
      </p>
      {outcome.problem && <div class="note stops" role="alert"><p>{outcome.problem}</p></div>}
      {pieces ? (
        <section aria-label="Thresholds" onPointerUp={settle} onKeyUp={settle}>
          <h2>Thresholds</h2>
          <ThresholdAxis rows={rows} pieces={pieces} colourOf={(action) => actions.indexOf(action) % 6} onMove={moveEdge} />
          {actions.filter((action) => !pieces.some((piece) => piece.action === action)).map((action) => (
            <p key={action} class="quiet">“{action}” is never the best action with these costs.</p>
          ))}
        </section>
      ) : rows.states.length === 2 && <p class="quiet">The costs depend on the row, and so do the thresholds.</p>}
      <Results outcome={outcome} rows={rows} />
      <Certified view={view} file={file} saved={document.costs} costs={steps.now} stale={draft.value !== steps.now} />
    </>
  );
}

function Results({ outcome, rows }: { outcome: Outcome; rows: Rows }) {
  const policies: [string, number | null][] = [
    ["this decision", outcome.paid], ["this decision, as promised", outcome.expected],
    ...outcome.actions.map((action, at): [string, number | null] => [`always ${action}`, outcome.always[at]!]),
    ["best for the most probable state", outcome.mostProbable], ["best possible: the state is known", outcome.perfect],
  ];
  const known = policies.filter((policy): policy is [string, number] => policy[1] !== null);
  const [low, high] = [Math.min(0, ...known.map(([, cost]) => cost)), Math.max(0, ...known.map(([, cost]) => cost))];
  const share = (cost: number) => `${(100 * (cost - low)) / (high - low || 1)}%`;
  return (
    <div class="results">
      <section aria-label="Cost per case">
        <h2>Cost per case</h2>
        <table class="policies">
          <tbody>
            {known.map(([name, cost], at) => (
              <tr key={name} class={at === 0 ? "chosen" : undefined}>
                <th scope="row">{name}</th>
                <td class="number">{compact(cost)}</td>
                <td class="bar-cell"><span class="bar" style={{ marginLeft: share(Math.min(0, cost)), width: `calc(${share(Math.max(0, cost))} - ${share(Math.min(0, cost))})` }} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section aria-label="Rows per action">
        <h2>Rows per action</h2>
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
      </section>
    </div>
  );
}

interface Certify {
  readonly view: Schemas["RowsView"];
  readonly file: string | null;
  readonly saved: CostCells;
  readonly costs: CostCells;
  readonly stale: boolean;
}

/** Intervals by the server, when the costs rest: the same numbers that `bayeswise check` prints. */
function Certified({ view: { model, table, has_truth, same_as }, file, saved, costs, stale }: Certify) {
  const asSaved = file !== null && JSON.stringify(costs) === JSON.stringify(saved);
  const asked = useRested(asSaved ? { model, table, decision: file } : { model, table, costs });
  const { value, problem, loading } = useResource(has_truth ? JSON.stringify(asked) : null, (control) => post("/api/costs/evaluate", asked, {}, control)).value;
  const paid = value?.facts["cost_per_case"] as { mean: number; low: number; high: number } | undefined;
  return (
    <>
      {!has_truth && <p class="quiet">The rows do not say which state was true, so only the promised cost is known.</p>}
      {problem && <ProblemNote problem={problem} />}
      <p role="status" class={stale || loading ? "certified stale" : "certified"}>
        {paid && <>Cost per case <b>{compact(paid.mean)}</b>, {String(value!.facts["interval"])} {compact(paid.low)} to {compact(paid.high)}.</>}
      </p>
      <SameAsBox same={asSaved && value ? value.same_as : same_as} />
    </>
  );
}

function SaveButton({ document, file, version }: { document: Document; file: string | null; version: string | null }) {
  const state = useMemo(() => signal<{ saved: string | null; version: string | null; problem: Problem | null }>({ saved: null, version, problem: null }), []);
  const name = file ?? "decision.toml";
  const save = async () => {
    try {
      const kept = await put("/api/decision", { file: name, version: state.value.version, document });
      state.value = { saved: name, version: kept.version, problem: null };
      await readWorkspace();
      if (file === null) go(urlOf(path.value, { ...Object.fromEntries(query.value), decision: name }), { replace: true });
    } catch (error) {
      const changed = error instanceof ApiError && error.status === 409;
      state.value = { ...state.value, saved: null, problem: changed ? { ...error.problem, fix: `load this page again to see ${name} as it is now` } : problemOf(error) };
    }
  };
  return (
    <>
      <button type="button" onClick={() => void save()}>save as {name}</button>
      {state.value.saved && <span role="status">saved {state.value.saved}</span>}
      {state.value.problem && <ProblemNote problem={state.value.problem} />}
    </>
  );
}
