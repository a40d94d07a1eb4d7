// Steps that can be taken back: one value now, those before it, those after it.
import { useMemo } from "preact/hooks";
import { signal, type Signal } from "@preact/signals";

interface Steps<T> {
  readonly past: readonly T[];
  readonly now: T;
  readonly future: readonly T[];
}

export class Undo<T> {
  private readonly steps: Signal<Steps<T>>;

  constructor(first: T) {
    this.steps = signal<Steps<T>>({ past: [], now: first, future: [] });
  }

  get now(): T {
    return this.steps.value.now;
  }

  get canUndo(): boolean {
    return this.steps.value.past.length > 0;
  }

  get canRedo(): boolean {
    return this.steps.value.future.length > 0;
  }

  /** A new step; the steps that were taken back are gone. */
  take(next: T): void {
    const { past, now } = this.steps.value;
    if (JSON.stringify(next) !== JSON.stringify(now)) this.steps.value = { past: [...past.slice(-199), now], now: next, future: [] };
  }

  undo(): void {
    const { past, now, future } = this.steps.value;
    if (past.length) this.steps.value = { past: past.slice(0, -1), now: past.at(-1)!, future: [now, ...future] };
  }

  redo(): void {
    const { past, now, future } = this.steps.value;
    if (future.length) this.steps.value = { past: [...past, now], now: future[0]!, future: future.slice(1) };
  }
}

/** Steps from `first` on; `next` is a step that was taken before the page was loaded again. */
export function useUndo<T>(key: string, first: () => T, next?: T): Undo<T> {
  return useMemo(() => {
    const steps = new Undo(first());
    if (next !== undefined) steps.take(next);
    return steps;
  }, [key]);
}
