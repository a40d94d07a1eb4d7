// Costs and decisions: what mistakes cost, where the thresholds lie, and what that means for the rows of a table.
import { signal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { post, type Schemas } from "../api/client";
import { useResource, useRested } from "../api/resource";
import { ThresholdAxis } from "../charts/threshold_axis";
import { CaseFiles, chosenCase } from "../components/case_files";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { TypedInput } from "../components/typed_input";
import { Capacity } from "../costs/capacity";
import { CostTable } from "../costs/cost_table";
import { draftOf, forgetDraft, keepDraft } from "../costs/draft";
import { Policies } from "../costs/policies";
import { SaveDecision } from "../costs/save_decision";
import { load, type Loaded } from "../decide/load";
import { outcomeOf, type CostCells } from "../decide/outcome";
import { piecesOf, withEdgeAt } from "../decide/thresholds";
import { compact, lowToHigh, type Interval } from "../numbers";
import { change } from "../router";
import { Undo, UndoButtons } from "../undo";

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
      {value && !problem && <Decide key={value.request} {...value} />}
    </article>
  );
}

function Decide({ view, rows, document, file, version }: Loaded) {
  const kept = useMemo(() => draftOf(view.model, file), []);
  const steps = useMemo(() => new Undo<CostCells>({ done: kept && !same(kept.costs, document.costs) ? [kept.costs] : [] }), []);
  const settled = () => steps.done.at(-1) ?? document.costs; // where no slider moves
  const draft = useMemo(() => signal(settled()), []);
  const saved = useMemo(() => signal(document.costs), []);
  const unit = useMemo(() => signal(kept?.unit ?? document.unit ?? ""), []);
  const savedUnit = useRef(document.unit ?? "");
  const own = useRef(file); // the file that the costs are of: another one once they are saved under its name
  const read = useRef(kept ? kept.version : version); // the version of the file that the costs are a change of
  const moved = useRef<number | null>(null); // when the costs that are drawn next were changed
  const draw = (next: CostCells) => {
    moved.current ??= performance.now();
    draft.value = next;
  };
  const settle = () => {
    if (!same(draft.value, settled())) steps.take(draft.value);
    keep();
  };
  const keep = () => {
    if (same(settled(), saved.value) && unit.value === savedUnit.current) forgetDraft(view.model, own.current);
    else keepDraft(view.model, own.current, { version: read.current, costs: settled(), unit: unit.value });
  };
  const costs = draft.value;
  const outcome = useMemo(() => measured("decide", performance.now(), () => outcomeOf(rows, costs)), [rows, costs]);
  useLayoutEffect(() => {
    if (moved.current !== null) measured("drag", moved.current, () => undefined);
    moved.current = null;
  }, [costs]);
  const pieces = piecesOf(costs, rows.states);
  const actions = Object.keys(costs);
  const moveEdge = (edge: number, p: number) => {
    draw(withEdgeAt(costs, rows.states, pieces![edge]!.action, pieces![edge + 1]!.action, p));
  };
  const certified = useCertified(view, file, same(settled(), saved.value) ? null : settled());
  const stale = draft.value !== settled() || certified.loading;
  return (
    <>
      {view.prior_of_decision && <p class="quiet">Posteriors use the prior of {file}: {rows.states.map((state, at) => `P(${state}) = ${compact(view.prior[at]!)}`).join(", ")}.</p>}
      <CostTable costs={costs} settled={settled()} states={rows.states} onChange={draw} onSettle={settle} />
      <p class="remedies">
        <label>Unit <TypedInput class="short" placeholder="none" maxLength={20} value={unit.value} onTyped={(text) => { unit.value = text; keep(); }} /></label>
        <UndoButtons steps={steps} onMove={(move) => { move(); draw(settled()); keep(); }} />
      </p>
      <SaveDecision document={{ ...document, unit: unit.value || null, costs }} file={file} version={read.current} changed={!same(costs, saved.value) || unit.value !== savedUnit.current}
        onSaved={(name, kept) => {
          forgetDraft(view.model, own.current);
          own.current = name;
          read.current = kept.version;
          saved.value = kept.document.costs;
          savedUnit.current = unit.value = kept.document.unit ?? "";
          if (name !== file) change({ decision: name }, { replace: true });
        }}
        onTheirs={(theirs) => {
          read.current = theirs.version;
          saved.value = theirs.document.costs;
          savedUnit.current = unit.value = theirs.document.unit ?? "";
          draw(theirs.document.costs);
          settle();
        }} />
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
      <Policies outcome={outcome} rows={rows} facts={certified.facts} stale={stale} unit={unit.value} />
      {!view.has_truth && <p class="quiet">The true states of these rows are unknown, so only the expected cost can be shown.</p>}
      {certified.problem && <ProblemNote problem={certified.problem} />}
      <p role="status" class={stale ? "certified stale" : "certified"}>
        {certified.paid && <>Cost per case <b>{compact(certified.paid.mean)}</b>{unit.value && ` ${unit.value}`}, {String(certified.facts!["interval"])} {lowToHigh(certified.paid)}.</>}
      </p>
      <Capacity model={view.model} table={view.table} file={file} document={{ ...document, costs: settled() }} />
      <SameAsBox same={certified.same} />
    </>
  );
}

function same(costs: CostCells, others: CostCells): boolean {
  return JSON.stringify(costs) === JSON.stringify(others);
}

const MOST_MEASURES = 1_000; // a page that is open for days keeps no more

/** Do something, and let the browser's own timings show how long it took since `start`. */
function measured<T>(name: string, start: number, work: () => T): T {
  const found = work();
  if (performance.getEntriesByName(name).length >= MOST_MEASURES) performance.clearMeasures(name);
  performance.measure(name, { start, end: performance.now() });
  return found;
}

/** Intervals by the server, when the costs rest: the same numbers that `bayeswise check` prints. `costs` are those not saved. */
function useCertified({ model, table, has_truth, same_as }: Schemas["RowsView"], decision: string | null, costs: CostCells | null) {
  const request = useRested({ model, table, decision, costs });
  const { value, problem, loading } = useResource(has_truth ? JSON.stringify(request) : null, (control) => post("/api/costs/evaluate", request, {}, control)).value;
  const decided = useResource(has_truth ? null : JSON.stringify(request), (control) => post("/api/costs/same_as", request, {}, control)).value;
  const facts = value?.facts ?? null;
  return { facts, problem: problem ?? decided.problem, loading, paid: (facts?.["cost_per_case"] ?? null) as Interval | null, same: value?.same_as ?? decided.value ?? same_as };
}
