// The plane on which graphs are drawn: nodes, edges as wide as they matter, and new edges by a drag from node to node.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useWidth } from "../charts/width";
import { change, query } from "../router";
import { between, placesOf, type Box, type GraphNode, type Placed } from "./layout";

export interface GraphEdge {
  readonly parent: string;
  readonly child: string;
  readonly width: number;
  readonly title: string;
  readonly look?: "path" | "require" | "forbid" | "cut" | "weak"; // none: an edge of the graph
}

interface Props {
  readonly label: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly loose?: readonly GraphEdge[]; // drawn straight; they do not move the nodes
  readonly drawNode: (name: string, at: Box) => ComponentChildren;
  readonly onDraw?: (from: string, to: string) => void;
  readonly refuses?: (from: string, to: string) => boolean; // such an edge is shown as wrong while it is drawn
  readonly onEdge?: (edge: GraphEdge) => void;
  readonly onRemoveEdge?: (edge: GraphEdge) => void;
  readonly chosenEdge?: string | null; // as by edgeKey
  readonly chosen?: string | null; // a node that is brought into view
}

interface Drawing {
  readonly from: string;
  readonly x: number;
  readonly y: number;
  readonly over: string | null;
}

const LOOKS = ["plain", "path", "require", "forbid", "cut", "weak"] as const;
const SMALLEST = 0.85;
const largest = (room: number) => (room > 1500 ? 1.6 : 1.3);
const FAR = 5; // pixels that make a press a drag

export function edgeKey({ parent, child }: { parent: string; child: string }): string {
  return JSON.stringify([parent, child]);
}

export function GraphPlane({ label, nodes, edges, loose = [], drawNode, onDraw, refuses, onEdge, onRemoveEdge, chosenEdge, chosen = null }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const plane = useRef<SVGSVGElement>(null);
  const room = useWidth(frame);
  const drawing = useMemo(() => signal<Drawing | null>(null), []);
  const pressed = useRef<{ from: string; x: number; y: number } | null>(null);
  const form = JSON.stringify([nodes, edges.map(({ parent, child }) => [parent, child]), room]);
  const placed = useMemo(() => placesOf(nodes, edges.map(({ parent, child }) => [parent, child] as const), room), [form]);
  const scale = scaleOf(zoom(), room, placed);
  useLayoutEffect(() => {
    const box = chosen === null ? undefined : placed.nodes[chosen];
    if (frame.current && box) bringIntoView(frame.current, box, scale);
  }, [chosen, scale, placed]);

  const pointOf = (event: PointerEvent) => new DOMPoint(event.clientX, event.clientY).matrixTransform(plane.current!.getScreenCTM()!.inverse());
  const press = (event: PointerEvent, from: string, handle: boolean) => {
    if (!onDraw || event.button !== 0 || (!handle && event.pointerType !== "mouse")) return;
    pressed.current = { from, x: event.clientX, y: event.clientY };
    if (handle) event.preventDefault();
  };
  const drop = () => {
    pressed.current = null;
    drawing.value = null;
  };
  const move = (event: PointerEvent) => {
    if (event.buttons === 0) return drop();
    const start = pressed.current;
    if (!start || Math.hypot(event.clientX - start.x, event.clientY - start.y) < FAR && !drawing.value) return;
    if (!drawing.value) plane.current!.setPointerCapture(event.pointerId);
    const { x, y } = pointOf(event);
    drawing.value = { from: start.from, x, y, over: nodeAt(placed, x, y) };
  };
  const release = () => {
    const { from, over } = drawing.value ?? { from: null, over: null };
    pressed.current = null;
    drawing.value = null;
    if (from !== null && over !== null && over !== from) onDraw?.(from, over);
  };

  const drawn = drawing.value;
  const wrong = drawn?.over != null && drawn.over !== drawn.from && (refuses?.(drawn.from, drawn.over) ?? false);
  return (
    <>
      <ZoomButtons scale={scale} fits={placed.width * scale <= room + 1} />
      <div class="graph" ref={frame} tabIndex={0} role="region" aria-label={`${label}, scrolls`}>
        <svg ref={plane} class={drawn ? "plane graph-plane drawing" : "plane graph-plane"} viewBox={`0 0 ${placed.width} ${placed.height}`} width={placed.width * scale} height={placed.height * scale} role="group"
          aria-label={`${nodes.length} nodes, ${edges.length} edges`} onPointerMove={move} onPointerUp={release} onPointerCancel={drop}
          onLostPointerCapture={(event) => event.target === plane.current && drop()}>
          <defs>
            {LOOKS.map((look) => (
              [11, 18].map((wide) => (
                <marker key={wide} id={`arrow-${look}-${wide}`} viewBox="0 0 10 10" refX="0.5" refY="5" markerUnits="userSpaceOnUse" markerWidth="12" markerHeight={wide} preserveAspectRatio="none" orient="auto"><path class={`arrow ${look}`} d="M0,0L10,5L0,10z" /></marker>
              ))
            ))}
          </defs>
          {edges.map((edge, at) => <Arc key={edgeKey(edge)} edge={edge} d={placed.paths[at]!} chosen={chosenEdge === edgeKey(edge)} onEdge={onEdge} onRemove={onRemoveEdge} />)}
          {loose.filter(({ parent, child }) => placed.nodes[parent] && placed.nodes[child]).map((edge) => {
            const { path, middle } = between(placed.nodes[edge.parent]!, placed.nodes[edge.child]!);
            return (
              <g key={`${edge.look} ${edgeKey(edge)}`}>
                <Arc edge={edge} d={path} chosen={false} />
                {edge.look === "forbid" && <path class="cross" d={`M${middle.x - 5},${middle.y - 5}l10,10m0,-10l-10,10`} />}
              </g>
            );
          })}
          {nodes.map(({ name }) => {
            const at = placed.nodes[name]!;
            const over = drawn !== null && drawn.over === name && drawn.from !== name;
            return (
              <g key={name} class={over ? (wrong ? "over wrong" : "over") : undefined} transform={`translate(${at.x} ${at.y})`} onPointerDown={(event) => press(event, name, false)}>
                {drawNode(name, at)}
                {onDraw && ( // a touch here draws and does not scroll: touch-action does not hold within SVG
                  <g class="draw-handle" aria-hidden="true" onTouchStart={(event) => event.preventDefault()} onPointerDown={(event) => press(event, name, true)}>
                    <circle class="grip" cx={at.width / 2} cy={at.height} r={15} />
                    <circle class="draw-dot" cx={at.width / 2} cy={at.height} r={6}><title>{`Drag to another node to add an edge from ${name}`}</title></circle>
                  </g>
                )}
              </g>
            );
          })}
          {drawn && <path class={wrong ? "arc drawn wrong" : "arc drawn"} d={between(placed.nodes[drawn.from]!, drawn.over !== null && drawn.over !== drawn.from ? placed.nodes[drawn.over]! : drawn, 0).path} marker-end={`url(#arrow-${wrong ? "forbid" : "require"}-11)`} />}
        </svg>
      </div>
    </>
  );
}

