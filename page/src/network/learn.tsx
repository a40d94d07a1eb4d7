// Learn a network from a table: what is known about the edges is drawn, the search runs in the background, and each edge
// that it finds is as wide as it is strong.
import { post, type Schemas } from "../api/client";
import { isRunning, useJob } from "../api/job";
import { useResource } from "../api/resource";
import { useColumns } from "../columns";
import { ChartWithTable } from "../components/chart_with_table";
import { Choice } from "../components/choice";
import { chosenFile, FileChoice } from "../components/file_choice";
import { JobNote } from "../components/job_note";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { TypedInput } from "../components/typed_input";
import { compact } from "../numbers";
import { change, query, urlOf } from "../router";
import { readWorkspace, stemOf, versionOf, workspace } from "../workspace";
import { joined, parts } from "./findings";
import { GraphPlane, type GraphEdge } from "./graph_plane";
import { NodeBox, sizeOf } from "./node_box";

type Ask = Schemas["LearnRequest"];
type Rule = "require" | "forbid";
type EdgeName = [string, string];

interface Strength {
  readonly parent: string;
  readonly child: string;
  readonly in_graph: boolean;
  readonly score_gain: number | null;
  readonly support: number | null;
  readonly support_either_way: number | null;
}

const METHODS: Record<Ask["method"] & string, string> = { auto: "exact up to 15 columns", exact: "exact", "hill-climbing": "hill climbing", "chow-liu": "Chow-Liu tree", pc: "tests of independence (PC)", miic: "mutual information (MIIC)" };
const SCORES: readonly (Ask["score"] & string)[] = ["bic", "aic", "mdl", "bdeu", "k2"];
const MISSING: Record<Ask["missing"] & string, string> = { error: "raise an error", drop: "drop their rows", em: "fill by EM" };

const OFTEN = 0.25; // the share of resampled tables from which an edge is drawn that the network does not have

export function LearnView() {
  const table = chosenFile("table", "table");
  const rows = useColumns(table);
  return (
    <>
      <div class="controls"><FileChoice label="Table" name="table" kind="table" value={table} /></div>
      {workspace.value && !table && <p>This folder has no table yet.</p>}
      {rows.problem && <ProblemNote problem={rows.problem} />}
      {table && rows.value && !rows.loading && <Search key={table} table={table} columns={rows.value.columns} />}
    </>
  );
}

function Search({ table, columns }: { table: string; columns: readonly string[] }) {
  const job = useJob("learn", () => void readWorkspace());
  const ignored = new Set(query.value.getAll("ignore").filter((name) => columns.includes(name)));
  const names = columns.filter((name) => !ignored.has(name));
  const rules = { require: edgesOf("require", names), forbid: edgesOf("forbid", names) };
  const output = query.value.get("output") ?? `${stemOf(table).replace(/\.(csv|tsv|jsonl)$/, "")}.bif`;
  const ask: Ask = {
    table, output, version: versionOf(output),
    method: known(METHODS, query.value.get("method"), "auto"), score: SCORES.find((each) => each === query.value.get("score")) ?? "bic",
    missing: known(MISSING, query.value.get("missing"), "error"), resamples: Math.min(1000, Math.max(0, Math.floor(Number(query.value.get("resamples")) || 0))),
    max_parents: query.value.get("parents") ? Math.min(20, Math.max(0, Math.floor(Number(query.value.get("parents")) || 0))) : null,
    require: rules.require, forbid: rules.forbid, ignore: [...ignored], strengths: true,
  };
  const same = useResource(JSON.stringify({ ...ask, version: null }), (control) => post("/api/network/learn/same_as", ask, {}, control)).value;
  const found = job.job?.state === "done" ? (job.job.result as { nodes: string[]; edges: EdgeName[]; strengths?: Strength[] } | null) : null;
  const mode: Rule = query.value.get("draw") === "forbid" ? "forbid" : "require";
  return (
    <>
      <Settings ask={ask} columns={columns} ignored={ignored} />
      <section aria-label="Edges">
        <h2>{found ? "The network" : "Edges that are known"}</h2>
        <fieldset class="modes">
          <legend>Dragging from node to node</legend>
          {(["require", "forbid"] as const).map((each) => (
            <label key={each}><input type="radio" name="draw" checked={mode === each} onChange={() => change({ draw: each === "forbid" ? each : null }, { replace: true })} /> {each}s the edge</label>
          ))}
        </fieldset>
        <Known names={names} rules={rules} found={found} mode={mode} />
        <RuleList names={names} rules={rules} />
      </section>
      <div class="controls">
        <label>Save as <TypedInput class="file-name" value={output} onTyped={(text) => change({ output: text || null }, { replace: true })} /></label>
        <button type="button" class="main" disabled={isRunning(job.job) || names.length < 2} onClick={() => void job.start(() => post("/api/network/learn", ask))}>{ask.version ? "learn and replace" : "learn"}</button>
      </div>
      <JobNote of={job} what="learning a network" />
      {found && job.job && (
        <p role="status">
          Saved {job.job.output} in {job.job.seconds.toFixed(1)} s: {found.edges.length} edges. <a href={urlOf("/network", { network: job.job.output })}>Ask it</a> or <a href={urlOf("/network", { network: job.job.output, view: "edit" })}>edit it</a>.
        </p>
      )}
      {same.problem && <ProblemNote problem={same.problem} />}
      {same.value && <SameAsBox same={same.value} />}
    </>
  );
}

