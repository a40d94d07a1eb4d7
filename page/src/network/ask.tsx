// Ask a network: belief bars in the nodes, what is observed in the URL, and about a node its table and the reasons for its beliefs.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { get, post, type Problem, type Schemas } from "../api/client";
import { problemOf, useResource } from "../api/resource";
import { Choice } from "../components/choice";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { TypedInput } from "../components/typed_input";
import { compact } from "../numbers";
import { change, query } from "../router";
import { findingsOf, intervene, isNothing, likelihoods, parts, retractAll, soften, toggle, type Findings } from "./findings";
import { GraphPlane, type GraphEdge } from "./graph_plane";
import { NodeBox, sizeOf } from "./node_box";
import { ProbabilityTable } from "./probability_table";
import { Effect, Why } from "./why";

type Network = Schemas["NetworkView"];
type Beliefs = Schemas["BeliefsView"];

export function AskView({ network, onEdited }: { network: Network; onEdited: () => void }) {
  const names = useMemo(() => new Map(network.nodes.map((node) => [node.name, node.states])), [network]);
  const findings = findingsOf(new Set(names.keys()));
  const chosen = query.value.get("node");
  const target = chosen !== null && names.has(chosen) ? chosen : null;
  const state = query.value.get("state");
  const request = {
    network: network.network, evidence: findings.evidence, soft: likelihoods(findings.soft, names), do: findings.set, target,
    state: target !== null && state !== null && names.get(target)!.includes(state) ? state : null,
    excluded: Object.fromEntries(Object.entries(findings.excluded).map(([node, states]) => [node, [...states]])),
  };
  const { value, problem, loading } = useResource(JSON.stringify([request, network.version]), (control) => post("/api/network/query", request, {}, control)).value;
  const nothing = isNothing(findings);
  const separated = new Set(target ? value?.separated ?? [] : []);
  return (
    <>
      <p class="quiet">Click a state to observe it, again to retract it; shift-click to exclude it; drag its bar, or press ← →, for a likelihood. Click a name for its table and an explanation.</p>
      <p class="remedies">
        <button type="button" disabled={nothing} onClick={retractAll}>retract all</button>
        <span role="status">{value && statusOf(findings, nothing, value)}</span>
      </p>
      {problem && <ProblemNote problem={problem} />}
      <div class={loading ? "stale" : undefined}>
        <GraphPlane label="Network" chosen={target} nodes={network.nodes.map(({ name, states }) => sizeOf(name, states.length))} edges={edgesOf(network, findings, target ? value : null)}
          drawNode={(name, at) => (
            <NodeBox name={name} states={names.get(name)!} height={at.height} selected={name === target} looks={looksOf(name, findings, separated)}
              stateLook={(each, place) => ({
                belief: value?.beliefs[name]?.[place] ?? null, observed: findings.evidence[name] === each || findings.set[name] === each,
                excluded: findings.excluded[name]?.includes(each) ?? false, soft: findings.soft[name]?.[each] ?? null,
              })}
              onSelect={select} onState={toggle} onSoft={soften} />
          )} />
      </div>
      {value?.conflict && <Conflict conflict={value.conflict} />}
      {target && <NodePanel key={`${target} ${network.version}`} network={network} node={target} findings={findings} beliefs={value} onEdited={onEdited} />}
      <SameAsBox same={value?.same_as ?? network.same_as} />
    </>
  );
}

/** Choose a node; read from the URL when it happens, since clicks come faster than pictures. */
function select(node: string): void {
  change({ node: query.value.get("node") === node ? null : node, state: null, path: null, cause: null });
}

function statusOf(findings: Findings, nothing: boolean, value: Beliefs): string {
  if (nothing) return "Nothing is observed.";
  const set = Object.entries(findings.set).map(([node, state]) => `${node} is set to ${state}`);
  const seen = Object.keys(findings.evidence).length + Object.keys(findings.excluded).length + Object.keys(findings.soft).length;
  return [...set, ...(seen ? [`P(findings) = ${compact(value.probability)}`] : [])].join(" · ");
}

function looksOf(name: string, { evidence, set }: Findings, separated: ReadonlySet<string>): string[] {
  return [...(name in evidence ? ["observed"] : []), ...(name in set ? ["set"] : []), ...(separated.has(name) ? ["separated"] : [])];
}

