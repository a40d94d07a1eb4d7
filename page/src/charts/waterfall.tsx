// Prior (or a row of means) x what each column says = posterior, as steps of log-odds from the first to the posterior.
import { scaleLinear } from "d3-scale";
import { useRef } from "preact/hooks";
import type { Schemas } from "../api/client";
import { ChartWithTable } from "../components/chart_with_table";
import { compact, signed } from "../numbers";
import { shortened, useNarrow } from "./width";

type View = Schemas["ExplainView"];

const ROW = 30;

interface Step {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly total: boolean; // the first and the posterior start at 0
}

export function Waterfall({ view }: { view: View }) {
  const frame = useRef<HTMLDivElement>(null);
  const narrow = useNarrow(frame);
  const [WIDTH, LEFT, RIGHT] = narrow ? [360, 138, 46] : [720, 230, 70];
  const steps = stepsOf(view);
  if (!steps) return <p class="quiet">A probability of 0 or 1 has no finite log-odds; the table below shows which value decides it.</p>;
  const ends = steps.flatMap((step) => [step.from, step.to]);
  const x = scaleLinear().domain([Math.min(0, ...ends), Math.max(0, ...ends)]).nice().range([LEFT, WIDTH - RIGHT]);
  const height = steps.length * ROW + 44;
  const twin = {
    caption: `Log-odds of ${view.state} against ${view.against}`,
    head: ["step", "log-odds", "factor of the odds"],
    rows: steps.map((step) => [step.name, (step.to - step.from).toFixed(4), compact(Math.exp(step.to - step.from))]),
  };
  return (
    <ChartWithTable twin={twin}>
      <div class="drawing" ref={frame}><svg class="plane waterfall" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`Log-odds of ${view.state} against ${view.against}, column by column`}>
        <line class="best-edge" x1={x(0)} x2={x(0)} y1={0} y2={height - 40} />
        {steps.map((step, place) => {
          const [low, high] = [Math.min(step.from, step.to), Math.max(step.from, step.to)];
          const y = place * ROW;
          return (
            <g key={place}>
              <text class={step.total ? "total" : undefined} x={LEFT - 10} y={y + 20} text-anchor="end">{shortened(step.name, narrow ? 19 : 30)}<title>{step.name}</title></text>
              <rect class={step.total ? "state-5" : step.to >= step.from ? "state-0" : "state-1"} x={x(low)} y={y + 6} width={Math.max(1, x(high) - x(low))} height={ROW - 12} />
              <text x={x(high) + 6} y={y + 20}>{signed(step.to - step.from)}</text>
              {place + 1 < steps.length && <line class="best-edge" x1={x(step.to)} x2={x(step.to)} y1={y + ROW - 6} y2={y + ROW + 6} />}
            </g>
          );
        })}
        <g class="axis" aria-hidden="true">
          {x.ticks(narrow ? 3 : 6).map((tick) => <text key={tick} x={x(tick)} y={height - 24} text-anchor="middle">{compact(tick)}</text>)}
          <text x={narrow ? WIDTH / 2 : (LEFT + WIDTH - RIGHT) / 2} y={height - 4} text-anchor="middle">log-odds: {shortened(view.against)} ← 0 → {shortened(view.state)}</text>
        </g>
      </svg></div>
    </ChartWithTable>
  );
}

function stepsOf(view: View): Step[] | null {
  if (view.log_prior_odds === null || view.log_odds === null || view.parts.some((part) => part.weight === null)) return null;
  let at = view.log_prior_odds;
  const parts = view.parts.filter((part) => part.weight !== 0).sort((a, b) => Math.abs(b.weight!) - Math.abs(a.weight!));
  const steps = parts.map((part) => {
    const from = at;
    at += part.weight!;
    return { name: `${part.column} = ${part.value ?? "missing"}`, from, to: at, total: false };
  });
  return [{ name: view.start, from: 0, to: view.log_prior_odds, total: true }, ...steps, { name: "posterior", from: 0, to: view.log_odds, total: true }];
}
