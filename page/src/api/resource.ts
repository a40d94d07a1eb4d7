// A requested value: loading, loaded or failed, for signals and components.
import { signal, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { ApiError, type Problem } from "./client";
import { isAway, serverBack } from "./connection";

export interface Resource<T> {
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly loading: boolean;
}

/** Ask again whenever `key` changes; the last answer stays until the next one is there, and late ones are dropped. */
export function useResource<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Signal<Resource<T>> {
  const state = useMemo(() => signal<Resource<T>>({ value: null, problem: null, loading: key !== null }), []);
  useLayoutEffect(() => { // before the page is painted: nobody sees it without an answer and not loading
    if (key === null) return;
    const control = new AbortController();
    state.value = { ...state.value, loading: true };
    void whenServed(() => ask(control.signal), control.signal).then(
      (value) => !control.signal.aborted && (state.value = { value, problem: null, loading: false }),
      (error: unknown) => !control.signal.aborted && (state.value = { value: null, problem: problemOf(error), loading: false }),
    );
    return () => control.abort();
  }, [key]);
  return state;
}

/** An answer; while the server is away, it is waited for. Only for what changes nothing there. */
export async function whenServed<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isAway(error) || signal?.aborted) throw error;
      await serverBack();
    }
  }
}

/** A value once it has rested: requests while keys repeat or a slider moves would only pile up at the server. */
export function useRested<T>(value: T, milliseconds = 300): T {
  const key = JSON.stringify(value);
  const rested = useMemo(() => signal(value), []);
  useEffect(() => {
    const timer = window.setTimeout(() => (rested.value = value), milliseconds);
    return () => window.clearTimeout(timer);
  }, [key]);
  return rested.value;
}

export function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  const what = isAway(error) ? "the server is not responding" : String(error);
  return { error: "Network", what, fix: "check that `bayeswise serve` is still running" };
}
