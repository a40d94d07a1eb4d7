// Changes of a network that are not saved yet: they outlive a reload and a look at another page, until the tab is closed.
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
    case "add-edge": return `edge ${edit.parent} → ${edit.node}`;
    case "remove-edge": return `no edge ${edit.parent} → ${edit.node}`;
    case "add-node": return `node ${edit.node}`;
    case "remove-node": return `no node ${edit.node}`;
    case "rename-node": return `${edit.node} is called ${edit.name}`;
    case "add-state": return `${edit.node} can be ${edit.name}`;
    case "remove-state": return `${edit.node} cannot be ${edit.state}`;
    case "rename-state": return `${edit.state} of ${edit.node} is called ${edit.name}`;
    case "set-table": return `table of ${edit.node}`;
  }
}
