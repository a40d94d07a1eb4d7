// Where the nodes and edges of a graph are drawn: layers from causes to effects; nodes without an edge in rows below.
import { Graph, layout } from "@dagrejs/dagre";
import { curveBasis, line } from "d3-shape";

export interface GraphNode {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly outline?: "oval" | "diamond"; // none: a rectangle
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: Readonly<Record<string, Box>>;
  readonly paths: readonly string[]; // one for each edge
}

type Point = { readonly x: number; readonly y: number };

const [BESIDE, BELOW, MARGIN] = [26, 48, 14];
const HEAD = 11; // of an arrow
export const OVAL = 38; // the height of the oval on top of a chance node
const curve = line<Point>((point) => point.x, (point) => point.y).curve(curveBasis);

export function placesOf(nodes: readonly GraphNode[], edges: readonly (readonly [string, string])[], room: number): Placed {
  const joined = new Set(edges.flat());
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: BESIDE, ranksep: BELOW, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name, width, height } of nodes) if (joined.has(name)) graph.setNode(name, { width, height });
  for (const [parent, child] of edges) graph.setEdge(parent, child);
  layout(graph);
  const found: Record<string, Box> = {};
  for (const name of graph.nodes()) {
    const { x, y, width, height } = graph.node(name) as Box;
    found[name] = { x: x - width / 2, y: y - height / 2, width, height };
  }
  const outlines = new Map(nodes.map(({ name, outline }) => [name, outline]));
  const paths = edges.map(([parent, child]) => {
    const { points } = graph.edge(parent, child) as { points: Point[] };
    const start = onOutline(points[0]!, found[parent]!, outlines.get(parent));
    const end = onOutline(points.at(-1)!, found[child]!, outlines.get(child));
    return curve([start, ...points.slice(1, -1), before(end, points.at(-2)!)]) ?? "";
  });
  const whole = graph.graph() as { width: number; height: number };
  const drawn = joined.size ? { width: whole.width, height: whole.height } : { width: 0, height: 0 };
  return { ...rowsBelow(nodes.filter(({ name }) => !joined.has(name)), drawn, Math.max(drawn.width, room), found), nodes: found, paths };
}

/** Nodes that no edge touches, in rows as wide as there is room. */
function rowsBelow(nodes: readonly GraphNode[], drawn: { width: number; height: number }, room: number, found: Record<string, Box>): { width: number; height: number } {
  let [x, y, width, tallest, row, first] = [MARGIN, drawn.height ? drawn.height + BESIDE : MARGIN, drawn.width, 0, 0, true];
  for (const node of nodes) {
    if (!first && x + node.width + MARGIN > room) {
      row++;
      const shift = (row % 2) * (node.width + BESIDE) / 2; // a line to the next row but one meets no node between
      [x, y, tallest] = [MARGIN + (shift + node.width + 2 * MARGIN > room ? 0 : shift), y + tallest + BELOW, 0];
    }
    first = false;
    found[node.name] = { x, y, width: node.width, height: node.height };
    x += node.width + BESIDE;
    tallest = Math.max(tallest, node.height);
    width = Math.max(width, x - BESIDE + MARGIN);
  }
  return { width: Math.ceil(width), height: Math.ceil(nodes.length ? y + tallest + MARGIN : drawn.height) };
}

interface Bow {
  readonly path: string;
  readonly middle: Point;
}

/** A line between the borders of two nodes, bent a little: the edge the other way round is another line. */
export function between(from: Box, to: Box | Point, bend = 0.12): Bow {
  const start = centre(from);
  const end = "width" in to ? centre(to) : to;
  const aim = { x: (start.x + end.x) / 2 - bend * (end.y - start.y), y: (start.y + end.y) / 2 + bend * (end.x - start.x) };
  const a = border(from, aim);
  const b = before("width" in to ? border(to, aim) : end, aim);
  const middle = { x: (a.x + 2 * aim.x + b.x) / 4, y: (a.y + 2 * aim.y + b.y) / 4 };
  return { path: `M${a.x.toFixed(1)},${a.y.toFixed(1)}Q${aim.x.toFixed(1)},${aim.y.toFixed(1)} ${b.x.toFixed(1)},${b.y.toFixed(1)}`, middle };
}

/** Short of a point by the head of an arrow. */
function before(end: Point, from: Point): Point {
  const far = Math.hypot(end.x - from.x, end.y - from.y);
  const share = far > HEAD ? HEAD / far : 0;
  return { x: end.x + (from.x - end.x) * share, y: end.y + (from.y - end.y) * share };
}

/** The point of an outline at a point of the rectangle around it. */
function onOutline(point: Point, box: Box, outline: GraphNode["outline"]): Point {
  const middle = centre(box);
  if (outline === "oval" && Math.abs(point.y - box.y) < 1) {
    const [across, along] = [OVAL / 2, (point.x - middle.x) / (box.width / 2)];
    return { x: point.x, y: box.y + across - across * Math.sqrt(Math.max(0, 1 - along ** 2)) };
  }
  if (outline === "diamond") {
    const [dx, dy] = [point.x - middle.x, point.y - middle.y];
    const scale = 1 / Math.max(1e-9, Math.abs(dx) / (box.width / 2) + Math.abs(dy) / (box.height / 2));
    return { x: middle.x + dx * scale, y: middle.y + dy * scale };
  }
  return point;
}

function centre({ x, y, width, height }: Box): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

function border(box: Box, towards: Point): Point {
  const middle = centre(box);
  const [dx, dy] = [towards.x - middle.x, towards.y - middle.y];
  const scale = Math.min(box.width / 2 / Math.max(Math.abs(dx), 1e-9), box.height / 2 / Math.max(Math.abs(dy), 1e-9), 1);
  return { x: middle.x + dx * scale, y: middle.y + dy * scale };
}