function Settings({ ask, columns, ignored }: { ask: Ask; columns: readonly string[]; ignored: ReadonlySet<string> }) {
  const toggle = (name: string) => {
    const now = query.value.getAll("ignore");
    change({ ignore: now.includes(name) ? now.filter((each) => each !== name) : [...now, name] });
  };
  return (
    <>
      <fieldset class="modes columns-used">
        <legend>Columns</legend>
        {columns.map((name) => <label key={name}><input type="checkbox" checked={!ignored.has(name)} onChange={() => toggle(name)} /> {name}</label>)}
      </fieldset>
      <div class="controls">
        <Choice label="Method" value={ask.method!} options={Object.keys(METHODS)} wordsOf={(name) => METHODS[name as keyof typeof METHODS]} onChoose={(method) => change({ method })} />
        <Choice label="Score" value={ask.score!} options={SCORES} onChoose={(score) => change({ score })} />
        <Choice label="Missing values" value={ask.missing!} options={Object.keys(MISSING)} wordsOf={(name) => MISSING[name as keyof typeof MISSING]} onChoose={(missing) => change({ missing })} />
        <label>Maximum parents <TypedInput class="short" type="number" min={0} max={20} placeholder="any" value={ask.max_parents ?? ""} onTyped={(text) => change({ parents: text || null })} /></label>
        <label>Resampled tables <TypedInput class="short" type="number" min={0} max={1000} value={ask.resamples ?? 0} onTyped={(text) => change({ resamples: text || null })} /></label>
      </div>
    </>
  );
}

interface KnownProps {
  readonly names: readonly string[];
  readonly rules: Readonly<Record<Rule, readonly EdgeName[]>>;
  readonly found: { readonly nodes: readonly string[]; readonly edges: readonly EdgeName[]; readonly strengths?: readonly Strength[] } | null;
  readonly mode: Rule;
}

/** The columns as nodes, what is known and what was found as edges. */
function Known({ names, rules, found, mode }: KnownProps) {
  const strengths = found?.strengths ?? [];
  const most = Math.max(1e-12, ...strengths.map((each) => each.score_gain ?? 0));
  const here = new Set(names);
  const edges: GraphEdge[] = (found?.edges ?? []).filter(([parent, child]) => here.has(parent) && here.has(child)).map(([parent, child]) => {
    const strength = strengths.find((each) => each.parent === parent && each.child === child);
    const share = strength ? strength.support ?? Math.sqrt(Math.max(0, strength.score_gain ?? 0) / most) : 0;
    const required = isIn(rules.require, [parent, child]);
    return { parent, child, width: 1 + 6 * share, ...(required ? { look: "require" as const } : {}), title: (strength ? measured(strength) : `${parent} → ${child}`) + (required ? ", required" : "") };
  });
  const drawn = (["require", "forbid"] as const).flatMap((rule) => rules[rule].filter((edge) => !isIn(found?.edges ?? [], edge)).map(([parent, child]): GraphEdge => ({ parent, child, width: 2, look: rule, title: `${parent} → ${child}: ${rule === "require" ? "required" : "forbidden"}` })));
  const seldom = strengths.filter((each) => !each.in_graph && (each.support ?? 0) >= OFTEN && here.has(each.parent) && here.has(each.child)).map(({ parent, child, ...rest }): GraphEdge => ({ parent, child, width: 1, look: "weak", title: measured({ parent, child, ...rest }) }));
  const plane = (
    <GraphPlane label="Columns and edges" nodes={names.map((name) => sizeOf(name, 0))} edges={[...edges, ...seldom]} loose={drawn} drawNode={(name, at) => <NodeBox name={name} states={[]} height={at.height} />} onDraw={(from, to) => setRule(mode, [from, to])} />
  );
  if (!strengths.length) return plane;
  const resampled = strengths.some((each) => each.support !== null);
  return (
    <ChartWithTable twin={{
      caption: "Strength of each edge",
      head: ["edge", "score lost without it", ...(resampled ? ["found in", "either way"] : [])],
      rows: strengths.map((each) => [`${each.parent} → ${each.child}${each.in_graph ? "" : " (not in the network)"}`, each.score_gain === null ? "" : compact(each.score_gain), ...(resampled ? [share(each.support), share(each.support_either_way)] : [])]),
    }}>
      {plane}
    </ChartWithTable>
  );
}

