// Label: one case after the other, one key for each label; answers are in the journal that `bayeswise label` has.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ApiError, get, post, type Problem, type Schemas } from "../api/client";
import { problemOf } from "../api/resource";
import { CurveChart } from "../charts/curve_chart";
import { useColumns } from "../columns";
import { Choice } from "../components/choice";
import { chosenFile, FileChoice } from "../components/file_choice";
import { ProblemNote } from "../components/problem";
import { SameAsBox, shellLine } from "../components/same_as";
import { TypedInput } from "../components/typed_input";
import { compact, count } from "../numbers";
import { change, query, urlOf, type Parameters } from "../router";
import { keep, kept } from "../storage";
import { filesOf, readWorkspace, stemOf, workspace } from "../workspace";

type View = Schemas["LabelView"];
type Strategy = NonNullable<Schemas["StartRequest"]["strategy"]>;
type Other = NonNullable<Schemas["AnswerRequest"]["other"]>;

interface State {
  readonly view: View | null;
  readonly problem: Problem | null;
  readonly busy: boolean;
}

const STRATEGIES: readonly Strategy[] = ["expected cost", "ask", "margin", "entropy", "least confident", "density-weighted", "random"];

export function LabelPage() {
  const table = chosenFile("table", "table");
  const session = query.value.get("session");
  const state = useMemo(() => signal<State>({ view: null, problem: null, busy: false }), []);
  const take = async (ask: () => Promise<View>): Promise<void> => {
    if (state.value.busy) return;
    state.value = { ...state.value, busy: true };
    try {
      const view = await ask();
      remember(view);
      state.value = { view, problem: null, busy: false };
    } catch (error) {
      const elsewhere = error instanceof ApiError && error.status === 409 && session !== null; // answered in another tab: show the current case
      const closed = error instanceof ApiError && error.status === 404; // by a server that has ended: it can be resumed
      const view = elsewhere ? await get("/api/label", { session }).catch(() => null) : closed ? null : state.value.view;
      state.value = { view, problem: problemOf(error), busy: false };
    }
  };
  const looking = useMemo(() => signal(session !== null), []);
  useEffect(() => {
    if (workspace.value === null) return;
    if (session === null) state.value = { view: null, problem: null, busy: false };
    else if (filesOf("labels").includes(session) && state.value.view?.session !== session && !state.value.busy) void find(session);
    else looking.value = false;
    async function find(name: string) {
      looking.value = true;
      const view = await get("/api/label", { session: name }).catch(() => null); // one that is not open is resumed by the button
      state.value = { view, problem: null, busy: false };
      looking.value = false;
    }
  }, [session, workspace.value === null]);
  const { view, problem, busy } = state.value;
  return (
    <article aria-busy={busy || looking.value}>
      <h1>Label</h1>
      {problem && <ProblemNote problem={problem} />}
      {view?.case ? <Asking view={view} busy={busy} onAnswer={(answer) => void take(() => post("/api/label/answer", { session: view.session, row: view.case!.row, ...answer }))}
        onEnd={() => void take(async () => {
          const ended = await post("/api/label/end", { session: view.session });
          await readWorkspace();
          return ended;
        })} /> : (
        <>
          {view && <Ended view={view} />}
          {table && !looking.value && <Start table={table} first={!view} busy={busy} onStart={(request) => {
            set({ ...request, classes: request.classes?.join(", ") ?? null });
            void take(() => post("/api/label/start", request)).then(readWorkspace);
          }} />}
        </>
      )}
      {workspace.value && !table && <p>This folder has no table yet.</p>}
      {view && <SameAsBox same={view.same_as} />}
    </article>
  );
}

/** `first`: no session was open before, whose lines to copy stand below. */
function Start({ table, first, busy, onStart }: { table: string; first: boolean; busy: boolean; onStart: (request: Schemas["StartRequest"]) => void }) {
  const columns = useColumns(table);
  const known = filesOf("labels");
  const session = query.value.get("session") ?? `${stemOf(table).replace(/^.*\//, "")}-labels`;
  const [target, classes] = [query.value.get("target") ?? "label", query.value.get("classes") ?? ""];
  const strategy = query.value.get("strategy") as Strategy | null;
  const words = classes.split(",").map((word) => word.trim()).filter(Boolean);
  const goesOn = known.includes(session);
  const options = { "--target": target, "--classes": words.join(","), "--costs": query.value.get("decision"), "--strategy": strategy, "--output": `${session}/` };
  const shell = shellLine("bayeswise", "label", table, ...Object.entries(options).flatMap(([option, value]) => (value ? [option, value] : [])));
  return (
    <form class="start" onSubmit={(event) => {
      event.preventDefault();
      onStart({ table, target, session, classes: words, decision: query.value.get("decision"), strategy });
    }}>
      <p>Cases are shown one at a time, starting with those whose labels help most. Every answer is on disk before it is confirmed, so you can leave a session and resume it later.</p>
      {columns.problem && <ProblemNote problem={columns.problem} />}
      <div class="controls">
        <FileChoice label="Cases" name="table" kind="table" value={table} />
        <label>
          Target
          <TypedInput list="label-columns" value={target} onTyped={(text) => set({ target: text || null })} />
          <datalist id="label-columns">{columns.value?.columns.map((name) => <option key={name} value={name} />)}</datalist>
        </label>
        <label>Labels <TypedInput value={classes} placeholder="good, bad" onTyped={(text) => set({ classes: text || null })} /></label>
        <FileChoice label="Decision" name="decision" kind="decision" value={query.value.get("decision")} none="each error costs 1" />
        <Choice label="Order" value={strategy} options={STRATEGIES} none="automatic" onChoose={(order) => set({ strategy: order })} />
        <label>
          Session
          <TypedInput list="label-sessions" value={session} onTyped={(text) => set({ session: text || null })} />
          <datalist id="label-sessions">{known.map((name) => <option key={name} value={name} />)}</datalist>
        </label>
      </div>
      <p class="remedies"><button type="submit" class="main" disabled={busy}>{busy ? "starting" : goesOn ? "resume" : "start"}</button></p>
      {first && <SameAsBox same={{ shell, python: "" }} />}
    </form>
  );
}

