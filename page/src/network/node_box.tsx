// A node with its states: belief bars that are clicked for evidence, shift-clicked to exclude a state, dragged for a likelihood.
import { useRef } from "preact/hooks";
import { shortened } from "../charts/width";
import { OVAL, type GraphNode } from "./layout";

export type Shape = "box" | "oval" | "rectangle" | "diamond";

const [WIDE, HEAD, STATE, PAD, NAME] = [178, 26, 18, 6, 74];
const [SHAPED, DIAMOND] = [OVAL, 80];
const MOST_STATES = 12; // more are counted, not drawn

/** How much room a node takes. */
export function sizeOf(name: string, states: number, shape: Shape = "box"): GraphNode {
  if (shape === "diamond") return { name, width: WIDE, height: DIAMOND, outline: "diamond" };
  const drawn = Math.min(states, MOST_STATES) + Number(states > MOST_STATES);
  const height = (shape === "box" ? HEAD : SHAPED) + drawn * STATE + (drawn || shape !== "box" ? PAD : 8);
  return { name, width: WIDE, height, ...(shape === "oval" ? { outline: "oval" } : {}) };
}

interface StateLook {
  readonly belief?: number | null;
  readonly shown?: string; // a number beside the bar that is not the belief
  readonly observed?: boolean;
  readonly excluded?: boolean;
  readonly soft?: number | null;
}

interface Props {
  readonly name: string;
  readonly states: readonly string[];
  readonly height: number;
  readonly shape?: Shape;
  readonly looks?: readonly string[]; // observed, set, separated
  readonly selected?: boolean;
  readonly value?: string; // below the name of a utility
  readonly stateLook?: (state: string, at: number) => StateLook;
  readonly onSelect?: ((name: string) => void) | undefined;
  readonly onState?: (name: string, state: string, how: "observe" | "exclude") => void;
  readonly onSoft?: (name: string, state: string, likelihood: number) => void;
}

export function NodeBox({ name, states, height, shape = "box", looks = [], selected = false, value, stateLook, onSelect, onState, onSoft }: Props) {
  const head = shape === "box" ? HEAD : SHAPED;
  const title = (y: number, most: number) => <text class="total" x={WIDE / 2} y={y} text-anchor="middle">{shortened(name, most)}<title>{name}</title></text>;
  const label = shape === "diamond" ? title(value === undefined ? 45 : 41, 17) : title(shape === "box" ? 18 : 24, shape === "oval" ? 19 : 22);
  return (
    <g class={["node", shape, ...looks, selected && "selected"].filter(Boolean).join(" ")}>
      <Outline shape={shape} height={height} />
      {onSelect ? (
        <g class="node-name" tabindex={0} role="button" aria-label={`Node ${spoken(name, 22)}`} aria-pressed={selected} onClick={() => onSelect(name)} onKeyDown={pressed(() => onSelect(name))}>
          <rect class="grip" width={WIDE} height={shape === "diamond" ? DIAMOND : head} />
          {label}
        </g>
      ) : label}
      {value !== undefined && <text class="tick" x={WIDE / 2} y={58} text-anchor="middle">{value}</text>}
      {shape !== "diamond" && states.slice(0, MOST_STATES).map((state, at) => (
        <State key={state} node={name} state={state} y={head + at * STATE} look={stateLook?.(state, at) ?? {}} onState={onState} onSoft={onSoft} />
      ))}
      {shape !== "diamond" && states.length > MOST_STATES && <text class="tick" x={PAD} y={height - 8}>and {states.length - MOST_STATES} more states</text>}
    </g>
  );
}

function Outline({ shape, height }: { shape: Shape; height: number }) {
  if (shape === "box") return <rect class="node-box" width={WIDE} height={height} rx={7} />;
  if (shape === "diamond") return <path class="node-box node-head" d={`M${WIDE / 2},0L${WIDE},${DIAMOND / 2}L${WIDE / 2},${DIAMOND}L0,${DIAMOND / 2}z`} />;
  return (
    <>
      <rect class="node-box" y={SHAPED / 2} width={WIDE} height={height - SHAPED / 2} rx={shape === "oval" ? 10 : 0} />
      {shape === "oval" ? <ellipse class="node-box node-head" cx={WIDE / 2} cy={SHAPED / 2} rx={WIDE / 2} ry={SHAPED / 2 - 1} /> : <rect class="node-box node-head" width={WIDE} height={SHAPED - 2} />}
    </>
  );
}

