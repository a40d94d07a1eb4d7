// The belief about a coin after each toss: prior, likelihood and posterior are curves of one family.
import { line } from "d3-shape";
import { places, Plane } from "../charts/plane";
import { ChartWithTable } from "../components/chart_with_table";
import { SameAsBox } from "../components/same_as";
import { Slider } from "../components/slider";
import { compact } from "../numbers";
import { betaDensity } from "./distributions";
import { useNumbers } from "./numbers_in_url";
import { python } from "./same_as";

const DEFAULTS = { a: 2, b: 2, heads: 0, tails: 0 };
const SHARES = places([0.0025, 0.9975], 300);

export function Coin() {
  const { now, change, reset } = useNumbers(DEFAULTS);
  const [a, b] = [now.a + now.heads, now.b + now.tails];
  const mean = a / (a + b);
  const spread = Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)));
  const prior = SHARES.map((share) => betaDensity(share, now.a, now.b));
  const posterior = SHARES.map((share) => betaDensity(share, a, b));
  const tall = Math.min(40, 1.1 * Math.max(...prior.filter(Number.isFinite), ...posterior));
  const twin = {
    caption: "Belief about the share of heads",
    head: ["", "a", "b", "mean"],
    rows: [["prior", now.a, now.b, compact(now.a / (now.a + now.b))], ["posterior", a, b, compact(mean)]],
  };
  const toss = (heads: number, tails: number) => change({ heads: now.heads + heads, tails: now.tails + tails });
  return (
    <div class="lesson">
      <div class="sliders">
        <Slider label="Prior a (heads before the first toss)" value={now.a} least={0.1} most={50} step={0.1} onChange={(value) => change({ a: value })} />
        <Slider label="Prior b (tails before the first toss)" value={now.b} least={0.1} most={50} step={0.1} onChange={(value) => change({ b: value })} />
        <p class="remedies">
          <button type="button" onClick={() => toss(1, 0)}>heads</button>
          <button type="button" onClick={() => toss(0, 1)}>tails</button>
          <button type="button" onClick={() => toss(7, 3)}>7 heads, 3 tails</button>
          <button type="button" disabled={now.heads + now.tails === 0} onClick={() => change({ heads: 0, tails: 0 })}>forget all tosses</button>
          <button type="button" onClick={reset}>reset</button>
        </p>
      </div>
      <ChartWithTable twin={twin}>
        <Plane name="Prior and posterior of the share of heads" x={[0, 1]} y={[0, tall]} across="share of heads" up="density">
          {({ x, y }) => {
            const curve = (heights: readonly number[]) => line<number>().x((_, at) => x(SHARES[at]!)).y((height) => y(Math.min(tall, height)))([...heights]) ?? "";
            return (
              <>
                <path class="curve stroke-5 dashed" d={curve(prior)} />
                <path class="curve stroke-0" d={curve(posterior)} />
                <line class="hand-edge" x1={x(mean)} x2={x(mean)} y1={y(0)} y2={y(tall)} />
              </>
            );
          }}
        </Plane>
      </ChartWithTable>
      <p role="status">
        {now.heads} heads, {now.tails} tails: the posterior is Beta({compact(a)}, {compact(b)}), mean <b>{mean.toFixed(4)}</b>, standard deviation {spread.toFixed(4)}.
        {now.heads + now.tails > 0 && ` The maximum likelihood is ${(now.heads / (now.heads + now.tails)).toFixed(4)}.`}
      </p>
      <SameAsBox same={{
        shell: now.heads + now.tails ? `bayeswise beliefs beta:successes=${now.a},failures=${now.b} --data${" 1".repeat(now.heads)}${" 0".repeat(now.tails)}` : "",
        python: python(`print(bw.families.BetaPrior(successes=${now.a} + ${now.heads}, failures=${now.b} + ${now.tails}))`),
      }} />
    </div>
  );
}
