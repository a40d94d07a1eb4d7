// Costs that are not saved yet, kept by the tab: a page that is loaded again goes on with them.
import type { CostCells } from "../decide/outcome";
import { keep, kept } from "../storage";

interface Draft {
  readonly version: string | null; // of the file that they are a change of
  readonly costs: CostCells;
  readonly unit?: string;
}

const nameOf = (model: string, file: string | null) => `costs:${JSON.stringify([model, file])}`;

export const draftOf = (model: string, file: string | null) => kept<Draft>(nameOf(model, file));

export const keepDraft = (model: string, file: string | null, draft: Draft) => keep(nameOf(model, file), draft);

export const forgetDraft = (model: string, file: string | null) => keep(nameOf(model, file), null);
