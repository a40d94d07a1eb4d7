// Which action is best at which probability: regions on an axis, edges that can be dragged, and how many rows lie where.
import { scaleLinear } from "d3-scale";
import { useRef } from "preact/hooks";
import { ChartWithTable } from "../components/chart_with_table";
import type { Rows } from "../decide/outcome";
import type { Piece } from "../decide/thresholds";
import { count } from "../numbers";
import { useNarrow } from "./width";

const [TOP, STRIP, BOTTOM, SIDE, BINS] = [110, 34, 46, 14, 50];
const HEIGHT = TOP + STRIP + BOTTOM;

interface Props {
  readonly rows: Rows;
  readonly pieces: readonly Piece[];
  readonly colourOf: (action: string) => number;
  readonly onMove: (edge: number, p: number) => void;
}

export function ThresholdAxis({ rows, pieces, colourOf, onMove }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const WIDTH = useNarrow(frame) ? 360 : 720;
  const [other, state] = rows.states as [string, string];
  const bins = binned(rows);
  const x = scaleLinear().domain([0, 1]).range([SIDE, WIDTH - SIDE]);
  const y = scaleLinear().domain([0, Math.max(1, ...bins.map(([a, b]) => a + b))]).range([0, TOP - 8]);
  const edges = pieces.slice(1).map((piece) => piece.low);
  const drag = (edge: number) => (event: PointerEvent) => {
    if (event.buttons !== 1) return;
    const box = (event.currentTarget as Element).closest("svg")!.getBoundingClientRect();
    move(edge, x.invert(((event.clientX - box.left) * WIDTH) / box.width));
  };
  const move = (edge: number, p: number) => onMove(edge, Math.min((edges[edge + 1] ?? 1) - 0.002, Math.max((edges[edge - 1] ?? 0) + 0.002, p)));
  const twin = {
    caption: `Actions by P(${state})`,
    head: ["action", "from", "to"],
    rows: pieces.map((piece) => [piece.action, piece.low.toFixed(4), piece.high.toFixed(4)]),
  };
  return (
    <ChartWithTable twin={twin}>
      <ul class="classes small" aria-label="True states of the rows above the axis">
        <li><i class="mark state-5" aria-hidden="true" />rows of {other}</li>
        <li><i class="mark picture-second" aria-hidden="true" />rows of {state}</li>
      </ul>
      <div class="drawing" ref={frame}><svg class="plane threshold" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label={`Actions by the probability of ${state}`}>
        {bins.map(([a, b], bin) => {
          const [left, wide] = [x(bin / BINS), x(1 / BINS) - x(0) - 1];
          return (
            <g key={bin}>
              <rect class="state-5" x={left} width={wide} y={TOP - y(a)} height={y(a)}><title>{`${count(a)} rows of ${other}`}</title></rect>
              <rect class="picture-second" x={left} width={wide} y={TOP - y(a) - y(b)} height={y(b)}><title>{`${count(b)} rows of ${state}`}</title></rect>
            </g>
          );
        })}
        {pieces.map((piece) => (
          <g key={piece.action}>
            <rect class={`state-${colourOf(piece.action)}`} x={x(piece.low)} y={TOP} width={x(piece.high) - x(piece.low)} height={STRIP} />
            {x(piece.high) - x(piece.low) > 9 * piece.action.length + 8 && (
              <text class="on-colour" x={(x(piece.low) + x(piece.high)) / 2} y={TOP + 22} text-anchor="middle">{piece.action}</text>
            )}
          </g>
        ))}
        {edges.map((p, edge) => (
          <g key={edge} class="edge" tabindex={0} role="slider" aria-label={`Edge between ${pieces[edge]!.action} and ${pieces[edge + 1]!.action}`}
            aria-valuemin={0} aria-valuemax={1} aria-valuenow={Number(p.toFixed(4))}
            onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)} onPointerMove={drag(edge)}
            onKeyDown={(event) => {
              const step = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1 }[event.key];
              if (step === undefined) return;
              event.preventDefault();
              move(edge, p + step);
            }}>
            <rect class="grip" x={x(p) - 11} y={TOP - 12} width={22} height={STRIP + 24} />
            <line class="hand-edge" x1={x(p)} x2={x(p)} y1={TOP - 8} y2={TOP + STRIP + 8} />
            <path class="handle" d={`M${x(p)},${TOP + STRIP + 4}l6,7l-6,7l-6,-7z`} />
            <text x={Math.min(WIDTH - 30, Math.max(30, x(p)))} y={TOP + STRIP + 32} text-anchor="middle">{p.toFixed(3)}</text>
          </g>
        ))}
        <g class="axis" aria-hidden="true">
          <text x={SIDE} y={HEIGHT - 2}>P({state}) = 0</text>
          <text x={WIDTH - SIDE} y={HEIGHT - 2} text-anchor="end">1</text>
        </g>
      </svg></div>
    </ChartWithTable>
  );
}

const kept = new WeakMap<Rows, [number, number][]>(); // the rows do not change while an edge is dragged

/** Weight of the rows in each bin of P(second state): of the first state or unknown, of the second. */
function binned(rows: Rows): [number, number][] {
  let bins = kept.get(rows);
  if (!bins) {
    bins = Array.from({ length: BINS }, () => [0, 0]);
    for (let row = 0; row < rows.n; row++) {
      const bin = Math.min(BINS - 1, Math.floor(rows.posterior[2 * row + 1]! * BINS));
      bins[bin]![rows.truth[row] === 1 ? 1 : 0] += rows.weights[row]!;
    }
    kept.set(rows, bins);
  }
  return bins;
}
