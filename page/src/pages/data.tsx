// Data: the kind of each column of a table, and why; what is chosen stands in the URL, as options of `look` do.
import { get, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { ColumnPicture } from "../charts/column_picture";
import { COLUMN_OPTIONS, KINDS } from "../columns";
import { Choice } from "../components/choice";
import { chosenFile, FileChoice } from "../components/file_choice";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { count, percent } from "../numbers";
import { given, go, query, urlOf } from "../router";
import { filesOf, workspace } from "../workspace";

type View = Schemas["DataView"];
type Column = Schemas["ColumnView"];

type Kind = (typeof KINDS)[number];

export function DataPage() {
  const table = chosenFile("table", "table");
  const request = table === null ? null : parameters(table);
  const answer = useResource(request === null ? null : JSON.stringify(request), (signal) => get("/api/data", request!, signal));
  const { value, problem, loading } = answer.value;
  if (workspace.value && !filesOf("table").length) return <Empty />;
  return (
    <article aria-busy={loading}>
      <h1>Data</h1>
      <div class="controls">
        <FileChoice label="Table" name="table" kind="table" value={table} alone />
        {value && <Choice label="Target" value={value.target} options={value.columns.map((column) => column.name)} none="none" onChoose={(target) => change({ target })} />}
      </div>
      {problem && <ProblemNote problem={problem} />}
      {value && <Table view={value} />}
    </article>
  );
}

function Empty() {
  return (
    <article>
      <h1>Data</h1>
      <p>This folder has no table yet. Add a CSV, Parquet, JSON, Arrow, Excel or SQLite file to it, then reload this page.</p>
    </article>
  );
}

function Table({ view }: { view: View }) {
  return (
    <>
      <p class="quiet">
        {count(view.rows)} rows, {count(view.columns.length)} columns.
        {view.drawn_rows < view.rows && ` Counts cover all rows; charts show ${count(view.drawn_rows)} of them.`}
      </p>
      <Classes view={view} />
      <Warnings view={view} />
      <div class="wide">
        <table class="columns">
          <thead>
            <tr><th scope="col">Column</th><th scope="col">Kind</th><th scope="col" class="number">Missing</th><th scope="col" class="number">Distinct</th><th scope="col">Distribution</th><th scope="col">Why</th></tr>
          </thead>
          <tbody>{view.columns.map((column) => <Row key={column.name} column={column} view={view} />)}</tbody>
        </table>
      </div>
      <SameAsBox same={view.same_as} />
    </>
  );
}

function Classes({ view }: { view: View }) {
  if (!view.classes.length) return null;
  const total = view.classes.reduce((sum, each) => sum + each.rows, 0);
  return (
    <ul class="classes" aria-label={`Classes of ${view.target}`}>
      {view.classes.slice(0, 12).map((each) => (
        <li key={each.label}>
          <i class={`mark state-${Math.max(0, view.groups.indexOf(each.label)) % 6}`} aria-hidden="true" />
          {each.label} <span class="quiet">{count(each.rows)} · {percent(each.rows, total)}</span>
        </li>
      ))}
      {view.classes.length > 12 && <li class="quiet">and {view.classes.length - 12} more</li>}
    </ul>
  );
}

function Warnings({ view }: { view: View }) {
  return (
    <>
      {view.warnings.map((warning, place) => (
        <div key={place} class={warning.stops ? "note stops" : "note"} role={warning.stops ? "alert" : "note"}>
          <p><strong>{warning.column ?? "table"}</strong>: {warning.what}</p>
          {warning.fix && <p class="quiet">Fix: {warning.fix}</p>}
          <p class="remedies">
            {warning.column && warning.remedies.map((kind) => (
              <button key={kind} type="button" class="small" onClick={() => choose(warning.column!, kind)}>
                {kind === "ignore" ? "ignore it" : `treat it as ${kind}`}
              </button>
            ))}
            {warning.invalid.slice(0, 3).map((word) => (
              <button key={word} type="button" class="small" onClick={() => change({ null: [...new Set([...nullWords(), word])] })}>
                treat “{word}” as missing
              </button>
            ))}
          </p>
        </div>
      ))}
    </>
  );
}

function Row({ column, view }: { column: Column; view: View }) {
  const chosen = KINDS.find((kind) => query.value.getAll(kind).includes(column.name)) ?? "";
  return (
    <tr class={column.kind === "ignored" ? "ignored" : undefined}>
      <th scope="row">{column.name}</th>
      <td>
        {column.kind === "target" || column.kind === "weight" ? <b>{column.kind}</b> : (
          <select aria-label={`Kind of ${column.name}`} value={chosen} onChange={(event) => choose(column.name, event.currentTarget.value as Kind | "")}>
            <option value="">{chosen ? "as inferred" : column.kind}</option>
            {KINDS.filter((kind) => kind !== column.kind || chosen).map((kind) => <option key={kind} value={kind}>{kind}</option>)}
          </select>
        )}
      </td>
      <td class="number" title={`${count(column.missing)} of ${count(view.rows)} rows`}>{percent(column.missing, view.rows)}</td>
      <td class="number">{column.distinct_exact ? "" : "about "}{count(column.distinct)}</td>
      <td>{column.picture && <ColumnPicture name={column.name} picture={column.picture} groups={view.groups} />}</td>
      <td class="why">{column.note}</td>
    </tr>
  );
}

// -- what is chosen stands in the URL ----------------------------------------------------------------------------

function parameters(table: string): Record<string, string | string[]> {
  return { table, ...given(["target", ...COLUMN_OPTIONS]) };
}

function change(changes: Record<string, string | string[] | null>): void {
  go(urlOf("/data", { ...parameters(chosenFile("table", "table")!), ...changes }));
}

function choose(name: string, kind: Kind | ""): void {
  const without = Object.fromEntries(KINDS.map((each) => [each, query.value.getAll(each).filter((other) => other !== name)]));
  change(kind === "" ? without : { ...without, [kind]: [...without[kind]!, name] });
}

function nullWords(): string[] {
  const chosen = query.value.getAll("null");
  return chosen.length ? chosen : ["", "NA", "N/A", "null", "?", "nan", "none"];
}
