// Laplace smoothing: from counts to shares that leave nothing impossible.
import { scaleLinear } from "d3-scale";
import { useRef } from "preact/hooks";
import { useNarrow } from "../charts/width";
import { ChartWithTable } from "../components/chart_with_table";
import { SameAsBox } from "../components/same_as";
import { Slider } from "../components/slider";
import { useNumbers } from "./numbers_in_url";

const DEFAULTS = { alpha: 0, sunny: 3, overcast: 0, rain: 2 };
const LEVELS = ["sunny", "overcast", "rain"] as const;
const [BAR, LEFT] = [34, 90];

export function Smoothing() {
  const { now, change, reset } = useNumbers(DEFAULTS);
  const total = LEVELS.reduce((sum, level) => sum + now[level], 0);
  const share = (level: (typeof LEVELS)[number], alpha: number) => (now[level] + alpha) / (total + alpha * LEVELS.length);
  const undefinedShares = total + now.alpha === 0;
  const frame = useRef<HTMLDivElement>(null);
  const WIDTH = useNarrow(frame) ? 360 : 640;
  const x = scaleLinear().domain([0, 1]).range([LEFT, WIDTH - (WIDTH > 360 ? 120 : 60)]);
  const twin = {
    caption: "Share of each level in the class",
    head: ["level", "count", "counted share", "smoothed share"],
    rows: LEVELS.map((level) => [level, now[level], total ? share(level, 0).toFixed(4) : "–", undefinedShares ? "–" : share(level, now.alpha).toFixed(4)]),
  };
  return (
    <div class="lesson">
      <div class="sliders">
        <Slider label="Smoothing α" value={now.alpha} least={0} most={10} step={0.1} onChange={(alpha) => change({ alpha })} />
        {LEVELS.map((level, at) => <Slider key={level} label={`Rows with ${level}`} state={at} value={now[level]} least={0} most={20} step={1} onChange={(value) => change({ [level]: value })} />)}
        <p class="remedies"><button type="button" onClick={reset}>reset</button></p>
      </div>
      <ChartWithTable twin={twin}>
        <div class="drawing" ref={frame}><svg class="plane" viewBox={`0 0 ${WIDTH} ${LEVELS.length * BAR + 8}`} role="img" aria-label="Counted and smoothed shares">
          {!undefinedShares && LEVELS.map((level, at) => (
            <g key={level} transform={`translate(0 ${at * BAR})`}>
              <text x={LEFT - 8} y={22} text-anchor="end">{level}</text>
              <rect class={`state-${at}`} x={LEFT} y={6} height={22} width={x(share(level, now.alpha)) - LEFT} />
              {total > 0 && <line class="hand-edge" x1={x(share(level, 0))} x2={x(share(level, 0))} y1={3} y2={31} />}
              <text x={x(share(level, now.alpha)) + 8} y={22}>{share(level, now.alpha).toFixed(4)}</text>
            </g>
          ))}
        </svg></div>
      </ChartWithTable>
      <p role="status">
        {undefinedShares ? "No rows and no smoothing: the shares are undefined." : (
          <>P(overcast) = ({now.overcast} + {now.alpha}) / ({total} + {now.alpha} · {LEVELS.length}) = <b>{share("overcast", now.alpha).toFixed(4)}</b>.{" "}
          {share("overcast", now.alpha) === 0 ? "One level that was never seen makes every posterior of this class 0." : "The lines mark the counted shares; α pulls all of them towards 1/3."}</>
        )}
      </p>
      <SameAsBox same={{
        shell: now.alpha && total ? `bayeswise beliefs dirichlet:${LEVELS.map((level) => `${level}=${now.alpha}`).join(",")} --data${LEVELS.map((level) => ` ${level}`.repeat(now[level])).join("")}` : "",
        python: undefinedShares ? "" : `print((${now.overcast} + ${now.alpha}) / (${total} + ${now.alpha} * ${LEVELS.length}))`,
      }} />
    </div>
  );
}