interface AskingProps {
  readonly view: View;
  readonly busy: boolean;
  readonly onAnswer: (answer: { label: string } | { other: Other }) => void;
  readonly onEnd: () => void;
}

function Asking({ view, busy, onAnswer, onEnd }: AskingProps) {
  const { row, cells, why, believed, saving } = view.case!;
  const labels = Object.keys(believed);
  const answered = view.labels + view.skipped + view.unknown;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), [row, answered]); // the next key is about the case, not about a button
  useLayoutEffect(() => { // with the case on the page: a key pressed before the next paint is about this case
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing(event.target)) return;
      const label = /^[1-9]$/.test(event.key) ? labels[Number(event.key) - 1] : undefined;
      const other = ({ Backspace: "undo", u: "unknown", ...(event.target instanceof HTMLButtonElement ? {} : { " ": "skip" }) } as Record<string, Other>)[event.key];
      if (label === undefined && (other === undefined || (other === "undo" && !answered))) return;
      event.preventDefault();
      onAnswer(label !== undefined ? { label } : { other: other! });
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
  return (
    <>
      <p role="status">
        <b>{count(view.labels)}</b> labelled · {count(view.skipped)} skipped · {count(view.unknown)} not known · {count(view.open)} open
        {view.believed_cost !== null && <> · estimated cost per case <b>{compact(view.believed_cost)}</b></>}
        {view.measured_cost !== null && <> · measured {compact(view.measured_cost)}{view.measured_interval && <span class="quiet"> ({compact(view.measured_interval[0]!)} to {compact(view.measured_interval[1]!)})</span>}</>}
      </p>
      <div class={busy ? "current-case stale" : "current-case"}>
        <section class="case" aria-label="Case">
          <h2 ref={heading} tabIndex={-1}>Row {count(row)}</h2>
          <table>
            <tbody>{Object.entries(cells).map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value === null ? <span class="quiet">missing</span> : String(value)}</td></tr>)}</tbody>
          </table>
          <p class="quiet why-case">Why this case: {why}.{saving !== null && saving > 0 && <> According to the model, its label saves {compact(saving)} over all open cases.</>}</p>
        </section>
        <section aria-label="Answers">
          <ul class="labels">
            {labels.map((label, place) => (
              <li key={label}>
                <button type="button" disabled={busy} onClick={() => onAnswer({ label })}>
                  <kbd>{place < 9 ? place + 1 : " "}</kbd><span>{label}</span><span class="quiet" title="posterior">{believed[label]!.toFixed(2)}</span>
                  <span class="bar" style={{ width: `${100 * believed[label]!}%` }} aria-hidden="true" />
                </button>
              </li>
            ))}
          </ul>
          <p class="remedies">
            <button type="button" disabled={busy} onClick={() => onAnswer({ other: "skip" })}><kbd>space</kbd> skip</button>
            <button type="button" disabled={busy} onClick={() => onAnswer({ other: "unknown" })}><kbd>u</kbd> not known</button>
            <button type="button" disabled={busy || !answered} onClick={() => onAnswer({ other: "undo" })}><kbd>⌫</kbd> undo</button>
            <button type="button" disabled={busy} onClick={onEnd}>finish and write the model</button>
          </p>
        </section>
      </div>
      <Falling view={view} />
    </>
  );
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement || (target instanceof Element && target.tagName === "SUMMARY");
}

function Falling({ view }: { view: View }) {
  const points = remembered(view.session);
  if (points.length < 2) return null;
  const measured = points.some((point) => point.measured !== null);
  return (
    <section class="falling" aria-label="Estimated cost">
      <h2>Estimated cost</h2>
      <CurveChart name="Estimated cost per case by labels" across="labels" up="cost per case" x={points.map((point) => point.labels)}
        lines={{ "expected by the model": points.map((point) => point.believed), ...(measured && { "measured on labels": points.map((point) => point.measured) }) }} />
    </section>
  );
}

function Ended({ view }: { view: View }) {
  return (
    <div class="note" role="status">
      <p>{view.reason ?? "Every case has been shown."} {count(view.labels)} labels.</p>
      {view.labelled && <p>Labelled rows: <a href={urlOf("/data", { table: view.labelled })}>{view.labelled}</a></p>}
      {view.model && <p>Model: <a href={urlOf("/model", { model: view.model, table: view.labelled })}>{view.model}</a></p>}
    </div>
  );
}

// -- how the cost fell, as far as this tab has seen it -----------------------------------------------------------

interface Point {
  readonly labels: number;
  readonly believed: number | null;
  readonly measured: number | null;
}

const remembered = (session: string) => kept<Point[]>(`label:${session}`) ?? [];

/** One point for each number of labels; an answer that was taken back takes its point along. */
function remember(view: View): void {
  if (!view.case || view.believed_cost === null) return;
  const before = remembered(view.session).filter((point) => point.labels < view.labels);
  const points = [...before, { labels: view.labels, believed: view.believed_cost, measured: view.measured_cost }];
  keep(`label:${view.session}`, points);
}

function set(parameters: Parameters): void {
  change(parameters, { replace: true });
}
