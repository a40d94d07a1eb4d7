// Two normal classes in a plane: equal covariances part them by a line, different ones by a curve.
import { Plane, type Scales } from "../charts/plane";
import { ChartWithTable } from "../components/chart_with_table";
import { SameAsBox } from "../components/same_as";
import { Slider } from "../components/slider";
import { compact } from "../numbers";
import { useNumbers } from "./numbers_in_url";
import { python, rest } from "./same_as";

const DEFAULTS = { x_a: -1.5, y_a: 0, wide_a: 1, tall_a: 1, lean_a: 0, x_b: 1.5, y_b: 0.5, wide_b: 1.6, tall_b: 0.7, lean_b: 0.5, prior_a: 0.5, shared: 0 };
type Values = typeof DEFAULTS;

const [HALF_WIDE, HALF_TALL, ROWS] = [5, 2.5, 120];

export function Boundaries() {
  const { now, change, reset } = useNumbers(DEFAULTS);
  const [a, b] = classes(now);
  const twin = {
    caption: "The two classes",
    head: ["class", "mean", "variances", "covariance"],
    rows: [a, b].map((each, at) => ["ab"[at]!, `${compact(each.x)}, ${compact(each.y)}`, `${compact(each.xx)}, ${compact(each.yy)}`, compact(each.xy)]),
  };
  const nearer = (x: number, y: number): "a" | "b" => ((x - now.x_a) ** 2 + (y - now.y_a) ** 2 <= (x - now.x_b) ** 2 + (y - now.y_b) ** 2 ? "a" : "b");
  const move = (x: number, y: number) => {
    const at = { x: Number(x.toFixed(2)), y: Number(y.toFixed(2)) };
    change(nearer(x, y) === "a" ? { x_a: at.x, y_a: at.y } : { x_b: at.x, y_b: at.y });
  };
  return (
    <div class="lesson">
      <div class="sliders">
        {(["a", "b"] as const).map((name, state) => (
          <fieldset key={name}>
            <legend>Class {name}</legend>
            <Slider label={`Mean of ${name} across`} state={state} value={now[`x_${name}`]} least={-4} most={4} step={0.1} onChange={(value) => change({ [`x_${name}`]: value })} />
            <Slider label={`Mean of ${name} up`} state={state} value={now[`y_${name}`]} least={-2.4} most={2.4} step={0.1} onChange={(value) => change({ [`y_${name}`]: value })} />
            <Slider label={`Width of ${name}`} state={state} value={now[`wide_${name}`]} least={0.3} most={2} step={0.05} onChange={(value) => change({ [`wide_${name}`]: value })} />
            <Slider label={`Height of ${name}`} state={state} value={now[`tall_${name}`]} least={0.3} most={2} step={0.05} onChange={(value) => change({ [`tall_${name}`]: value })} />
            <Slider label={`Correlation in ${name}`} state={state} value={now[`lean_${name}`]} least={-0.95} most={0.95} step={0.05} onChange={(value) => change({ [`lean_${name}`]: value })} />
          </fieldset>
        ))}
        <Slider label="Prior of a" state={0} value={now.prior_a} least={0.01} most={0.99} step={0.01} onChange={(prior_a) => change({ prior_a })} />
        <label class="choice"><input type="checkbox" checked={now.shared === 1} onChange={(event) => change({ shared: Number(event.currentTarget.checked) })} /> one covariance for both classes</label>
        <p class="remedies"><button type="button" onClick={reset}>reset</button></p>
      </div>
      <ChartWithTable twin={twin}>
        <Plane name="Regions of the two classes" x={[-HALF_WIDE, HALF_WIDE]} y={[-HALF_TALL, HALF_TALL]} across="first feature" up="second feature" height={342} onDrag={move}>
          {({ x, y }) => (
            <>
              {([0, 1] as const).map((state) => <path key={state} class={`region state-${state}`} d={regionOf(state, [a, b], now.prior_a, { x, y })} />)}
              {[a, b].map((each, state) => [1, 2].map((radius) => (
                <path key={`${state}/${radius}`} class={`curve stroke-${state}`} d={ellipse(each, radius, x, y)} />
              )))}
              {[a, b].map((each, state) => (
                <g key={state}>
                  <circle class={`state-${state} mean`} cx={x(each.x)} cy={y(each.y)} r={5} />
                  <text x={x(each.x) + 9} y={y(each.y) - 7}>{"ab"[state]}</text>
                </g>
              ))}
            </>
          )}
        </Plane>
      </ChartWithTable>
      <p role="status">
        {now.shared === 1 || sameShape(a, b) ? "Equal covariances: the squares cancel and the boundary is a line (linear discriminant analysis)."
          : "Different covariances: the squares stay and the boundary is a conic (quadratic discriminant analysis)."} Ellipses are 1 and 2 standard deviations; drag a mean.
      </p>
      <SameAsBox same={{
        shell: "",
        python: python(`classes = {${[a, b].map((each, at) => `"${"ab"[at]}": ([${each.x}, ${each.y}], [[${each.xx}, ${each.xy}], [${each.xy}, ${each.yy}]])`).join(", ")}}`,
          `plane = bw.ClassPlane.of(classes, {"a": ${now.prior_a}, "b": ${rest(now.prior_a)}})`, "plane.plot()"),
      }} />
    </div>
  );
}

