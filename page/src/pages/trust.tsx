// Trust: whether posteriors are calibrated, what refusing saves, other priors, unusual rows, and the printable report.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { get, post, type Schemas } from "../api/client";
import { isRunning, useJob } from "../api/job";
import { useResource } from "../api/resource";
import { CurveChart } from "../charts/curve_chart";
import { NoveltyChart } from "../charts/novelty_chart";
import { places } from "../charts/plane";
import { ReliabilityChart } from "../charts/reliability_chart";
import { CaseFiles, chosenCase } from "../components/case_files";
import { Choice } from "../components/choice";
import { JobNote } from "../components/job_note";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { Slider } from "../components/slider";
import { load, type Loaded } from "../decide/load";
import { costAt, sharesOf } from "../decide/prior_shift";
import { compact, count, lowToHigh, percent, type Interval } from "../numbers";
import { change, query } from "../router";
import { readWorkspace, stemOf, versionOf } from "../workspace";

type View = Schemas["TrustView"];

export function TrustPage() {
  const files = chosenCase();
  const { model, table, decision } = files;
  const request = model && table ? { model, table, decision } : null;
  const { value, problem, loading } = useResource(request && JSON.stringify(request), (control) => get("/api/trust", request!, control)).value;
  return (
    <article aria-busy={loading}>
      <h1>Trust</h1>
      <CaseFiles {...files} />
      {problem && <ProblemNote problem={problem} />}
      {value && !problem && request && (
        <div class={loading ? "stale" : undefined}>
          <Promises view={value} />
          <Report model={request.model} table={request.table} decision={decision} />
          <div class="pictures">
            <Reliability view={value} />
            {value.coverage && (
              <section aria-label="Refusing">
                <h2>Refusing the least certain</h2>
                <p class="quiet">{value.coverage.title}.</p>
                <CurveChart name={value.coverage.title} across={`${value.coverage.x_name}: share of the rows that is decided`} up={value.coverage.y_name} x={value.coverage.x} lines={named(value.coverage.lines)} span={usual(value.coverage)} />
              </section>
            )}
            {value.cost_curve && (
              <section aria-label="Cost curve">
                <h2>Cost curve</h2>
                <p class="quiet">{value.cost_curve.title}.</p>
                <CurveChart name={value.cost_curve.title} across={value.cost_curve.x_name.replaceAll("_", " ")} up={value.cost_curve.y_name} x={value.cost_curve.x} lines={value.cost_curve.lines} span={[0, 0.6]} />
              </section>
            )}
            <PriorShift key={JSON.stringify(request)} {...request} />
            {value.novelty && (
              <section aria-label="Novelty">
                <h2>Unusual rows</h2>
                <p class="quiet">{percent(value.novelty.rare, 1)} of {count(value.novelty.rows)} rows are more unusual than 99 % of the rows that the model describes; 1 % would be ordinary.</p>
                <NoveltyChart view={value.novelty} />
              </section>
            )}
          </div>
          <SameAsBox same={value.same_as} />
        </div>
      )}
    </article>
  );
}

