// Bayes' rule with natural frequencies: what a positive test says about 1,000 people.
import { ChartWithTable } from "../components/chart_with_table";
import { SameAsBox } from "../components/same_as";
import { Slider } from "../components/slider";
import { useNumbers } from "./numbers_in_url";
import { bayesRule } from "./same_as";

const DEFAULTS = { prior: 0.004, sensitivity: 0.8, false_positives: 0.1 };
const PEOPLE = 1000;
const ACROSS = 50;
const STEP = 12;

export function MedicalTest() {
  const { now, change, reset } = useNumbers(DEFAULTS);
  const joint = { ill: now.prior * now.sensitivity, well: (1 - now.prior) * now.false_positives };
  const evidence = joint.ill + joint.well;
  const posterior = evidence > 0 ? joint.ill / evidence : Number.NaN;
  const shares = [joint.ill, now.prior - joint.ill, joint.well, 1 - now.prior - joint.well];
  const names = ["ill and positive", "ill and negative", "well and positive", "well and negative"];
  const groups = wholeNumbers(shares, PEOPLE);
  const twin = { caption: `Of ${PEOPLE} people`, head: ["group", "people", "probability"], rows: names.map((name, at) => [name, groups[at]!, shares[at]!.toPrecision(4)]) };
  return (
    <div class="lesson">
      <div class="sliders">
        <Slider label="Prior: share who are ill" value={now.prior} least={0.001} most={0.999} step={0.001} onChange={(prior) => change({ prior })} />
        <Slider label="Sensitivity: P(positive | ill)" value={now.sensitivity} least={0} most={1} step={0.01} onChange={(sensitivity) => change({ sensitivity })} />
        <Slider label="False positives: P(positive | well)" value={now.false_positives} least={0} most={1} step={0.01} onChange={(false_positives) => change({ false_positives })} />
        <p class="remedies">
          <button type="button" onClick={reset}>disease test</button>
          <button type="button" onClick={() => change({ prior: 0.008, sensitivity: 0.98, false_positives: 0.03 })}>cancer test</button>
        </p>
      </div>
      <ChartWithTable twin={twin}>
        <svg class="people" viewBox={`0 0 ${ACROSS * STEP} ${(PEOPLE / ACROSS) * STEP}`} role="img" aria-label={names.map((name, at) => `${groups[at]} ${name}`).join(", ")}>
          {Array.from({ length: PEOPLE }, (_, person) => {
            const group = groupOf(person, groups);
            const [x, y] = [(person % ACROSS) * STEP + 6, Math.floor(person / ACROSS) * STEP + 6];
            return group < 2 // ill people are squares: colour is not all that tells them
              ? <rect key={person} class={`person group-${group}`} x={x - 4.5} y={y - 4.5} width={9} height={9} />
              : <circle key={person} class={`person group-${group}`} cx={x} cy={y} r={4} />;
          })}
        </svg>
      </ChartWithTable>
      <ul class="classes">
        {names.map((name, at) => <li key={name}><i class={`mark person-mark group-${at}`} aria-hidden="true" />{name} <span class="quiet">{groups[at]}</span></li>)}
      </ul>
      <p role="status">
        P(ill | positive) = {joint.ill.toPrecision(3)} / ({joint.ill.toPrecision(3)} + {joint.well.toPrecision(3)}) ={" "}
        <b>{Number.isNaN(posterior) ? "undefined: nobody tests positive" : posterior.toFixed(4)}</b>
      </p>
      <SameAsBox same={bayesRule(["ill", "well"], now.prior, "positive", [now.sensitivity, now.false_positives])} />
    </div>
  );
}

function groupOf(person: number, groups: readonly number[]): number {
  let first = 0;
  return groups.findIndex((size) => person < (first += size));
}

/** Whole numbers that sum to `total`, nearest to the shares: the largest remainders are rounded up. */
function wholeNumbers(shares: readonly number[], total: number): number[] {
  const exact = shares.map((share) => share * total);
  const floors = exact.map((value) => Math.floor(value + 1e-9));
  const order = exact.map((value, at) => [value - floors[at]!, at] as const).sort(([x], [y]) => y - x);
  const short = total - floors.reduce((sum, value) => sum + value, 0);
  for (const [, at] of order.slice(0, short)) floors[at]! += 1;
  return floors;
}
