// Unsaved changes of a network: they outlive a reload and a visit to another page, until the tab is closed.
import type { Schemas } from "../api/client";
import { keep, kept } from "../storage";
import { Undo } from "../undo";

export type Edit = Schemas["Edit"];

const drafts = new Map<string, Undo<Edit>>();

/** The changes of a network, or of one that begins with nothing. */
export function draftOf(network: string | null): Undo<Edit> {
  const key = `bayeswise edits of ${network ?? ""}`;
  const found = kept<{ edits: Edit[]; undone: Edit[] }>(key);
  const draft = drafts.get(key) ?? new Undo<Edit>({ done: found?.edits, undone: found?.undone }, ({ done, undone }) => keep(key, done.length ? { edits: done, undone } : null));
  drafts.set(key, draft);
  return draft;
}

export function inWords(edit: Edit): string {
  switch (edit.change) {
    case "add-edge": return `edge ${edit.parent} → ${edit.node} added`;
    case "remove-edge": return `edge ${edit.parent} → ${edit.node} removed`;
    case "add-node": return `node ${edit.node} added`;
    case "remove-node": return `node ${edit.node} removed`;
    case "rename-node": return `node ${edit.node} renamed to ${edit.name}`;
    case "add-state": return `state ${edit.name} of ${edit.node} added`;
    case "remove-state": return `state ${edit.state} of ${edit.node} removed`;
    case "rename-state": return `state ${edit.state} of ${edit.node} renamed to ${edit.name}`;
    case "set-table": return `table of ${edit.node}`;
  }
}