function ZoomButtons({ scale, fits }: { scale: number; fits: boolean }) {
  const by = (factor: number) => set(String(Math.round(100 * Math.min(3, Math.max(0.15, scale * factor)))));
  const set = (value: string | null) => change({ zoom: value }, { replace: true });
  if (fits && zoom() === null) return null;
  return (
    <p class="zoom" role="group" aria-label="Zoom">
      <button type="button" class="small" aria-label="Smaller" onClick={() => by(0.8)}>−</button>
      <button type="button" class="small" aria-label="Larger" onClick={() => by(1.25)}>+</button>
      <button type="button" class="small" aria-pressed={zoom() === "whole"} onClick={() => set(zoom() === "whole" ? null : "whole")}>whole</button>
      <span class="quiet small">{(100 * scale).toFixed(0)} %</span>
    </p>
  );
}

/** What the URL says about the size of the graph: a percentage, whole, or nothing. */
function zoom(): string | null {
  const chosen = query.value.get("zoom");
  return chosen === "whole" || Number(chosen) > 0 ? chosen : null;
}

/** As wide as the room, but never too small to read; unless it is to be whole, or of a size. */
function scaleOf(chosen: string | null, room: number, placed: Placed): number {
  if (!room || !placed.width) return 1;
  if (chosen === "whole") return Math.max(0.1, Math.min(largest(room), room / placed.width, (0.75 * window.innerHeight) / placed.height));
  if (chosen !== null) return Math.min(3, Math.max(0.1, Number(chosen) / 100));
  return Math.min(largest(room), Math.max(SMALLEST, room / placed.width));
}

/** Scroll the graph, and not the page, if a node lies outside what is seen of it. */
function bringIntoView(frame: HTMLElement, { x, y, width, height }: Box, scale: number): void {
  const [left, top, right, bottom] = [x, y, x + width, y + height].map((edge) => edge * scale) as [number, number, number, number];
  if (left < frame.scrollLeft || right > frame.scrollLeft + frame.clientWidth) frame.scrollLeft = (left + right - frame.clientWidth) / 2;
  if (top < frame.scrollTop || bottom > frame.scrollTop + frame.clientHeight) frame.scrollTop = (top + bottom - frame.clientHeight) / 2;
}

interface ArcProps {
  readonly edge: GraphEdge;
  readonly d: string;
  readonly chosen: boolean;
  readonly onEdge?: ((edge: GraphEdge) => void) | undefined;
  readonly onRemove?: ((edge: GraphEdge) => void) | undefined;
}

function Arc({ edge, d, chosen, onEdge, onRemove }: ArcProps) {
  const look = edge.look ?? "plain";
  const path = <path class={`arc ${look}`} d={d} stroke-width={edge.width} marker-end={`url(#arrow-${look}-${edge.width > 4 ? 18 : 11})`}><title>{edge.title}</title></path>;
  if (!onEdge) return path;
  const key = (event: KeyboardEvent) => {
    if (event.key === "Delete" || event.key === "Backspace") onRemove?.(edge);
    else if (event.key === "Enter" || event.key === " ") onEdge(edge);
    else return;
    event.preventDefault();
  };
  return (
    <g class={chosen ? "edge-button chosen" : "edge-button"} tabindex={0} role="button" aria-pressed={chosen} aria-label={`Edge ${edge.parent} → ${edge.child}`} onClick={() => onEdge(edge)} onKeyDown={key}>
      <path class="arc-grip" d={d} />
      {path}
    </g>
  );
}

function nodeAt(placed: Placed, x: number, y: number): string | null {
  const found = Object.entries(placed.nodes).find(([, box]) => x >= box.x - 4 && x <= box.x + box.width + 4 && y >= box.y - 4 && y <= box.y + box.height + 8);
  return found?.[0] ?? null;
}
