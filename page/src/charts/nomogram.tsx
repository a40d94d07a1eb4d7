// Points for every value of every column: drag a marker along its line and the case changes.
import { scaleLinear } from "d3-scale";
import { useRef } from "preact/hooks";
import type { Schemas } from "../api/client";
import { ChartWithTable } from "../components/chart_with_table";
import { compact } from "../numbers";
import { shortened, useNarrow } from "./width";

type View = Schemas["NomogramView"];
type Line = View["lines"][number];

const ROW = 44;
const MISSING = "?";

export function Nomogram({ view, onChoose }: { view: View; onChoose: (column: string, value: string | null) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const narrow = useNarrow(frame);
  const [WIDTH, LEFT, RIGHT] = narrow ? [360, 92, 18] : [720, 150, 20];
  const x = scaleLinear().domain([0, Math.max(1, ...view.lines.flatMap((line) => line.points))]).range([LEFT, WIDTH - RIGHT]);
  const height = view.lines.length * ROW + 30;
  const twin = {
    caption: "Points of each value",
    head: ["column", "value", "points"],
    rows: view.lines.flatMap((line) => line.values.map((value, at) => [line.column, value, line.points[at]!.toFixed(1)])),
  };
  const pick = (line: Line, at: number) => onChoose(line.column, line.values[at] === MISSING ? null : line.values[at]!);
  const nearest = (line: Line, event: PointerEvent) => {
    const box = (event.currentTarget as Element).closest("svg")!.getBoundingClientRect();
    const points = x.invert(((event.clientX - box.left) * WIDTH) / box.width);
    const at = line.points.reduce((best, value, place) => (Math.abs(value - points) < Math.abs(line.points[best]! - points) ? place : best), 0);
    if (at !== line.current) pick(line, at);
  };
  return (
    <ChartWithTable twin={twin}>
      <div class="drawing" ref={frame}><svg class="plane nomogram" viewBox={`0 0 ${WIDTH} ${height}`} role="group" aria-label="Nomogram">
        {view.lines.map((line, place) => {
          const y = place * ROW + 26;
          const order = line.points.map((_, at) => at).sort((a, b) => line.points[a]! - line.points[b]!);
          const ends = [x(line.points[order[0]!]!), x(line.points[order.at(-1)!]!)] as const;
          const step = (by: number) => {
            const next = order[order.indexOf(line.current ?? order[0]!) + by];
            if (next !== undefined) pick(line, next);
          };
          return (
            <g key={line.column}>
              <text x={LEFT - 12} y={y + 4} text-anchor="end">{shortened(line.column, narrow ? 11 : 18)}</text>
              <line class="nomogram-line" x1={ends[0]} x2={ends[1]} y1={y} y2={y} />
              {labelled(order, line, x).map((at) => (
                <g key={at}>
                  <line class="nomogram-line" x1={x(line.points[at]!)} x2={x(line.points[at]!)} y1={y - 4} y2={y + 4} />
                  <text class="tick" x={x(line.points[at]!)} y={y - 8} text-anchor="middle">{shortened(line.values[at]!, 10)}</text>
                </g>
              ))}
              <rect class="grip" x={ends[0] - 8} width={ends[1] - ends[0] + 16} y={y - 10} height={20}
                onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); nearest(line, event); }}
                onPointerMove={(event) => event.buttons === 1 && nearest(line, event)} />
              {line.current !== null && (
                <circle class="marker" cx={x(line.points[line.current]!)} cy={y} r={6} tabindex={0} role="slider" aria-label={`Value of ${line.column}`}
                  aria-valuemin={0} aria-valuemax={100} aria-valuenow={Number(line.points[line.current]!.toFixed(1))} aria-valuetext={line.values[line.current]!}
                  onKeyDown={(event) => {
                    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
                    if (by === undefined) return;
                    event.preventDefault();
                    step(by);
                  }} />
              )}
            </g>
          );
        })}
        <g class="axis" aria-hidden="true">
          {x.ticks(narrow ? 3 : 6).map((tick) => <text key={tick} x={x(tick)} y={height - 14} text-anchor="middle">{compact(tick)}</text>)}
          <text x={LEFT - 12} y={height - 14} text-anchor="end">points</text>
        </g>
      </svg></div>
    </ChartWithTable>
  );
}

/** The values whose names fit beside each other. */
function labelled(order: readonly number[], line: Line, x: (points: number) => number): number[] {
  let free = -Infinity;
  return order.filter((at) => {
    const half = 4 * Math.min(10, line.values[at]!.length) + 4;
    const place = x(line.points[at]!);
    if (place - half < free) return false;
    free = place + half;
    return true;
  });
}