interface StateProps extends Pick<Props, "onState" | "onSoft"> {
  readonly node: string;
  readonly state: string;
  readonly y: number;
  readonly look: StateLook;
}

function State({ node, state, y, look: { belief = null, shown, observed = false, excluded = false, soft = null }, onState, onSoft }: StateProps) {
  const [left, room] = [NAME + PAD, WIDE - NAME - 3 * PAD - 34];
  const start = useRef<{ x: number; y: number } | null>(null); // where the pointer went down; a move to the side makes it a drag
  const dragged = useRef(false);
  const word = <text class="tick" x={onState ? NAME : PAD + 4} y={y + 13} text-anchor={onState ? "end" : "start"}>{shortened(state, onState ? 11 : 24)}<title>{state}</title></text>;
  if (!onState) return word;
  const likelihood = (event: PointerEvent) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform((event.currentTarget as SVGGraphicsElement).getScreenCTM()!.inverse());
    return rounded((point.x - left) / room);
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -0.05, ArrowRight: 0.05 }[event.key];
    if (step !== undefined && onSoft) onSoft(node, state, rounded((soft ?? 1) + step));
    else if (event.key === "Enter" || event.key === " ") onState(node, state, event.shiftKey ? "exclude" : "observe");
    else return;
    event.preventDefault();
  };
  return (
    <g class={excluded ? "state-row excluded" : "state-row"} tabindex={0} role="checkbox" aria-checked={observed ? "true" : excluded || soft !== null ? "mixed" : "false"} aria-label={`${node} is ${state}`} onKeyDown={key}
      onPointerDown={(event) => { start.current = { x: event.clientX, y: event.clientY }; dragged.current = false; event.currentTarget.setPointerCapture(event.pointerId); }}
      onTouchMove={(event) => dragged.current && event.preventDefault()} // a finger that drags does not scroll
      onPointerCancel={() => (start.current = null)}
      onPointerMove={(event) => {
        if (!onSoft || event.buttons !== 1 || start.current === null) return;
        const [across, down] = [Math.abs(event.clientX - start.current.x), Math.abs(event.clientY - start.current.y)];
        if (!dragged.current && (across < 5 || across < down)) return;
        dragged.current = true;
        onSoft(node, state, likelihood(event));
      }}
      onPointerUp={(event) => {
        if (!dragged.current && start.current !== null) onState(node, state, event.shiftKey ? "exclude" : "observe");
        start.current = null;
      }}>
      <rect class="grip" x={0} y={y} width={WIDE} height={STATE} />
      {word}
      <rect class="belief-track" x={left} y={y + 4} width={room} height={STATE - 7} rx={1.5} />
      {belief !== null && <rect class={observed ? "belief state-1" : "belief state-0"} x={left} y={y + 4} width={room * belief} height={STATE - 7} rx={1.5} />}
      {soft !== null && <line class="hand-edge" x1={left + room * soft} x2={left + room * soft} y1={y + 1} y2={y + STATE - 1}><title>{`likelihood ${soft}`}</title></line>}
      <text class="tick" x={WIDE - PAD} y={y + 13} text-anchor="end">{shown ?? (belief === null ? "" : shownBelief(belief))}</text>
    </g>
  );
}

/** A name as it is drawn, and whole where that is cut: what is seen must be part of what is said. */
function spoken(name: string, most: number): string {
  const drawn = shortened(name, most);
  return drawn === name ? name : `${drawn}: ${name}`;
}

function rounded(likelihood: number): number {
  return Math.min(1, Math.max(0.01, Number(likelihood.toFixed(2))));
}

/** Tiny but not zero is 0+. */
export function shownBelief(belief: number): string {
  if (belief > 0 && belief < 0.0005) return "0+";
  return belief < 1 && belief > 0.9995 ? "1−" : belief.toFixed(3);
}

function pressed(act: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  };
}
