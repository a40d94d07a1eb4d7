// Costs into a decision file; where somebody else changed the file meanwhile, the user selects which of the two stays.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ApiError, get, put, type Problem, type Schemas } from "../api/client";
import { problemOf } from "../api/resource";
import { readWorkspace, workspace } from "../workspace";
import { ProblemNote } from "../components/problem";

type Decision = Schemas["DecisionView"];

interface Props {
  readonly document: Schemas["DecisionDocument"];
  readonly file: string | null; // that the costs were read from
  readonly version: string | null; // of this file when it was read
  readonly changed: boolean; // whether there is anything to save
  readonly onSaved: (file: string, saved: Decision) => void;
  readonly onTheirs: (theirs: Decision) => void; // the file as it is now, to be shown
}

interface State {
  readonly name: string;
  readonly version: string | null;
  readonly saved: string | null;
  readonly conflict: boolean;
  readonly problem: Problem | null;
}

export function SaveDecision({ document, file, version, changed, onSaved, onTheirs }: Props) {
  const first = file ?? "decision.toml";
  const state = useMemo(() => signal<State>({ name: first, version, saved: null, conflict: false, problem: null }), []);
  const { name, saved, conflict, problem } = state.value;

  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      const conflicting = error instanceof ApiError && error.status === 409;
      state.value = { ...state.value, saved: null, conflict: conflicting, problem: conflicting ? null : problemOf(error) };
    }
  };
  const save = (over: string | null) => attempt(async () => {
    const kept = await put("/api/decision", { file: name, version: over, document });
    state.value = { name, version: kept.version, saved: name, conflict: false, problem: null };
    onSaved(name, kept);
    await readWorkspace();
  });
  const now = async (): Promise<Decision | null> => {
    await readWorkspace();
    return workspace.value?.files.some((each) => each.name === name) ? get("/api/decision", { file: name }) : null;
  };
  const takeTheirs = () => attempt(async () => {
    const theirs = await now();
    state.value = { ...state.value, version: theirs?.version ?? null, conflict: false, problem: null };
    if (theirs) onTheirs(theirs);
  });
  const replace = () => attempt(async () => save((await now())?.version ?? null));
  return (
    <>
      <form class="remedies" onSubmit={(event) => {
        event.preventDefault();
        void save(state.value.version);
      }}>
        <label>File <input class="short-name" value={name} onInput={(event) => {
          const typed = event.currentTarget.value.trim();
          state.value = { ...state.value, name: typed, version: typed === file ? version : null, saved: null, conflict: false };
        }} /></label>
        <button type="submit" disabled={!name}>save as {name}</button>
        {saved && !changed ? <span role="status">saved {saved}</span> : changed && <span class="quiet">not saved yet</span>}
      </form>
      {conflict && (
        <div class="note stops" role="alert">
          <p>{name} has changed since this page read it. It was not replaced, and your costs are still here.</p>
          <p class="remedies">
            <button type="button" onClick={() => void takeTheirs()}>show the costs of the file</button>
            <button type="button" onClick={() => void replace()}>replace the file</button>
          </p>
          <p class="quiet">Showing the costs of the file can be undone, which brings yours back. To keep both, save yours under another name.</p>
        </div>
      )}
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
