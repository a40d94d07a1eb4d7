// A network as a graph whose nodes show their beliefs: click a state for evidence, shift-click to exclude it, drag for a likelihood.
import { Graph, layout } from "@dagrejs/dagre";
import { useMemo, useRef } from "preact/hooks";
import type { Schemas } from "../api/client";
import { shortened } from "./waterfall";

type Network = Schemas["NetworkView"];

const [WIDE, HEAD, STATE, PAD, NAME] = [178, 24, 17, 6, 74];
const MOST_STATES = 12; // more are counted, not drawn

export interface Findings {
  readonly evidence: Readonly<Record<string, string>>;
  readonly excluded: Readonly<Record<string, readonly string[]>>;
  readonly soft: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

interface Props {
  readonly network: Network;
  readonly beliefs: Readonly<Record<string, readonly number[]>> | null;
  readonly findings: Findings;
  readonly separated: ReadonlySet<string>;
  readonly selected: string | null;
  readonly onSelect: (node: string) => void;
  readonly onState: (node: string, state: string, how: "observe" | "exclude") => void;
  readonly onSoft: (node: string, state: string, likelihood: number) => void;
}

export function BeliefGraph({ network, beliefs, findings, separated, selected, onSelect, onState, onSoft }: Props) {
  const placed = useMemo(() => placesOf(network), [network]);
  return (
    <div class="graph" tabIndex={0} role="region" aria-label="Network, scrolls">
      <svg class="plane graph-plane" viewBox={`0 0 ${placed.width} ${placed.height}`} width={placed.width} height={placed.height} role="group" aria-label={`${network.nodes.length} nodes, ${network.edges.length} edges`}>
        <defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerUnits="userSpaceOnUse" markerWidth="11" markerHeight="11" orient="auto-start-reverse"><path class="arrow" d="M0,0L10,5L0,10z" /></marker></defs>
        {network.edges.map(([parent, child], at) => (
          <path key={`${parent}/${child}`} class="arc" d={placed.paths[at]} stroke-width={1 + 4 * (network.influence[at] ?? 0)} marker-end="url(#arrow)">
            <title>{`${parent} → ${child}: influence ${(network.influence[at] ?? 0).toFixed(3)}`}</title>
          </path>
        ))}
        {network.nodes.map((node) => {
          const at = placed.nodes[node.name]!;
          const observed = findings.evidence[node.name];
          const look = ["node", observed !== undefined && "observed", separated.has(node.name) && "separated", node.name === selected && "selected"].filter(Boolean).join(" ");
          return (
            <g key={node.name} class={look} transform={`translate(${at.x} ${at.y})`}>
              <rect class="node-box" width={WIDE} height={at.height} rx={6} />
              <g class="node-name" tabindex={0} role="button" aria-label={`Node ${node.name}`} aria-pressed={node.name === selected} onClick={() => onSelect(node.name)} onKeyDown={pressed(() => onSelect(node.name))}>
                <rect class="grip" width={WIDE} height={HEAD} />
                <text class="total" x={WIDE / 2} y={17} text-anchor="middle">{shortened(node.name, 22)}<title>{node.name}</title></text>
              </g>
              {node.states.slice(0, MOST_STATES).map((state, place) => (
                <State key={state} node={node.name} state={state} y={HEAD + place * STATE} belief={beliefs?.[node.name]?.[place] ?? null} observed={observed === state}
                  excluded={findings.excluded[node.name]?.includes(state) ?? false} soft={findings.soft[node.name]?.[state] ?? null} onState={onState} onSoft={onSoft} />
              ))}
              {node.states.length > MOST_STATES && <text class="tick" x={PAD} y={at.height - 6}>and {node.states.length - MOST_STATES} more states</text>}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

interface StateProps extends Pick<Props, "onState" | "onSoft"> {
  readonly node: string;
  readonly state: string;
  readonly y: number;
  readonly belief: number | null;
  readonly observed: boolean;
  readonly excluded: boolean;
  readonly soft: number | null;
}

function State({ node, state, y, belief, observed, excluded, soft, onState, onSoft }: StateProps) {
  const [left, room] = [NAME + PAD, WIDE - NAME - 3 * PAD - 34];
  const start = useRef<number | null>(null); // where the pointer went down; a move makes it a drag
  const dragged = useRef(false);
  const likelihood = (event: PointerEvent) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform((event.currentTarget as SVGGraphicsElement).getScreenCTM()!.inverse());
    return Math.min(1, Math.max(0.01, Number(((point.x - left) / room).toFixed(2))));
  };
  return (
    <g class={excluded ? "state-row excluded" : "state-row"} tabindex={0} role="checkbox" aria-checked={observed} aria-label={`${node} is ${state}`}
      onKeyDown={pressed((event) => onState(node, state, event.shiftKey ? "exclude" : "observe"))}
      onPointerDown={(event) => { start.current = event.clientX; dragged.current = false; event.currentTarget.setPointerCapture(event.pointerId); }}
      onPointerMove={(event) => {
        if (event.buttons !== 1 || start.current === null || (!dragged.current && Math.abs(event.clientX - start.current) < 5)) return;
        dragged.current = true;
        onSoft(node, state, likelihood(event));
      }}
      onPointerUp={(event) => {
        if (!dragged.current) onState(node, state, event.shiftKey ? "exclude" : "observe");
        start.current = null;
      }}>
      <rect class="grip" x={0} y={y} width={WIDE} height={STATE} />
      <text class="tick" x={NAME} y={y + 12} text-anchor="end">{shortened(state, 11)}<title>{state}</title></text>
      <rect class="belief-track" x={left} y={y + 3} width={room} height={STATE - 6} />
      {belief !== null && <rect class={observed ? "belief state-1" : "belief state-0"} x={left} y={y + 3} width={room * belief} height={STATE - 6} />}
      {soft !== null && <line class="hand-edge" x1={left + room * soft} x2={left + room * soft} y1={y + 1} y2={y + STATE - 1}><title>{`likelihood ${soft}`}</title></line>}
      <text class="tick" x={WIDE - PAD} y={y + 12} text-anchor="end">{belief === null ? "" : shownBelief(belief)}</text>
    </g>
  );
}

/** Tiny but not zero is 0+. */
function shownBelief(belief: number): string {
  if (belief > 0 && belief < 0.0005) return "0+";
  return belief < 1 && belief > 0.9995 ? "1−" : belief.toFixed(3);
}

function pressed(act: (event: KeyboardEvent) => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act(event);
  };
}

interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: Readonly<Record<string, { x: number; y: number; height: number }>>;
  readonly paths: readonly string[];
}

function placesOf(network: Network): Placed {
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 44, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of network.nodes) {
    const drawn = Math.min(node.states.length, MOST_STATES) + Number(node.states.length > MOST_STATES);
    graph.setNode(node.name, { width: WIDE, height: HEAD + drawn * STATE + PAD });
  }
  for (const [parent, child] of network.edges) graph.setEdge(parent, child);
  layout(graph);
  const nodes = Object.fromEntries(network.nodes.map(({ name }) => {
    const { x, y, width, height } = graph.node(name) as { x: number; y: number; width: number; height: number };
    return [name, { x: x - width / 2, y: y - height / 2, height }];
  }));
  const paths = network.edges.map(([parent, child]) => {
    const { points } = graph.edge(parent, child) as { points: { x: number; y: number }[] };
    return `M${points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}`;
  });
  const { width, height } = graph.graph() as { width: number; height: number };
  return { width: Math.ceil(width), height: Math.ceil(height), nodes, paths };
}
