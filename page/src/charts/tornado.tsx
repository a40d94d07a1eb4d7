// How far the expected utility moves as each entry of the tables moves within its range, the widest first.
import { scaleLinear } from "d3-scale";
import { useRef } from "preact/hooks";
import type { Schemas } from "../api/client";
import { ChartWithTable } from "../components/chart_with_table";
import { compact } from "../numbers";
import { shortened, useNarrow } from "./width";

const TOP = 8;

export function TornadoChart({ bars, utility, most = 12 }: { bars: Schemas["SolutionView"]["tornado"]; utility: number; most?: number }) {
  const frame = useRef<HTMLDivElement>(null);
  const narrow = useNarrow(frame); // a name stands above its bar, not beside it
  const [WIDTH, ROW, LEFT, RIGHT] = narrow ? [360, 40, 10, 10] : [760, 24, 340, 30];
  const down = narrow ? 18 : 0;
  const shown = bars.slice(0, most);
  const ends = bars.flatMap((bar) => [bar.utility_low, bar.utility_high, utility]);
  const x = scaleLinear().domain([Math.min(...ends), Math.max(...ends)]).nice().range([LEFT, WIDTH - RIGHT]);
  const height = TOP + shown.length * ROW + 30;
  const twin = {
    caption: "Expected utility as an entry moves by a tenth",
    head: ["entry", "value", "from", "to", "utility at the minimum", "utility at the maximum"],
    rows: bars.map((bar) => [bar.entry, ...[bar.value, bar.low, bar.high, bar.utility_low, bar.utility_high].map(compact)]),
  };
  return (
    <ChartWithTable twin={twin}>
      <div ref={frame}>
        <svg class="plane tornado" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`Tornado of the expected utility ${compact(utility)}: ${shown.length} entries`}>
          {shown.map((bar, at) => {
            const y = TOP + at * ROW;
            return (
              <g key={bar.entry}>
                <text x={narrow ? LEFT : LEFT - 10} y={y + 16} text-anchor={narrow ? "start" : "end"}>{shortened(bar.entry, 48)}<title>{bar.entry}</title></text>
                <Half from={utility} to={bar.utility_low} x={x} y={y + down} look="state-1" title={`at ${compact(bar.low)}: ${compact(bar.utility_low)}`} />
                <Half from={utility} to={bar.utility_high} x={x} y={y + down} look="state-0" title={`at ${compact(bar.high)}: ${compact(bar.utility_high)}`} />
              </g>
            );
          })}
          <line class="best-edge" x1={x(utility)} x2={x(utility)} y1={0} y2={height - 24} />
          <g class="axis">
            {x.ticks(narrow ? 4 : 6).map((tick) => <text key={tick} x={x(tick)} y={height - 6} text-anchor="middle">{compact(tick)}</text>)}
          </g>
        </svg>
      </div>
      <p class="quiet small"><span class="mark state-1" />entry at its minimum <span class="mark state-0" />entry at its maximum</p>
    </ChartWithTable>
  );
}

function Half({ from, to, x, y, look, title }: { from: number; to: number; x: (value: number) => number; y: number; look: string; title: string }) {
  const [a, b] = [x(from), x(to)].sort((left, right) => left - right) as [number, number];
  return <rect class={look} x={a} y={y + 4} width={Math.max(0, b - a)} height={16}><title>{title}</title></rect>;
}
