// What was promised against what was seen: a point with its 95 % interval for each bin, and how many rows it has.
import type { Schemas } from "../api/client";
import { ChartWithTable } from "../components/chart_with_table";
import { count } from "../numbers";
import { Plane } from "./plane";

const RUG = 0.16; // height below the square that counts take, in units of the axis

export function ReliabilityChart({ view }: { view: Schemas["ReliabilityView"] }) {
  const most = Math.max(1, ...view.count);
  const places = view.predicted.map((_, place) => place).filter((place) => view.count[place]! > 0);
  const outside = (place: number) => view.predicted[place]! < view.low[place]! || view.predicted[place]! > view.high[place]!;
  const twin = {
    caption: `Promised and observed shares of ${view.state}`,
    head: ["promised", "observed", "95 % from", "to", "rows"],
    rows: places.map((place) => [view.predicted[place]!.toFixed(3), view.observed[place]!.toFixed(3), view.low[place]!.toFixed(3), view.high[place]!.toFixed(3), count(view.count[place]!)]),
  };
  return (
    <ChartWithTable twin={twin}>
      <ul class="classes small" aria-hidden="true">
        <li><svg class="key" width="12" height="12"><circle class="state-0" cx="6" cy="6" r="5" /></svg>as promised: within the interval</li>
        <li><svg class="key" width="12" height="12"><path class="state-1" d="M6,0l6,6l-6,6l-6,-6z" /></svg>outside the interval</li>
      </ul>
      <Plane name={`Reliability of P(${view.state})`} x={[0, 1]} y={[-RUG, 1]} across={`promised P(${view.state})`} up={`observed share of ${view.state}`} height={420}>
        {({ x, y }) => (
          <>
            <line class="best-edge" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
            <line class="ground" x1={x(0)} x2={x(1)} y1={y(0)} y2={y(0)} />
            {places.map((place) => {
              const [p, seen] = [x(view.predicted[place]!), y(view.observed[place]!)];
              const tall = ((y(-RUG) - y(0)) * 0.85 * view.count[place]!) / most;
              return (
                <g key={place}>
                  <title>{`promised ${view.predicted[place]!.toFixed(3)}, observed ${view.observed[place]!.toFixed(3)} (${view.low[place]!.toFixed(3)} to ${view.high[place]!.toFixed(3)}) in ${count(view.count[place]!)} rows`}</title>
                  <rect class="state-5" x={p - 4} width={8} y={y(-RUG) - tall} height={tall} />
                  <line class={outside(place) ? "curve stroke-1" : "curve stroke-0"} x1={p} x2={p} y1={y(view.low[place]!)} y2={y(view.high[place]!)} />
                  {outside(place) ? <path class="state-1" d={`M${p},${seen - 7}l7,7l-7,7l-7,-7z`} /> : <circle class="state-0" cx={p} cy={seen} r={5} />}
                </g>
              );
            })}
            <text class="rug" x={x(1)} y={y(0) + 14} text-anchor="end">rows in each bin</text>
          </>
        )}
      </Plane>
    </ChartWithTable>
  );
}
