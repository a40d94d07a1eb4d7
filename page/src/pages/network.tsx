// Network: belief bars in the nodes; what is observed stands in the URL, so that a situation can be sent.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { get, post, type Problem, type Schemas } from "../api/client";
import { problemOf, useResource } from "../api/resource";
import { BeliefGraph, type Findings } from "../charts/belief_graph";
import { chosenFile, FileChoice } from "../components/file_choice";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { compact } from "../numbers";
import { go, path, query, urlOf } from "../router";
import { filesOf, workspace } from "../workspace";

type Network = Schemas["NetworkView"];
type Beliefs = Schemas["BeliefsView"];

export function NetworkPage() {
  const network = chosenFile("network", "network");
  const reread = useMemo(() => signal(0), []);
  const answer = useResource(network && `${network} ${reread.value}`, (control) => get("/api/network", { network: network! }, control)).value;
  return (
    <article class="full" aria-busy={answer.loading}>
      <h1>Network</h1>
      <div class="controls"><FileChoice label="Network" name="network" kind="network" value={network} /></div>
      {workspace.value && !filesOf("network").length && <p>This folder has no network yet: put a BIF, XDSL, NET, XMLBIF, DSC or UAI file into it, or learn one by <code>bayeswise network learn</code>.</p>}
      {answer.problem && <ProblemNote problem={answer.problem} />}
      {answer.value && answer.value.network === network && <Asked key={answer.value.network} network={answer.value} onEdited={() => reread.value++} />}
    </article>
  );
}

function Asked({ network, onEdited }: { network: Network; onEdited: () => void }) {
  const findings = findingsOf();
  const target = query.value.get("node");
  const known = network.nodes.some((node) => node.name === target) ? target : null;
  const asked = {
    network: network.network, evidence: findings.evidence, soft: completed(findings.soft, network), target: known, state: null,
    excluded: Object.fromEntries(Object.entries(findings.excluded).map(([node, states]) => [node, [...states]])),
  };
  const { value, problem, loading } = useResource(JSON.stringify([asked, network.version]), (control) => post("/api/network/query", asked, {}, control)).value;
  const nothing = !Object.keys(findings.evidence).length && !Object.keys(findings.excluded).length && !Object.keys(findings.soft).length;
  return (
    <>
      <p class="quiet">Click a state to observe it, again to retract it; shift-click to exclude it; drag its bar for a likelihood. Click a name for its table.</p>
      <p class="remedies">
        <button type="button" disabled={nothing} onClick={() => write({ evidence: {}, excluded: {}, soft: {} })}>retract all</button>
        <span role="status">{value && (nothing ? "Nothing is observed." : `P(findings) = ${compact(value.probability)}`)}</span>
      </p>
      {problem && <ProblemNote problem={problem} />}
      <div class={loading ? "stale" : undefined}>
        <BeliefGraph network={network} beliefs={value?.beliefs ?? null} findings={findings} separated={new Set(known ? value?.separated ?? [] : [])} selected={known}
          onSelect={(node) => go(urlOf(path.value, { ...kept(), ...encoded(findings), node: node === known ? null : node }), { replace: true })}
          onState={(node, state, how) => write(toggled(findings, node, state, how))} onSoft={(node, state, likelihood) => write(softened(findings, node, state, likelihood))} />
      </div>
      {known && <NodePanel key={`${known} ${network.version}`} network={network} node={known} beliefs={value} onEdited={onEdited} />}
      <SameAsBox same={value?.same_as ?? network.same_as} />
    </>
  );
}

function NodePanel({ network, node, beliefs, onEdited }: { network: Network; node: string; beliefs: Beliefs | null; onEdited: () => void }) {
  const { value, problem } = useResource(`${network.network} ${node}`, (control) => get("/api/network/table", { network: network.network, node }, control)).value;
  const worth = Object.entries(beliefs?.worth ?? {}).filter(([, bits]) => bits > 0).sort(([, a], [, b]) => b - a);
  return (
    <div class="results">
      <section aria-label={`Table of ${node}`}>
        <h2>{node}</h2>
        {problem && <ProblemNote problem={problem} />}
        {value && <EditableTable network={network} table={value} onEdited={onEdited} />}
      </section>
      {worth.length > 0 && (
        <section aria-label="What an observation would tell">
          <h2>What an observation would tell about {node}</h2>
          <table class="numbers">
            <thead><tr><th scope="col">node</th><th scope="col" class="number">worth</th></tr></thead>
            <tbody>{worth.slice(0, 12).map(([name, bits]) => <tr key={name}><th scope="row">{name}</th><td class="number">{compact(bits)}</td></tr>)}</tbody>
          </table>
          <p class="quiet">Dim nodes are separated from {node} by what is observed: they tell nothing more.</p>
        </section>
      )}
    </div>
  );
}

