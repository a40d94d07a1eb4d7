// Model: compare kinds of models on a table, learn one in the background, see what it holds, and move its settings live.
import { get, post, type Schemas } from "../api/client";
import { isRunning, useJob } from "../api/job";
import { useResource } from "../api/resource";
import { COLUMN_OPTIONS, useColumns } from "../columns";
import { Choice } from "../components/choice";
import { chosenFile, FileChoice } from "../components/file_choice";
import { JobNote } from "../components/job_note";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { TypedInput } from "../components/typed_input";
import { Comparison } from "../model/comparison";
import { LiveSettings } from "../model/live_settings";
import { ModelFacts } from "../model/model_facts";
import { settingsOf, SettingsForm, type Chosen } from "../model/settings_form";
import { change, given, pairs, query } from "../router";
import { readWorkspace, stemOf, versionOf, workspace } from "../workspace";

export function ModelPage() {
  const table = chosenFile("table", "table");
  const target = query.value.get("target");
  const columns = useColumns(table);
  const kinds = useResource("kinds", (control) => get("/api/kinds", {}, control)).value;
  return (
    <article aria-busy={columns.loading || kinds.loading}>
      <h1>Model</h1>
      <div class="controls">
        <FileChoice label="Table" name="table" kind="table" value={table} alone />
        {columns.value && <Choice label="Target" value={target} options={columns.value.columns} none="choose" onChoose={(name) => change({ target: name, compare: null, fit: null })} />}
        <FileChoice label="Decision" name="decision" kind="decision" value={query.value.get("decision")} none="each error costs 1" />
      </div>
      {workspace.value && table === null && <p>This folder has no table yet.</p>}
      {columns.problem && <ProblemNote problem={columns.problem} />}
      {kinds.problem && <ProblemNote problem={kinds.problem} />}
      {table && !target && columns.value && <p>Choose the target: the column to predict.</p>}
      {table && target && kinds.value && <Learning table={table} target={target} kinds={kinds.value} />}
      {table && <Saved table={table} kinds={kinds.value ?? []} />}
    </article>
  );
}

