// Two classes and one feature: the least error, and what a boundary chosen by hand adds to it.
import { area, line } from "d3-shape";
import { places, Plane } from "../charts/plane";
import { ChartWithTable } from "../components/chart_with_table";
import { SameAsBox } from "../components/same_as";
import { Slider } from "../components/slider";
import { compact } from "../numbers";
import { equalPlaces, logNormalDensity, normalBelow, normalDensity, type Normal } from "./distributions";
import { useNumbers } from "./numbers_in_url";
import { python, rest } from "./same_as";

const DEFAULTS = { mean_a: 15, spread_a: 3, mean_b: 25, spread_b: 4, prior_a: 0.75, boundary: 18 };

export function TwoDensities() {
  const { now, change, reset } = useNumbers(DEFAULTS);
  const a: Normal = { mean: now.mean_a, spread: now.spread_a };
  const b: Normal = { mean: now.mean_b, spread: now.spread_b };
  const weighted = [(x: number) => now.prior_a * normalDensity(x, a), (x: number) => (1 - now.prior_a) * normalDensity(x, b)] as const;
  const edges = equalPlaces(a, b, now.prior_a);
  const least = leastError(a, b, now.prior_a, edges);
  const left = a.mean <= b.mean ? 0 : 1; // the class that is decided to the left of the boundary
  const chosen = errorOfBoundary(a, b, now.prior_a, now.boundary, left);
  const span: [number, number] = [Math.min(a.mean - 4 * a.spread, b.mean - 4 * b.spread), Math.max(a.mean + 4 * a.spread, b.mean + 4 * b.spread)];
  const xs = places(span, 400);
  const tall = 1.15 * Math.max(...xs.map((x) => Math.max(weighted[0](x), weighted[1](x))));
  const losing = (x: number) => weighted[(x < now.boundary) === (left === 0) ? 1 : 0](x);
  const twin = {
    caption: "Probability of an error",
    head: ["part", "probability"],
    rows: [["irreducible (least possible)", least.toFixed(5)], ["added by the boundary", (chosen - least).toFixed(5)], ["of the boundary", chosen.toFixed(5)]],
  };
  return (
    <div class="lesson">
      <div class="sliders">
        <Slider label="Mean of a" state={0} value={now.mean_a} least={0} most={40} step={0.1} onChange={(mean_a) => change({ mean_a })} />
        <Slider label="Standard deviation of a" state={0} value={now.spread_a} least={0.5} most={10} step={0.1} onChange={(spread_a) => change({ spread_a })} />
        <Slider label="Mean of b" state={1} value={now.mean_b} least={0} most={40} step={0.1} onChange={(mean_b) => change({ mean_b })} />
        <Slider label="Standard deviation of b" state={1} value={now.spread_b} least={0.5} most={10} step={0.1} onChange={(spread_b) => change({ spread_b })} />
        <Slider label="Prior of a" state={0} value={now.prior_a} least={0.01} most={0.99} step={0.01} onChange={(prior_a) => change({ prior_a })} />
        <Slider label="Boundary" value={Number(now.boundary.toFixed(2))} least={-20} most={60} step={0.05} onChange={(boundary) => change({ boundary })} />
        <p class="remedies">
          {edges.map((edge) => <button key={edge} type="button" onClick={() => change({ boundary: edge })}>best boundary {edge.toFixed(3)}</button>)}
          <button type="button" onClick={reset}>reset</button>
        </p>
      </div>
      <ChartWithTable twin={twin}>
        <Plane name="Prior times density of both classes, and the boundary" x={span} y={[0, tall]} across="feature x" up="p(C) p(x|C)"
          onDrag={(x) => change({ boundary: Number(x.toFixed(2)) })}>
          {({ x, y }) => {
            const under = (height: (at: number) => number, from: (at: number) => number = () => 0) =>
              area<number>().x((at) => x(at)).y0((at) => y(from(at))).y1((at) => y(height(at)))(xs) ?? "";
            const both = (at: number) => Math.min(weighted[0](at), weighted[1](at));
            return (
              <>
                <path class="area-irreducible" d={under(both)}><title>irreducible error</title></path>
                <path class="area-reducible" d={under(losing, both)}><title>error that the boundary adds</title></path>
                {weighted.map((height, state) => <path key={state} class={`curve stroke-${state}`} d={line<number>().x((at) => x(at)).y((at) => y(height(at)))(xs) ?? ""} />)}
                {[a, b].map((each, state) => <text key={state} x={x(each.mean)} y={y(weighted[state]!(each.mean)) - 6} text-anchor="middle">{"ab"[state]}</text>)}
                {edges.filter((edge) => edge > span[0] && edge < span[1]).map((edge) => <line key={edge} class="best-edge" x1={x(edge)} x2={x(edge)} y1={y(0)} y2={y(tall)} />)}
                <line class="hand-edge" x1={x(now.boundary)} x2={x(now.boundary)} y1={y(0)} y2={y(tall)} />
                <path class="handle" d={`M${x(now.boundary)},${y(tall) + 2}l7,7l-7,7l-7,-7z`} />
              </>
            );
          }}
        </Plane>
      </ChartWithTable>
      <p role="status">
        The boundary errs with probability <b>{chosen.toFixed(5)}</b>: <b>{least.toFixed(5)}</b> cannot be avoided,
        {" "}<b>{(chosen - least).toFixed(5)}</b> comes from the place of the boundary.
        {edges.length === 0 && " One class is the better decision everywhere."}
        {edges.length === 2 && ` There are two best boundaries, ${compact(edges[0]!)} and ${compact(edges[1]!)}: the wider class wins on both sides.`}
      </p>
      <SameAsBox same={{
        shell: `bayeswise densities --class a=normal:mean=${now.mean_a},stddev=${now.spread_a} b=normal:mean=${now.mean_b},stddev=${now.spread_b} --prior a=${now.prior_a} b=${rest(now.prior_a)} --boundary=${now.boundary}`,
        python: python(`classes = {"a": {"mean": ${now.mean_a}, "stddev": ${now.spread_a}}, "b": {"mean": ${now.mean_b}, "stddev": ${now.spread_b}}}`,
          `found = bw.ClassDensities.of(classes, {"a": ${now.prior_a}, "b": ${rest(now.prior_a)}}, family="normal")`, `print(found.regions, found.error, found.error_of([${now.boundary}]))`),
      }} />
    </div>
  );
}

function massBetween(low: number, high: number, density: Normal): number {
  return normalBelow(high, density) - normalBelow(low, density);
}

/** The integral of the smaller of the two: between two edges one class loses throughout. */
function leastError(a: Normal, b: Normal, prior: number, edges: readonly number[]): number {
  const cuts = [-Infinity, ...edges, Infinity];
  return cuts.slice(1).reduce((sum, high, place) => {
    const low = cuts[place]!;
    const inside = low === -Infinity ? (high === Infinity ? a.mean : high - a.spread - b.spread) : high === Infinity ? low + a.spread + b.spread : (low + high) / 2;
    const aWins = Math.log(prior) + logNormalDensity(inside, a) > Math.log1p(-prior) + logNormalDensity(inside, b);
    return sum + (aWins ? (1 - prior) * massBetween(low, high, b) : prior * massBetween(low, high, a));
  }, 0);
}

function errorOfBoundary(a: Normal, b: Normal, prior: number, boundary: number, left: 0 | 1): number {
  const [belowA, belowB] = [normalBelow(boundary, a), normalBelow(boundary, b)];
  return left === 0 ? prior * (1 - belowA) + (1 - prior) * belowB : prior * belowA + (1 - prior) * (1 - belowB);
}
