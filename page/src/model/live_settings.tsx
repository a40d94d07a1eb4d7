// Settings that need no second pass over the rows: each move of a slider is answered at once, with every row left out in turn.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { post, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { Slider } from "../components/slider";
import { compact, count } from "../numbers";

type LiveValues = Pick<Schemas["LiveRequest"], "smoothing" | "shrinkage" | "class_prior">;

interface Props {
  readonly view: Schemas["ModelView"];
  readonly table: string;
  readonly onTake: (settings: Record<string, string>) => void; // options of a fit
}

export function LiveSettings({ view, table, onTake }: Props) {
  const settings = (view.facts["settings"] ?? {}) as Record<string, unknown>;
  const learned = (view.facts["prior"] ?? {}) as Record<string, number>;
  const moved = useMemo(() => signal<LiveValues>({}), [view.version]);
  const base = { model: view.model, table };
  const saved = useResource(JSON.stringify([view.version, base]), (control) => post("/api/model/live", base, {}, control)).value;
  const request = { ...base, ...moved.value };
  const answer = useResource(JSON.stringify([view.version, request]), (control) => post("/api/model/live", request, {}, control)).value;
  const move = (changes: LiveValues) => (moved.value = { ...moved.value, ...changes });
  const prior = moved.value.class_prior ?? learned;
  const labels = Object.keys(learned);
  const [now, then] = [answer.value, saved.value];
  const touched = Object.keys(moved.value).length > 0;
  return (
    <section aria-label="Live settings">
      <h2>Live settings</h2>
      <p class="quiet">The model keeps the statistics of its rows, so none has to be read again. Measures are leave-one-out on {table}.</p>
      <div class="live">
        <div class="sliders">
          {view.live.includes("smoothing") && typeof settings["smoothing"] === "number" && (
            <Slider label="Smoothing" value={moved.value.smoothing ?? settings["smoothing"]} least={0} most={20} step={0.1} onChange={(smoothing) => move({ smoothing })} />
          )}
          {view.live.includes("shrinkage") && typeof settings["shrinkage"] === "number" && (
            <Slider label="Shrinkage" value={moved.value.shrinkage ?? settings["shrinkage"]} least={0} most={1} step={0.01} onChange={(shrinkage) => move({ shrinkage })} />
          )}
          {view.live.includes("class_prior") && labels.length <= 8 && labels.slice(0, labels.length === 2 ? 1 : undefined).map((label, place) => (
            <Slider key={label} label={`Prior of ${label}`} state={place % 6} value={rounded(prior[label]!)} least={0.001} most={0.999} step={0.001}
              onChange={(p) => move({ class_prior: withShare(prior, label, p) })} />
          ))}
        </div>
        <div>
          {(answer.problem ?? saved.problem) && <ProblemNote problem={(answer.problem ?? saved.problem)!} />}
          {now && (
            <table class={answer.loading ? "numbers stale" : "numbers"} role="status">
              <caption>{count(now.rows)} rows, leave-one-out</caption>
              <thead><tr><th scope="col">Measure</th><th scope="col" class="number">as saved</th><th scope="col" class="number">now</th></tr></thead>
              <tbody>
                <Line name="log-loss" before={then?.log_loss} after={now.log_loss} touched={touched} />
                <Line name="errors" before={then?.error} after={now.error} touched={touched} share />
                {now.bits !== null && <Line name="bits" before={then?.bits} after={now.bits} touched={touched} />}
              </tbody>
            </table>
          )}
          {touched && (
            <p class="remedies">
              <button type="button" onClick={() => onTake(optionsOf(moved.value))}>fit with these settings</button>
              <button type="button" onClick={() => (moved.value = {})}>back to the saved settings</button>
            </p>
          )}
        </div>
      </div>
      <SameAsBox same={touched && now ? now.same_as : view.same_as} />
    </section>
  );
}

interface LineProps {
  readonly name: string;
  readonly before: number | null | undefined;
  readonly after: number | null;
  readonly touched: boolean;
  readonly share?: boolean;
}

function Line({ name, before, after, touched, share }: LineProps) {
  const shown = (value: number | null | undefined) => (value === undefined ? "" : value === null ? "∞" : share ? `${(100 * value).toFixed(2)} %` : compact(value));
  const better = touched && before !== undefined && (after ?? Infinity) < (before ?? Infinity);
  const worse = touched && before !== undefined && (after ?? Infinity) > (before ?? Infinity);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{shown(before)}</td>
      <td class="number">{shown(after)}{better && " ▼ better"}{worse && " ▲ worse"}</td>
    </tr>
  );
}

function rounded(p: number): number {
  return Number(p.toFixed(3));
}

/** The prior with one class at `p`; the others share the rest as they did. */
function withShare(prior: Readonly<Record<string, number>>, label: string, p: number): Record<string, number> {
  const rest = 1 - prior[label]!;
  const others = Object.keys(prior).length - 1;
  return Object.fromEntries(Object.entries(prior).map(([name, share]) => [name, name === label ? p : rest > 0 ? (share * (1 - p)) / rest : (1 - p) / others]));
}

function optionsOf({ smoothing, shrinkage, class_prior }: LiveValues): Record<string, string> {
  return {
    ...(smoothing != null && { smoothing: String(smoothing) }),
    ...(shrinkage != null && { shrinkage: String(shrinkage) }),
    ...(class_prior && { prior: Object.entries(class_prior).map(([label, p]) => `${label}=${p}`).join("; ") }),
  };
}