interface Class { readonly x: number; readonly y: number; readonly xx: number; readonly yy: number; readonly xy: number }

function classes(now: Values): [Class, Class] {
  const own = (["a", "b"] as const).map((name) => {
    const [wide, tall] = [now[`wide_${name}`], now[`tall_${name}`]];
    return { x: now[`x_${name}`], y: now[`y_${name}`], xx: wide ** 2, yy: tall ** 2, xy: now[`lean_${name}`] * wide * tall };
  });
  const [a, b] = own as [Class, Class];
  if (now.shared !== 1) return [a, b];
  const pooled = (part: "xx" | "yy" | "xy") => now.prior_a * a[part] + (1 - now.prior_a) * b[part];
  const shape = { xx: pooled("xx"), yy: pooled("yy"), xy: pooled("xy") };
  return [{ ...a, ...shape }, { ...b, ...shape }];
}

function sameShape(a: Class, b: Class): boolean {
  return a.xx === b.xx && a.yy === b.yy && a.xy === b.xy;
}

function logDensity(x: number, y: number, { x: mx, y: my, xx, yy, xy }: Class): number {
  const determinant = xx * yy - xy * xy;
  const [dx, dy] = [x - mx, y - my];
  return -0.5 * ((yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / determinant + Math.log(determinant));
}

/** Where a class wins, as one path: in each row the log-odds are a quadratic of x, so its edges are exact. */
function regionOf(state: 0 | 1, [a, b]: readonly [Class, Class], prior: number, { x, y }: Scales): string {
  const step = (2 * HALF_TALL) / ROWS;
  return Array.from({ length: ROWS }, (_, row) => {
    const low = -HALF_TALL + row * step;
    const odds = (at: number) => Math.log(prior) - Math.log1p(-prior) + logDensity(at, low + step / 2, a) - logDensity(at, low + step / 2, b);
    const edges = [-HALF_WIDE, ...zeros(odds).filter((edge) => Math.abs(edge) < HALF_WIDE), HALF_WIDE];
    return edges.slice(1).map((to, place) => {
      const from = edges[place]!;
      return (odds((from + to) / 2) >= 0 ? 0 : 1) === state ? `M${x(from)},${y(low)}V${y(low + step)}H${x(to)}V${y(low)}Z` : "";
    }).join("");
  }).join("");
}

/** The zeros of a quadratic in order, from its values at -1, 0 and 1. */
function zeros(quadratic: (at: number) => number): number[] {
  const [left, c, right] = [quadratic(-1), quadratic(0), quadratic(1)];
  const [a, b] = [(left + right) / 2 - c, (right - left) / 2];
  if (Math.abs(a) < 1e-9) return Math.abs(b) < 1e-12 ? [] : [-c / b];
  const under = b * b - 4 * a * c;
  if (under <= 0) return [];
  const stable = -0.5 * (b + (b < 0 ? -1 : 1) * Math.sqrt(under));
  return [stable / a, c / stable].sort((one, other) => one - other);
}

function ellipse(each: Class, radius: number, x: (value: number) => number, y: (value: number) => number): string {
  const [l11, l21] = [Math.sqrt(each.xx), each.xy / Math.sqrt(each.xx)]; // Cholesky factor of the covariance
  const l22 = Math.sqrt(Math.max(0, each.yy - l21 * l21));
  const points = Array.from({ length: 72 }, (_, at) => {
    const angle = (at / 72) * 2 * Math.PI;
    const [u, v] = [radius * Math.cos(angle), radius * Math.sin(angle)];
    return `${x(each.x + l11 * u).toFixed(1)},${y(each.y + l21 * u + l22 * v).toFixed(1)}`;
  });
  return `M${points.join("L")}Z`;
}
