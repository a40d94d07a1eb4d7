// A plane with two axes to draw on: names at the axes, ticks, and where the pointer drags.
import { signal } from "@preact/signals";
import { scaleLinear, type ScaleLinear } from "d3-scale";
import type { ComponentChildren } from "preact";
import { compact } from "../numbers";

const WIDTH = 640;
const NARROW = 400; // on a small screen, so that the words stay legible
const small = window.matchMedia("(max-width: 34rem)");
const narrow = signal(small.matches);
small.addEventListener("change", () => (narrow.value = small.matches));
const SIDE = { top: 16, right: 16, bottom: 48, left: 64 };

export interface Scales {
  readonly x: ScaleLinear<number, number>;
  readonly y: ScaleLinear<number, number>;
}

interface Props {
  readonly name: string;
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly across: string;
  readonly up: string;
  readonly height?: number;
  readonly onDrag?: (x: number, y: number) => void;
  readonly children: (scales: Scales) => ComponentChildren;
}

export function Plane({ name, x, y, across, up, height = 320, onDrag, children }: Props) {
  const width = narrow.value ? NARROW : WIDTH;
  const scales = {
    x: scaleLinear().domain(x).range([SIDE.left, width - SIDE.right]),
    y: scaleLinear().domain(y).range([height - SIDE.bottom, SIDE.top]),
  };
  const drag = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    const scale = width / box.width;
    const inside = (value: number, [low, high]: readonly [number, number]) => Math.min(high, Math.max(low, value));
    onDrag?.(inside(scales.x.invert((event.clientX - box.left) * scale), x), inside(scales.y.invert((event.clientY - box.top) * scale), y));
  };
  const start = (event: PointerEvent) => {
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    drag(event);
  };
  const bottom = height - SIDE.bottom;
  return (
    <svg class={onDrag ? "plane draggable" : "plane"} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={name}
      onPointerDown={onDrag && start} onPointerMove={onDrag && ((event) => event.buttons === 1 && drag(event))}>
      {children(scales)}
      <g class="axis" aria-hidden="true">
        <path d={`M${SIDE.left},${SIDE.top}V${bottom}H${width - SIDE.right}`} />
        {scales.x.ticks(narrow.value ? 5 : 8).map((tick) => <text key={tick} x={scales.x(tick)} y={bottom + 18} text-anchor="middle">{compact(tick)}</text>)}
        {scales.y.ticks(4).map((tick) => <text key={tick} x={SIDE.left - 6} y={scales.y(tick) + 4} text-anchor="end">{compact(tick)}</text>)}
        <text class="axis-name" x={(SIDE.left + width - SIDE.right) / 2} y={height - 8} text-anchor="middle">{across}</text>
        <text class="axis-name" transform={`translate(12 ${(SIDE.top + bottom) / 2}) rotate(-90)`} text-anchor="middle">{up}</text>
      </g>
    </svg>
  );
}

/** `n` places from low to high, both included. */
export function places([low, high]: readonly [number, number], n: number): number[] {
  return Array.from({ length: n }, (_, place) => low + ((high - low) * place) / (n - 1));
}