function Learning({ table, target, kinds }: { table: string; target: string; kinds: readonly Schemas["KindView"][] }) {
  const compare = useJob("compare", () => undefined);
  const fit = useJob("fit", (job) => {
    void readWorkspace();
    if (job.output) change({ model: job.output }, { replace: true });
  });
  const kind = kinds.find((each) => each.name === query.value.get("kind")) ?? kinds[0]!;
  const automatic = kinds.find((each) => each.group === "auto");
  const chosen = chosenSettings();
  const fileOf = (name: string) => `${stemOf(table)}-${name}.bayeswise`;
  const output = query.value.get("output") ?? fileOf(kind.name);
  const choice = { table, target, ...given(COLUMN_OPTIONS) }; // columns as chosen on the page Data
  const decision = query.value.get("decision");
  const byBits = query.value.get("by") === "bits";
  const comparison = { ...choice, decision, models: [], by_bits: byBits, folds: 5 };
  const compared = useResource(JSON.stringify(comparison), (control) => post("/api/compare/same_as", comparison, {}, control)).value;
  const next = fitted(output, kind, chosen);
  const saving = useResource(JSON.stringify(next), (control) => post("/api/fit/same_as", next, {}, control)).value;
  return (
    <>
      <section aria-label="Compare">
        <h2>Compare</h2>
        <div class="controls">
          <Choice label="By" value={byBits ? "bits" : null} options={["bits"]} wordsOf={() => "description length, in bits"} none="left-out rows, in 5 folds" onChoose={(by) => change({ by })} />
          <button type="button" disabled={isRunning(compare.job)} onClick={() => void compare.start(() => post("/api/compare", comparison))}>
            compare all kinds
          </button>
        </div>
        <JobNote of={compare} what="comparing models" />
        {compare.job?.result && <Comparison result={compare.job.result} onFit={fitNow} />}
        {compared.value && <SameAsBox same={compared.value} about=", to compare" />}
      </section>
      <section aria-label="Fit">
        <h2>Fit</h2>
        <div class="controls">
          <Choice label="Kind" value={kind.name} options={kinds.map((each) => each.name)} onChoose={(name) => change({ kind: name, set: [], output: null })} />
          <label>Save as <TypedInput class="file-name" value={output} onTyped={(text) => change({ output: text || null }, { replace: true })} /></label>
          <button type="button" class="main" disabled={isRunning(fit.job)} onClick={() => void fit.start(() => post("/api/fit", next))}>
            {next.version ? "fit and replace" : "fit"}
          </button>
          {automatic && kind !== automatic && <button type="button" disabled={isRunning(fit.job)} onClick={() => fitNow(automatic.name, {})}>choose automatically</button>}
        </div>
        {kind === automatic && <p class="quiet">All kinds that apply are fitted and weighted by left-out rows; <code>choose</code> keeps only one of them, <code>within</code> limits the time.</p>}
        <JobNote of={fit} what="fitting a model" />
        {fit.job?.state === "done" && <p role="status">Saved {fit.job.output} in {fit.job.seconds.toFixed(1)} s, the same as <code>{fit.job.command}</code></p>}
        {saving.problem && <ProblemNote problem={saving.problem} />}
        {saving.value && !saving.problem && <SameAsBox same={saving.value} about=", to fit" />}
        <SettingsForm key={kind.name} kind={kind} chosen={chosen} onChange={(next) => change({ set: settingWords(next) })} />
      </section>
    </>
  );

  function fitNow(name: string, settings: Chosen): void {
    const found = kinds.find((each) => each.name === name);
    if (!found) return;
    change({ kind: name, set: settingWords(settings), output: null }, { replace: true });
    void fit.start(() => post("/api/fit", fitted(fileOf(name), found, settings)));
  }

  function fitted(name: string, model: Schemas["KindView"], settings: Chosen): Schemas["FitRequest"] {
    return { ...choice, decision, model: model.name, settings: settingsOf(model, settings), output: name, version: versionOf(name) };
  }
}

function Saved({ table, kinds }: { table: string; kinds: readonly Schemas["KindView"][] }) {
  const model = chosenFile("model", "model");
  const { value, problem } = useResource(model && JSON.stringify([model, versionOf(model)]), (control) => get("/api/model", { model: model! }, control)).value;
  if (!model) return null;
  const target = value?.facts["target"];
  const named = query.value.get("target");
  return (
    <section aria-label="Saved model">
      <h2>Saved model</h2>
      <div class="controls"><FileChoice label="Model" name="model" kind="model" value={model} /></div>
      {problem && <ProblemNote problem={problem} />}
      {value && !problem && value.model === model && ( // not the one before, while the chosen one is read: what is set there would be lost
        <>
          <ModelFacts view={value} />
          {value.live.length > 0 && (named === null || named === target) ? (
            <LiveSettings key={value.model} view={value} table={table} onTake={(settings) => {
              change({ kind: kindOf(value, kinds), target: String(target), set: settingWords(settings), output: null });
            }} />
          ) : <SameAsBox same={value.same_as} />}
        </>
      )}
    </section>
  );
}

/** What a fit calls the kind of a saved model; a network is called by its structure, the others as in their files or shorter. */
function kindOf({ kind, facts }: Schemas["ModelView"], kinds: readonly Schemas["KindView"][]): string | null {
  const structure = (facts["settings"] as Record<string, unknown> | undefined)?.["structure"];
  return kinds.find(({ name }) => name === kind || name === structure || kind.startsWith(`${name}-`))?.name ?? null;
}

// -- what is chosen stands in the URL: settings as set=option:value ----------------------------------------------

/** Settings as they stand in the URL. */
function settingWords(settings: Chosen): string[] {
  return Object.entries(settings).map(([option, value]) => `${option}:${value}`);
}

function chosenSettings(): Chosen {
  return Object.fromEntries(pairs("set").filter(([option, value]) => option && value));
}
