// Changes of a network that are not saved yet: they outlive a reload and a look at another page, until the tab is closed.
import { signal, type Signal } from "@preact/signals";
import type { Schemas } from "../api/client";
import { keep, kept } from "../storage";

export type Edit = Schemas["Edit"];

interface Steps {
  readonly edits: readonly Edit[];
  readonly undone: readonly Edit[];
}

const NONE: Steps = { edits: [], undone: [] };
const drafts = new Map<string, Draft>();

export class Draft {
  private readonly steps: Signal<Steps>;

  constructor(private readonly key: string) {
    this.steps = signal(read(key));
  }

  get edits(): readonly Edit[] {
    return this.steps.value.edits;
  }

  get canRedo(): boolean {
    return this.steps.value.undone.length > 0;
  }

  take(edit: Edit): void {
    this.write({ edits: [...this.edits, edit], undone: [] });
  }

  undo(): void {
    const { edits, undone } = this.steps.value;
    if (edits.length) this.write({ edits: edits.slice(0, -1), undone: [edits.at(-1)!, ...undone] });
  }

  redo(): void {
    const { edits, undone } = this.steps.value;
    if (undone.length) this.write({ edits: [...edits, undone[0]!], undone: undone.slice(1) });
  }

  /** After they were saved or discarded. */
  clear(): void {
    this.write(NONE);
  }

  private write(steps: Steps): void {
    this.steps.value = steps;
    keep(this.key, steps.edits.length ? steps : null);
  }
}

/** The changes of a network, or of one that begins with nothing. */
export function draftOf(network: string | null): Draft {
  const key = `bayeswise edits of ${network ?? ""}`;
  if (!drafts.has(key)) drafts.set(key, new Draft(key));
  return drafts.get(key)!;
}

function read(key: string): Steps {
  const found = kept<Partial<Steps>>(key);
  return found && Array.isArray(found.edits) ? { edits: found.edits, undone: found.undone ?? [] } : NONE;
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
