// What is observed, excluded, likely or set from outside, in the URL: evidence=node:state, excluded=node:state,
// soft=node:state:likelihood, do=node:state; colons in names are encoded.
import { change, query } from "../router";

export interface Findings {
  readonly evidence: Readonly<Record<string, string>>;
  readonly excluded: Readonly<Record<string, readonly string[]>>;
  readonly soft: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly set: Readonly<Record<string, string>>; // from outside: do(node = state)
}

const NONE: Findings = { evidence: {}, excluded: {}, soft: {}, set: {} };

/** The findings of the URL, those of nodes that the network does not have left out. */
export function findingsOf(known?: ReadonlySet<string>): Findings {
  const read = (name: string) => query.value.getAll(name).map(parts).filter(([node]) => !known || known.has(node!));
  const pairs = (name: string) => Object.fromEntries(read(name).map(([node, state]) => [node!, state ?? ""]));
  const excluded: Record<string, string[]> = {};
  for (const [node, state] of read("excluded")) (excluded[node!] ??= []).push(state ?? "");
  const soft: Record<string, Record<string, number>> = {};
  for (const [node, state, likelihood] of read("soft")) (soft[node!] ??= {})[state ?? ""] = Number(likelihood);
  return { evidence: pairs("evidence"), excluded, soft, set: pairs("do") };
}

export function isNothing({ evidence, excluded, soft, set }: Findings): boolean {
  return [evidence, excluded, soft, set].every((each) => !Object.keys(each).length);
}

/** Observe or exclude a state, or retract that. */
export function toggle(node: string, state: string, how: "observe" | "exclude"): void {
  const findings = findingsOf();
  const without = dropped(findings, node);
  if (how === "observe") {
    write(findings.evidence[node] === state ? without : { ...without, evidence: { ...without.evidence, [node]: state } });
    return;
  }
  const excluded = new Set(findings.excluded[node] ?? []);
  if (!excluded.delete(state)) excluded.add(state);
  write(excluded.size ? { ...without, excluded: { ...without.excluded, [node]: [...excluded] } } : without);
}

/** A likelihood for a state; the others of its node keep theirs. A drag leaves one step for the back button at most. */
export function soften(node: string, state: string, likelihood: number): void {
  const findings = findingsOf();
  const without = dropped(findings, node);
  write({ ...without, soft: { ...without.soft, [node]: { ...(findings.soft[node] ?? {}), [state]: likelihood } } }, node in findings.soft);
}

/** Set a node from outside, or no longer. */
export function intervene(node: string, state: string | null): void {
  const without = dropped(findingsOf(), node);
  write(state === null ? without : { ...without, set: { ...without.set, [node]: state } });
}

export function retractAll(): void {
  write(NONE);
}

/** A likelihood for each state: 1 where none was chosen. */
export function likelihoods(soft: Findings["soft"], states: ReadonlyMap<string, readonly string[]>): Record<string, Record<string, number>> {
  return Object.fromEntries(Object.entries(soft).map(([node, chosen]) => [node, Object.fromEntries((states.get(node) ?? []).map((state) => [state, chosen[state] ?? 1]))]));
}

/** Words in one parameter. */
export function joined(...words: readonly (string | number)[]): string {
  return words.map((word) => encodeURIComponent(word)).join(":");
}

export function parts(text: string): string[] {
  return text.split(":").map((word) => {
    try {
      return decodeURIComponent(word);
    } catch {
      return word; // a URL that was typed
    }
  });
}

/** The findings without those of a node. */
function dropped({ evidence, excluded, soft, set }: Findings, node: string): Findings {
  const less = <T,>(from: Readonly<Record<string, T>>) => Object.fromEntries(Object.entries(from).filter(([name]) => name !== node));
  return { evidence: less(evidence), excluded: less(excluded), soft: less(soft), set: less(set) };
}

function write({ evidence, excluded, soft, set }: Findings, replace = false): void {
  change({
    evidence: Object.entries(evidence).map(([node, state]) => joined(node, state)),
    excluded: Object.entries(excluded).flatMap(([node, states]) => states.map((state) => joined(node, state))),
    soft: Object.entries(soft).flatMap(([node, states]) => Object.entries(states).map(([state, likelihood]) => joined(node, state, likelihood))),
    do: Object.entries(set).map(([node, state]) => joined(node, state)),
    path: null,
  }, { replace });
}