/** Edges as wide as they matter; those on the paths of findings to the target as wide as the bits that pass. */
function edgesOf(network: Network, findings: Findings, beliefs: Beliefs | null): GraphEdge[] {
  const only = query.value.get("path");
  const paths = (beliefs?.paths ?? []).filter((path) => only === null || parts(only).join("\n") === path.nodes.join("\n"));
  const passed = new Map<string, number>();
  for (const { nodes, bits } of paths) {
    for (let at = 1; at < nodes.length; at++) {
      for (const key of [[nodes[at - 1], nodes[at]].join("\n"), [nodes[at], nodes[at - 1]].join("\n")]) passed.set(key, Math.max(passed.get(key) ?? 0, bits));
    }
  }
  const most = Math.max(1e-12, ...(beliefs?.paths ?? []).map((path) => path.bits));
  return network.edges.map(([parent, child], at) => {
    const influence = network.influence[at] ?? 0;
    const bits = passed.get(`${parent}\n${child}`);
    const edge = { parent, child, width: 1 + 4 * influence, title: `${parent} → ${child}: influence ${influence.toFixed(3)}` };
    if (child in findings.set) return { ...edge, width: 1, look: "cut", title: `${parent} → ${child}: cut by the intervention on ${child}` };
    return bits === undefined ? edge : { ...edge, width: 2 + 6 * Math.sqrt(bits / most), look: "path", title: `${parent} → ${child}: up to ${compact(bits)} bits pass` };
  });
}

function Conflict({ conflict: { bits, explained_by } }: { conflict: NonNullable<Beliefs["conflict"]> }) {
  if (bits <= 0) return <p class="quiet">The findings agree: together they are {compact(2 ** -bits)} times as likely as if they were independent.</p>;
  return (
    <div class="note" role="note">
      <p>The findings conflict by {compact(bits)} bits: together they are {compact(2 ** -bits)} times as likely as if they were independent.</p>
      {explained_by.length > 0 && <p class="quiet">It may be a rare case: {explained_by.map(({ node, state }) => `${node} = ${state}`).join(" or ")} would explain them.</p>}
    </div>
  );
}

interface PanelProps {
  readonly network: Network;
  readonly node: string;
  readonly findings: Findings;
  readonly beliefs: Beliefs | null;
  readonly onEdited: () => void;
}

function NodePanel({ network, node, findings, beliefs, onEdited }: PanelProps) {
  const { value, problem } = useResource(`${network.network} ${node}`, (control) => get("/api/network/table", { network: network.network, node }, control)).value;
  const wrong = useMemo(() => signal<Problem | null>(null), []);
  const states = network.nodes.find(({ name }) => name === node)?.states ?? [];
  const save = async (rows: number[][]) => {
    try {
      const edits = [{ change: "set-table" as const, node, rows, normalise: false }];
      await post("/api/network/edit", { network: network.network, edits, output: network.network, version: network.version });
      onEdited();
    } catch (error) {
      wrong.value = problemOf(error);
    }
  };
  return (
    <div class="results even">
      <section aria-label={`Table of ${node}`}>
        <h2>{node}</h2>
        {problem && <ProblemNote problem={problem} />}
        {value && <ProbabilityTable table={value} action={`save to ${network.network}`} onUse={(rows) => void save(rows)} />}
        {wrong.value && <ProblemNote problem={wrong.value} />}
        <div class="controls">
          <Choice label="Intervene" value={findings.set[node] ?? null} options={states} wordsOf={(state) => `do(${node} = ${state})`} none="no intervention" onChoose={(state) => intervene(node, state)} />
        </div>
        <fieldset class="modes">
          <legend>Likelihood of an observation, given each state</legend>
          {states.map((state) => (
            <label key={state}>{state} <TypedInput class="probability" type="number" min={0} max={1} step="any" aria-label={`Likelihood of ${state}`} value={findings.soft[node]?.[state] ?? 1}
              onTyped={(text) => soften(node, state, Math.min(1, Math.max(0, Number(text) || 0)))} /></label>
          ))}
        </fieldset>
      </section>
      {beliefs && beliefs.findings.length > 0 && <Why node={node} states={states} beliefs={beliefs} />}
      <Worth node={node} beliefs={beliefs} />
      <Effect network={network} effect={node} />
    </div>
  );
}

function Worth({ node, beliefs }: { node: string; beliefs: Beliefs | null }) {
  const worth = Object.entries(beliefs?.worth ?? {}).filter(([, bits]) => bits > 0).sort(([, a], [, b]) => b - a);
  if (!worth.length) return null;
  const most = worth[0]![1];
  return (
    <section aria-label="Value of an observation">
      <h2>Information gained about {node} by observing another node</h2>
      <table class="numbers measured">
        <thead><tr><th scope="col">node</th><th scope="col" class="number">bits</th><td /></tr></thead>
        <tbody>
          {worth.slice(0, 12).map(([name, bits]) => (
            <tr key={name}><th scope="row">{name}</th><td class="number">{compact(bits)}</td><td class="bar-cell"><span class="bar" style={{ width: `${(100 * bits) / most}%` }} /></td></tr>
          ))}
        </tbody>
      </table>
      {(beliefs?.separated.length ?? 0) > 0 && <p class="quiet">Dim nodes are d-separated from {node} by the observations: they add no information.</p>}
    </section>
  );
}