function isIn(edges: readonly EdgeName[], [parent, child]: EdgeName): boolean {
  return edges.some(([above, below]) => above === parent && below === child);
}

function measured({ parent, child, score_gain, support }: Strength): string {
  return [`${parent} → ${child}`, ...(score_gain === null ? [] : [`the score loses ${compact(score_gain)} without it`]), ...(support === null ? [] : [`found in ${share(support)} of the resampled tables`])].join(": ");
}

function share(part: number | null): string {
  return part === null ? "" : `${(100 * part).toFixed(0)} %`;
}

/** The edges that are required or forbidden, each with a button; and a form, for those who do not drag. */
function RuleList({ names, rules }: { names: readonly string[]; rules: Readonly<Record<Rule, readonly EdgeName[]>> }) {
  const [from, to] = ["from", "to"].map((name) => query.value.get(name)).map((name) => (name !== null && names.includes(name) ? name : ""));
  const choose = (label: string, name: "from" | "to", value: string) => (
    <Choice label={label} value={value} options={names} none="choose" onChoose={(node) => change({ [name]: node }, { replace: true })} />
  );
  const impossible = !from || !to || from === to;
  return (
    <>
      <ul class="entries rules" aria-label="Required and forbidden edges">
        {(["require", "forbid"] as const).flatMap((rule) => rules[rule].map(([parent, child]) => (
          <li key={`${rule} ${joined(parent, child)}`} class={rule}>
            <span>{rule === "require" ? "required" : "forbidden"}: {parent} → {child}</span>
            <button type="button" class="small" aria-label={`Remove: ${rule} ${parent} → ${child}`} onClick={() => setRule(null, [parent, child])}>remove</button>
          </li>
        )))}
      </ul>
      <div class="controls">
        {choose("From", "from", from!)}
        {choose("to", "to", to!)}
        <button type="button" disabled={impossible} onClick={() => setRule("require", [from!, to!])}>require</button>
        <button type="button" disabled={impossible} onClick={() => setRule("forbid", [from!, to!])}>forbid</button>
        <button type="button" disabled={impossible} onClick={() => { setRule("forbid", [from!, to!]); setRule("forbid", [to!, from!]); }}>forbid both ways</button>
      </div>
    </>
  );
}

// -- what is chosen stands in the URL: require=from:to, forbid=from:to ----------------------------------------------

function edgesOf(rule: Rule, names: readonly string[]): EdgeName[] {
  return query.value.getAll(rule).map(parts).filter(([parent, child]) => names.includes(parent!) && names.includes(child ?? "")).map(([parent, child]) => [parent!, child!]);
}

/** Require an edge, forbid it, or neither. */
function setRule(rule: Rule | null, [parent, child]: EdgeName): void {
  const text = joined(parent, child);
  const less = (each: Rule) => query.value.getAll(each).filter((other) => other !== text);
  change({ require: less("require"), forbid: less("forbid"), ...(rule && { [rule]: [...less(rule), text] }) });
}

function known<K extends string>(words: Record<K, string>, chosen: string | null, otherwise: K): K {
  return chosen !== null && chosen in words ? (chosen as K) : otherwise;
}
