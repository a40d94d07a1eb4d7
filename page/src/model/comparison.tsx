// Models beside each other: log-loss and cost with intervals, errors, which are as good as the best, and a button to fit each.
import { scaleLinear } from "d3-scale";
import { compact, count, lowToHigh, type Interval } from "../numbers";
import type { Chosen } from "./settings_form";

interface Line {
  readonly name: string;
  readonly kind: string; // the kind of a fit
  readonly settings: Chosen;
  readonly log_loss: Interval | null;
  readonly error: number | null;
  readonly cost: Interval | null;
  readonly bits: number | null;
  readonly best: boolean;
  readonly asGood: boolean;
}

interface Props {
  readonly result: Record<string, unknown>;
  readonly onFit: (kind: string, settings: Chosen) => void;
}

export function Comparison({ result, onFit }: Props) {
  const lines = linesOf(result);
  const byBits = lines.some((line) => line.bits !== null);
  const costs = lines.some((line) => line.cost !== null);
  const shown = (line: Line) => (costs ? line.cost : line.log_loss);
  const ends = lines.map(shown).filter((found) => found !== null).flatMap((found) => [found.low, found.high]);
  const x = scaleLinear().domain([Math.min(...ends), Math.max(...ends)]).nice().range([6, 194]);
  const winner = lines.find((line) => line.best);
  const failed = Object.entries((result["failed"] as Record<string, unknown> | undefined) ?? {});
  const measure = costs ? "cost per case" : "log-loss";
  return (
    <>
      {winner && (
        <p class="answer" role="status">
          <b>{winner.name}</b> {byBits ? "needs the fewest bits" : `has the lowest ${measure}`}
          {lines.some((line) => line.asGood && !line.best) && <>; {lines.filter((line) => line.asGood && !line.best).map((line) => line.name).join(", ")} cannot be distinguished from it</>}.
        </p>
      )}
      <div class="wide">
        <table class="comparison">
          <caption>{byBits ? `Description length in bits; log-loss and errors on ${count(Number(result["left_out"]))} left-out rows` : `On rows that the models have not seen (${String(result["how"] ?? "left out")})`}; {String(result["interval"])}</caption>
          <thead>
            <tr>
              <th scope="col">Model</th>
              {byBits && <th scope="col" class="number">bits</th>}
              {costs && <th scope="col" class="number">cost per case</th>}
              <th scope="col" class="number">log-loss</th>
              <th scope="col" class="number">errors</th>
              <th scope="col">{measure}, interval</th>
              <th scope="col"><span class="hidden">Fit it</span></th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => {
              const interval = shown(line);
              return (
                <tr key={line.name} class={line.best ? "chosen" : undefined}>
                  <th scope="row">{line.name}{line.best && <span class="badge">best</span>}{!line.best && line.asGood && <span class="badge quiet">as good</span>}</th>
                  {byBits && <td class="number">{line.bits === null ? "" : compact(line.bits)}</td>}
                  {costs && <td class="number"><Estimate of={line.cost} /></td>}
                  <td class="number"><Estimate of={line.log_loss} /></td>
                  <td class="number">{line.error === null ? "" : `${(100 * line.error).toFixed(1)} %`}</td>
                  <td>
                    {interval && (
                      <svg class="interval" viewBox="0 0 200 20" width="200" height="20" aria-hidden="true">
                        <line x1={x(interval.low)} x2={x(interval.high)} y1="10" y2="10" />
                        <path class={line.best ? "state-0" : "state-5"} d={line.best ? `M${x(interval.mean)},4l6,6l-6,6l-6,-6z` : `M${x(interval.mean) - 4},6h8v8h-8z`} />
                      </svg>
                    )}
                  </td>
                  <td><button type="button" class="small" aria-label={`Fit ${line.name}`} onClick={() => onFit(line.kind, line.settings)}>fit this</button></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {failed.map(([name, why]) => <p key={name} class="quiet">{name} was left out: {typeof why === "string" ? why : JSON.stringify(why)}</p>)}
    </>
  );
}

function Estimate({ of: found }: { of: Interval | null }) {
  return found && <>{compact(found.mean)} <span class="quiet small">{lowToHigh(found)}</span></>;
}

function linesOf(result: Record<string, unknown>): Line[] {
  const models = (result["models"] as Record<string, unknown>[] | undefined) ?? [];
  return models.map((model, place) => {
    const name = String(model["model"]);
    const fit = model["fit"] as { model: string; settings: Record<string, unknown> } | undefined; // by bits: a kind with settings
    const bits = typeof model["bits"] === "number" ? model["bits"] : null;
    return {
      name,
      kind: fit?.model ?? name,
      settings: Object.fromEntries(Object.entries(fit?.settings ?? {}).map(([option, value]) => [option, String(value)])),
      log_loss: intervalOf(model["log_loss"], model["log_loss_interval"]),
      error: typeof model["error"] === "number" ? model["error"] : null,
      cost: intervalOf(model["cost"], model["cost_interval"]),
      bits,
      best: bits === null ? name === result["best"] : place === 0,
      asGood: model["as_good_as_the_best"] === true,
    };
  });
}

/** {mean, low, high}, or a number beside [low, high]. */
function intervalOf(found: unknown, ends: unknown): Interval | null {
  if (typeof found === "number") {
    const [low, high] = Array.isArray(ends) ? (ends as [number, number]) : [found, found];
    return { mean: found, low, high };
  }
  return found !== null && typeof found === "object" ? (found as Interval) : null;
}