/** A table of probabilities: rows that do not sum to 1 are shown, and can be normalised. */
function EditableTable({ network, table, onEdited }: { network: Network; table: Schemas["TableView"]; onEdited: () => void }) {
  const rows = useMemo(() => signal(table.rows.map((row) => [...row])), [table]);
  const wrong = useMemo(() => signal<Problem | null>(null), [table]);
  const sums = rows.value.map((row) => row.reduce((sum, value) => sum + value, 0));
  const off = sums.map((sum) => Math.abs(sum - 1) > 1e-9);
  const changed = JSON.stringify(rows.value) !== JSON.stringify(table.rows);
  const set = (row: number, state: number, value: number) => (rows.value = rows.value.map((each, at) => (at === row ? each.map((old, place) => (place === state ? value : old)) : each)));
  const normalise = () => (rows.value = rows.value.map((row, at) => (off[at] && sums[at]! > 0 ? row.map((value) => value / sums[at]!) : row)));
  const save = async () => {
    try {
      const edits = [{ change: "set-table" as const, node: table.node, rows: rows.value, normalise: false }];
      await post("/api/network/edit", { network: network.network, edits, output: network.network, version: network.version });
      onEdited();
    } catch (error) {
      wrong.value = problemOf(error);
    }
  };
  return (
    <>
      <div class="wide">
        <table class="numbers">
          <thead><tr>{table.parents.map((parent) => <th key={parent} scope="col">{parent}</th>)}{table.states.map((state) => <th key={state} scope="col" class="number">{state}</th>)}<th scope="col" /></tr></thead>
          <tbody>
            {rows.value.slice(0, 200).map((row, at) => (
              <tr key={at} class={off[at] ? "off" : undefined}>
                {(table.configurations[at] ?? []).map((state, place) => <th key={place} scope="row">{state}</th>)}
                {row.map((value, state) => (
                  <td key={state} class="number">
                    <input class="probability" aria-label={`P(${table.node} = ${table.states[state]}), row ${at + 1}`} type="number" min={0} max={1} step="any" value={value}
                      onChange={(event) => set(at, state, Number(event.currentTarget.value))} />
                  </td>
                ))}
                <td>{off[at] ? `sums to ${compact(sums[at]!)}` : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.value.length > 200 && <p class="quiet">{rows.value.length - 200} more rows.</p>}
      {wrong.value && <ProblemNote problem={wrong.value} />}
      <p class="remedies">
        <button type="button" disabled={!off.some(Boolean)} onClick={normalise}>normalise</button>
        <button type="button" disabled={!changed} onClick={() => (rows.value = table.rows.map((row) => [...row]))}>undo changes</button>
        <button type="button" disabled={!changed || off.some(Boolean)} onClick={() => void save()}>save to {network.network}</button>
      </p>
    </>
  );
}

// -- findings in the URL: evidence=node:state, excluded=node:state, soft=node:state:likelihood; colons are encoded ---

function toggled(findings: Findings, node: string, state: string, how: "observe" | "exclude"): Findings {
  const without = dropped(findings, node);
  if (how === "observe") return findings.evidence[node] === state ? without : { ...without, evidence: { ...without.evidence, [node]: state } };
  const excluded = new Set(findings.excluded[node] ?? []);
  if (!excluded.delete(state)) excluded.add(state);
  return excluded.size ? { ...without, excluded: { ...without.excluded, [node]: [...excluded] } } : without;
}

/** A likelihood for each state: 1 where none was chosen. */
function completed(soft: Findings["soft"], network: Network): Record<string, Record<string, number>> {
  const states = new Map(network.nodes.map((node) => [node.name, node.states]));
  return Object.fromEntries(Object.entries(soft).map(([node, chosen]) => [node, Object.fromEntries((states.get(node) ?? []).map((state) => [state, chosen[state] ?? 1]))]));
}

function softened(findings: Findings, node: string, state: string, likelihood: number): Findings {
  const soft = { ...(findings.soft[node] ?? {}), [state]: likelihood };
  const without = dropped(findings, node);
  return { ...without, soft: { ...without.soft, [node]: soft } };
}

/** The findings without those of a node. */
function dropped({ evidence, excluded, soft }: Findings, node: string): Findings {
  const less = <T,>(from: Readonly<Record<string, T>>) => Object.fromEntries(Object.entries(from).filter(([name]) => name !== node));
  return { evidence: less(evidence), excluded: less(excluded), soft: less(soft) };
}

function findingsOf(): Findings {
  const read = (name: string) => query.value.getAll(name).map((text) => text.split(":").map(decodeURIComponent));
  const evidence = Object.fromEntries(read("evidence").map(([node, state]) => [node!, state ?? ""]));
  const excluded: Record<string, string[]> = {};
  for (const [node, state] of read("excluded")) (excluded[node!] ??= []).push(state ?? "");
  const soft: Record<string, Record<string, number>> = {};
  for (const [node, state, likelihood] of read("soft")) (soft[node!] ??= {})[state ?? ""] = Number(likelihood);
  return { evidence, excluded, soft };
}

function encoded({ evidence, excluded, soft }: Findings): Record<string, string[]> {
  const joined = (...words: (string | number)[]) => words.map((word) => encodeURIComponent(word)).join(":");
  return {
    evidence: Object.entries(evidence).map(([node, state]) => joined(node, state)),
    excluded: Object.entries(excluded).flatMap(([node, states]) => states.map((state) => joined(node, state))),
    soft: Object.entries(soft).flatMap(([node, states]) => Object.entries(states).map(([state, likelihood]) => joined(node, state, likelihood))),
  };
}

function kept(): Record<string, string> {
  return Object.fromEntries([...query.value].filter(([name]) => !["evidence", "excluded", "soft"].includes(name)));
}

function write(findings: Findings): void {
  go(urlOf(path.value, { ...kept(), ...encoded(findings) }), { replace: true });
}
