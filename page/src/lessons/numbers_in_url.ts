// The numbers of a lesson: moved by sliders at once, written into the URL when they rest, so that a picture can be sent.
import { signal, type Signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { go, path, query, urlOf } from "../router";

const REST = 250; // milliseconds without a change; browsers refuse a new URL for every move of a slider

export interface Numbers<Name extends string> {
  readonly now: Record<Name, number>;
  change(changes: Partial<Record<Name, number>>): void;
  reset(): void;
}

export function useNumbers<Name extends string>(defaults: Record<Name, number>): Numbers<Name> {
  const state: Signal<Record<Name, number>> = useMemo(() => signal(fromUrl(defaults)), []);
  const now = state.value;
  useEffect(() => {
    const timer = window.setTimeout(() => write(now, defaults), REST);
    return () => window.clearTimeout(timer);
  }, [now]);
  return {
    now,
    change: (changes) => (state.value = { ...state.value, ...changes }),
    reset: () => (state.value = defaults),
  };
}

function fromUrl<Name extends string>(defaults: Record<Name, number>): Record<Name, number> {
  const read = (name: string, otherwise: number) => {
    const word = query.value.get(name);
    const value = word === null || word === "" ? Number.NaN : Number(word);
    return Number.isFinite(value) ? value : otherwise;
  };
  return Object.fromEntries(Object.entries<number>(defaults).map(([name, value]) => [name, read(name, value)])) as Record<Name, number>;
}

function write<Name extends string>(now: Record<Name, number>, defaults: Record<Name, number>): void {
  const changed = Object.entries<number>(now).filter(([name, value]) => value !== defaults[name as Name]);
  const kept = Object.fromEntries([...query.value].filter(([name]) => !(name in defaults)));
  const url = urlOf(path.value, { ...kept, ...Object.fromEntries(changed.map(([name, value]) => [name, String(value)])) });
  if (url !== window.location.pathname + window.location.search) go(url, { replace: true });
}
