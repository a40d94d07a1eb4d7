// What most pages are about: a model, rows, and a decision; and what to do without a model.
import type { ComponentChildren } from "preact";
import { query, urlOf } from "../router";
import { workspace } from "../workspace";
import { chosenFile, FileChoice } from "./file_choice";

export interface Case {
  readonly model: string | null;
  readonly table: string | null;
  readonly decision: string | null;
}

/** The files that the URL names, else the first of their kind; a decision is never guessed. */
export function chosenCase(): Case {
  return { model: chosenFile("model", "model"), table: chosenFile("table", "table"), decision: query.value.get("decision") };
}

interface Props extends Case {
  readonly none?: string; // what stands for no decision
  readonly children?: ComponentChildren; // controls between the rows and the decision
}

export function CaseFiles({ model, table, decision, none = "each error costs 1", children }: Props) {
  return (
    <>
      <div class="controls">
        <FileChoice label="Model" name="model" kind="model" value={model} />
        <FileChoice label="Rows" name="table" kind="table" value={table} />
        {children}
        <FileChoice label="Decision" name="decision" kind="decision" value={decision} none={none} />
      </div>
      {workspace.value && !model && <p>This folder has no model yet: fit one on the <a href={urlOf("/model")}>Model</a> page, or with <code>bayeswise fit</code>.</p>}
    </>
  );
}
