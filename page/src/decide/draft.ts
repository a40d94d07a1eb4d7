// Costs that are not saved yet, kept by the tab: a page that is loaded again goes on with them.
import type { CostCells } from "./outcome";

interface Draft {
  readonly version: string | null; // of the file that they are a change of
  readonly costs: CostCells;
  readonly unit?: string;
}

const nameOf = (model: string, file: string | null) => `costs:${JSON.stringify([model, file])}`;

export function draftOf(model: string, file: string | null): Draft | null {
  try {
    return JSON.parse(window.sessionStorage.getItem(nameOf(model, file)) ?? "null") as Draft | null;
  } catch {
    return null;
  }
}

export function keepDraft(model: string, file: string | null, draft: Draft): void {
  window.sessionStorage.setItem(nameOf(model, file), JSON.stringify(draft));
}

export function forgetDraft(model: string, file: string | null): void {
  window.sessionStorage.removeItem(nameOf(model, file));
}
