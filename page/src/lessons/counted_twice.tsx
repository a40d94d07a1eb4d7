// Naive Bayes counts a copy of a feature as new evidence: the posterior runs away from the truth.
import { line } from "d3-shape";
import { places, Plane } from "../charts/plane";
import { ChartWithTable } from "../components/chart_with_table";
import { SameAsBox } from "../components/same_as";
import { Slider } from "../components/slider";
import { useNumbers } from "./numbers_in_url";
import { bayesRule } from "./same_as";

const DEFAULTS = { prior: 0.5, yes: 0.7, no: 0.4, copies: 3 };

export function CountedTwice() {
  const { now, change, reset } = useNumbers(DEFAULTS);
  const odds = (times: number, prior = now.prior) => (prior / (1 - prior)) * (now.yes / now.no) ** times;
  const probability = (times: number, prior = now.prior) => 1 / (1 + 1 / odds(times, prior));
  const truth = probability(1);
  const naive = probability(now.copies);
  const twin = {
    caption: "P(class | feature seen), by the number of identical copies",
    head: ["copies", "naive Bayes", "truth"],
    rows: Array.from({ length: 10 }, (_, at) => [at + 1, probability(at + 1).toFixed(4), truth.toFixed(4)]),
  };
  const shares = places([0.005, 0.995], 150);
  return (
    <div class="lesson">
      <div class="sliders">
        <Slider label="Prior" value={now.prior} least={0.01} most={0.99} step={0.01} onChange={(prior) => change({ prior })} />
        <Slider label="P(feature | class)" state={0} value={now.yes} least={0.01} most={0.99} step={0.01} onChange={(yes) => change({ yes })} />
        <Slider label="P(feature | other class)" state={1} value={now.no} least={0.01} most={0.99} step={0.01} onChange={(no) => change({ no })} />
        <Slider label="Identical columns" value={now.copies} least={1} most={10} step={1} onChange={(copies) => change({ copies })} />
        <p class="remedies"><button type="button" onClick={reset}>reset</button></p>
      </div>
      <ChartWithTable twin={twin}>
        <Plane name="What naive Bayes says against what is true" x={[0, 1]} y={[0, 1]} across="true probability" up="naive Bayes says" height={360}>
          {({ x, y }) => (
            <>
              <line class="best-edge" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
              <path class="curve stroke-0" d={line<number>().x((prior) => x(probability(1, prior))).y((prior) => y(probability(now.copies, prior)))(shares) ?? ""} />
              <line class="hand-edge" x1={x(truth)} x2={x(truth)} y1={y(truth)} y2={y(naive)} />
              <circle class="state-0 mean" cx={x(truth)} cy={y(naive)} r={6} />
              <circle class="state-5 mean" cx={x(truth)} cy={y(truth)} r={5} />
            </>
          )}
        </Plane>
      </ChartWithTable>
      <p role="status">
        True: <b>{truth.toFixed(4)}</b>. With {now.copies} identical {now.copies === 1 ? "column" : "columns"} naive Bayes says <b>{naive.toFixed(4)}</b>.
        {now.copies > 1 && ` The log-odds of the feature are counted ${now.copies} times; the most probable class may not change, but a threshold set by costs is crossed too early.`}
      </p>
      <SameAsBox same={bayesRule(["class", "other"], now.prior, "seen", [now.yes, now.no], now.copies)} />
    </div>
  );
}
