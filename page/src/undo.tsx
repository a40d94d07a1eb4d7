// Steps that can be undone and redone, by buttons and by Ctrl+Z and Ctrl+Shift+Z; a page says what a step is and which are kept.
import { signal, type Signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

interface Steps<T> {
  readonly done: readonly T[];
  readonly undone: readonly T[]; // the one that is redone next comes first
}

export class Undo<T> {
  private readonly steps: Signal<Steps<T>>;

  constructor({ done = [], undone = [] }: Partial<Steps<T>> = {}, private readonly onChange: (steps: Steps<T>) => void = () => undefined) {
    this.steps = signal({ done, undone });
  }

  get done(): readonly T[] {
    return this.steps.value.done;
  }

  get canRedo(): boolean {
    return this.steps.value.undone.length > 0;
  }

  /** A new step; steps that were undone are gone. */
  take(step: T): void {
    this.write({ done: [...this.done, step], undone: [] });
  }

  undo(): void {
    const { done, undone } = this.steps.value;
    if (done.length) this.write({ done: done.slice(0, -1), undone: [done.at(-1)!, ...undone] });
  }

  redo(): void {
    const { done, undone } = this.steps.value;
    if (undone.length) this.write({ done: [...done, undone[0]!], undone: undone.slice(1) });
  }

  clear(): void {
    this.write({ done: [], undone: [] });
  }

  private write(steps: Steps<T>): void {
    this.steps.value = steps;
    this.onChange(steps);
  }
}

interface Props<T> {
  readonly steps: Undo<T>;
  readonly onMove: (move: () => void) => void; // makes the move, and does what belongs to it
}

/** The two buttons and their keys, which belong to the text while one is typed. */
export function UndoButtons<T>({ steps, onMove }: Props<T>) {
  const undo = () => onMove(() => steps.undo());
  const redo = () => onMove(() => steps.redo());
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      if (event.shiftKey) redo();
      else undo();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
  return (
    <>
      <button type="button" disabled={!steps.done.length} onClick={undo}>undo</button>
      <button type="button" disabled={!steps.canRedo} onClick={redo}>redo</button>
    </>
  );
}