function Promises({ view: { facts, promises, rows, how } }: { view: View }) {
  const [paid, promised, beyond, surprise] = ["cost_per_case", "expected_cost_per_case", "paid_beyond_promise", "log_loss_beyond_promise"].map((name) => facts[name] as Interval | undefined);
  const lines: [string, Interval | undefined, string][] = [
    ["cost per case, promised by the posteriors", promised, ""],
    ["cost per case, paid", paid, ""],
    ["paid beyond the promise", beyond, verdict(beyond)],
    ["log-loss beyond the promise", surprise, verdict(surprise)],
  ];
  return (
    <section aria-label="Promises">
      <p class="answer" role="status">
        {promises.length ? promises[0] : <>Over all rows, cost and log-loss are as the posteriors promised, as far as {count(rows)} rows can show.</>}
        {how !== "as it is" && <span class="quiet"> ({how})</span>}
      </p>
      {promises.slice(1).map((line) => <p key={line}>{line}</p>)}
      <div class="wide" role="group" aria-label="Promises and outcomes" tabIndex={0}>
        <table class="numbers">
          <thead><tr><th scope="col">Promises and outcomes</th><th scope="col" class="number">mean</th><th scope="col" class="number">{String(facts["interval"])}</th><th scope="col"><span class="hidden">Verdict</span></th></tr></thead>
          <tbody>
            {lines.map(([name, found, said]) => found && (
              <tr key={name}><th scope="row">{name}</th><td class="number">{compact(found.mean)}</td><td class="number">{lowToHigh(found)}</td><td>{said}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function verdict(found: Interval | undefined): string {
  if (!found) return "";
  return found.low > 0 ? "overconfident" : found.high < 0 ? "underconfident" : "kept";
}

function Reliability({ view }: { view: View }) {
  const chosen = view.reliability.find((each) => each.state === query.value.get("state")) ?? view.reliability[0];
  const score = view.scores.find((each) => each.state === chosen?.state);
  if (!chosen) return null;
  return (
    <section aria-label="Reliability">
      <h2>Reliability</h2>
      <div class="controls">
        <Choice label="State" value={chosen.state} options={view.reliability.map((each) => each.state)} onChoose={(state) => change({ state })} />
        <span class="quiet">calibration error {compact(chosen.ece)}</span>
      </div>
      <p>{chosen.verdict}</p>
      <ReliabilityChart view={chosen} />
      {score && (
        <p class="quiet">
          Brier score {compact(score.brier)} = miscalibration {compact(score.miscalibration)} − discrimination {compact(score.discrimination)} + uncertainty {compact(score.uncertainty)}.
        </p>
      )}
    </section>
  );
}

function PriorShift(request: { model: string; table: string; decision: string | null }) {
  const { value, problem } = useResource(JSON.stringify(request), () => load("", request.model, request.table, request.decision)).value;
  if (problem) return <ProblemNote problem={problem} />;
  return value && <Shifting {...value} />;
}

function Shifting({ rows, view, document }: Loaded) {
  const shares = useMemo(() => sharesOf(rows), [rows]);
  const chosen = useMemo(() => signal(0), []);
  const state = chosen.value;
  const moved = useMemo(() => signal<number | null>(null), []);
  const p = moved.value ?? Number(shares[state]!.toFixed(3));
  const grid = places([0.005, 0.995], rows.n > 50_000 ? 23 : 67);
  const curves = useMemo(() => grid.map((share) => costAt(rows, document.costs, view.prior, state, share)), [rows, document, state]);
  const here = costAt(rows, document.costs, view.prior, state, p);
  if (curves.some((each) => each.knowing === null)) return null;
  return (
    <section aria-label="Prior shift">
      <h2>If the shares of the classes change</h2>
      <p class="quiet">Rows are weighted as if {rows.states[state]} had another share. A decision that knows the new share corrects its posteriors; drag in the chart to change it.</p>
      {rows.states.length > 2 && (
        <Choice label="State" value={rows.states[state]!} options={rows.states} onChoose={(name) => { chosen.value = rows.states.indexOf(name!); moved.value = null; }} />
      )}
      <Slider label={`Share of ${rows.states[state]}`} state={state % 6} value={p} least={0.005} most={0.995} step={0.005} onChange={(share) => (moved.value = share)} />
      <p role="status">Cost per case <b>{compact(here.knowing!)}</b> if the change is known, <b>{compact(here.unaware!)}</b> if it is not: knowing saves <b>{compact(here.unaware! - here.knowing!)}</b>.</p>
      <CurveChart name="Cost per case by the share of a state" across={`share of ${rows.states[state]}`} up="cost per case" x={grid} at={p} onDrag={(share) => (moved.value = Number(share.toFixed(3)))}
        lines={{ "knowing of the change": curves.map((each) => each.knowing), "with the posteriors as they are": curves.map((each) => each.unaware) }} />
    </section>
  );
}

function Report({ model, table, decision }: { model: string; table: string; decision: string | null }) {
  const job = useJob("report", () => void readWorkspace());
  const output = `${stemOf(model)}-report.html`;
  const version = versionOf(output);
  const written = job.job?.state === "done" ? job.job.output : null;
  return (
    <section class="report" aria-label="Report">
      <button type="button" disabled={isRunning(job.job)} onClick={() => void job.start(() => post("/api/report", { model, table, decision, output, version }))}>
        {version ? "write the printable report again" : "write the printable report"}
      </button>
      {(written ?? (version && output)) && <a href={`/api/report?file=${encodeURIComponent(written ?? output)}`} target="_blank" rel="noopener">open {written ?? output}</a>}
      <JobNote of={job} what="writing the report" />
    </section>
  );
}

/** The span of a curve without its first points, which are means of a few rows. */
function usual({ x, lines }: Schemas["CurveView"]): [number, number] {
  const values = Object.values(lines).flatMap((line) => line.filter((value, place): value is number => value !== null && x[place]! >= 0.05));
  return [Math.min(0, ...values), Math.max(0, ...values)];
}

function named(lines: Schemas["CurveView"]["lines"]): Schemas["CurveView"]["lines"] {
  return Object.fromEntries(Object.entries(lines).map(([name, values]) => [name === "expected cost" ? "expected cost of the least certain of these rows" : name, values]));
}
