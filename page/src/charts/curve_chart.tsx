// Lines over one axis, with their names beside them and as a table.
import { line } from "d3-shape";
import type { Schemas } from "../api/client";
import { ChartWithTable } from "../components/chart_with_table";
import { compact } from "../numbers";
import { Plane } from "./plane";

const MOST_ROWS = 25; // of the table; the picture has all points

interface Props {
  readonly name: string;
  readonly across: string;
  readonly up: string;
  readonly x: readonly number[];
  readonly lines: Schemas["CurveView"]["lines"];
  readonly span?: readonly [number, number]; // of the vertical axis
  readonly at?: number; // a place on the horizontal axis that is marked
  readonly onDrag?: (x: number) => void;
}

export function CurveChart({ name, across, up, x, lines, span, at, onDrag }: Props) {
  const names = Object.keys(lines);
  const all = Object.values(lines).flat().filter((value) => value !== null);
  const [low, high] = span ?? [Math.min(0, ...all), Math.max(...all)];
  const rows = x.map((_, place) => place).filter((place) => x.length <= MOST_ROWS || place % Math.ceil(x.length / MOST_ROWS) === 0 || place === x.length - 1);
  const twin = {
    caption: name,
    head: [across, ...names],
    rows: rows.map((place) => [compact(x[place]!), ...names.map((each) => shown(lines[each]![place]))]),
  };
  return (
    <ChartWithTable twin={twin}>
      <ul class="classes small" aria-hidden="true">
        {names.map((each, place) => (
          <li key={each}><svg class="key" width="28" height="10"><path class={strokeOf(place)} d="M0,5H28" /></svg>{each}</li>
        ))}
      </ul>
      <Plane name={name} x={[x[0] ?? 0, x.at(-1) ?? 1]} y={[low, high === low ? low + 1 : high]} across={across} up={up} {...(onDrag && { onDrag: (value: number) => onDrag(value) })}>
        {(scales) => (
          <>
            {low < 0 && high > 0 && <line class="best-edge" x1={scales.x(x[0]!)} x2={scales.x(x.at(-1)!)} y1={scales.y(0)} y2={scales.y(0)} />}
            {names.map((each, place) => (
              <path key={each} class={strokeOf(place)} d={line<number>()
                .defined((value) => inside(lines[each]![value], low, high))
                .x((value) => scales.x(x[value]!)).y((value) => scales.y(lines[each]![value]!))(x.map((_, value) => value)) ?? ""} />
            ))}
            {at !== undefined && <line class="hand-edge" x1={scales.x(at)} x2={scales.x(at)} y1={scales.y(low)} y2={scales.y(high)} />}
          </>
        )}
      </Plane>
    </ChartWithTable>
  );
}

function inside(value: number | null | undefined, low: number, high: number): boolean {
  return value != null && value >= low && value <= high;
}

function strokeOf(place: number): string {
  return ["curve stroke-0", "curve stroke-1 dashed", "curve stroke-5 dotted", "curve stroke-5"][place] ?? "curve stroke-5";
}

function shown(value: number | null | undefined): string {
  return value == null ? "" : compact(value);
}
