// What a saved model holds, as `bayeswise inspect` prints it: classes, settings, and what was learned of each column.
import type { Schemas } from "../api/client";
import { compact, count, percent } from "../numbers";

interface Column {
  readonly name: string;
  readonly kind: string;
  readonly family: string;
  readonly learned: Record<string, unknown> | null;
}

const SHOWN_ELSEWHERE = new Set(["classes", "prior", "settings", "columns", "target", "weights"]);

export function ModelFacts({ view: { kind, facts } }: { view: Schemas["ModelView"] }) {
  const classes = Object.entries((facts["classes"] ?? {}) as Record<string, number>);
  const prior = (facts["prior"] ?? {}) as Record<string, number>;
  const columns = (facts["columns"] ?? []) as Column[];
  const settings = Object.entries((facts["settings"] ?? {}) as Record<string, unknown>).filter(([, value]) => value !== null);
  const members = (facts["mixture"] as { members?: Record<string, number> } | undefined)?.members;
  const total = classes.reduce((sum, [, rows]) => sum + rows, 0);
  const others = Object.entries(facts).filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null && typeof value !== "object");
  return (
    <>
      <p>
        A <b>{kind}</b> model{facts["target"] !== undefined && <> for <b>{String(facts["target"])}</b></>}
        {total > 0 && <>, fitted to {count(total)} rows</>}.
        {others.map(([name, value]) => <span key={name} class="quiet"> {name.replaceAll("_", " ").replace(/^n /, "")}: {worded(value)}.</span>)}
      </p>
      {classes.length > 0 && (
        <ul class="classes" aria-label="Classes of the model">
          {classes.slice(0, 12).map(([label, rows], place) => (
            <li key={label}><i class={`mark state-${place % 6}`} aria-hidden="true" />{label} <span class="quiet">{count(rows)} rows · prior {percent(prior[label] ?? 0, 1)}</span></li>
          ))}
          {classes.length > 12 && <li class="quiet">and {classes.length - 12} more</li>}
        </ul>
      )}
      {members && (
        <ul class="classes" aria-label="Members of the model">
          {Object.entries(members).map(([name, weight]) => <li key={name}>{name} <span class="quiet">weight {percent(weight, 1)}</span></li>)}
        </ul>
      )}
      {columns.length > 0 && (
        <details class="facts" open={columns.length <= 12}>
          <summary>What was learned about {columns.length} columns</summary>
          <div class="wide" role="group" aria-label="What was learned" tabIndex={0}>
            <table class="numbers">
              <thead><tr><th scope="col">Column</th><th scope="col">Kind</th><th scope="col">Family</th><th scope="col">Learned, by class</th></tr></thead>
              <tbody>
                {columns.map((column) => (
                  <tr key={column.name}><th scope="row">{column.name}</th><td>{column.kind}</td><td>{column.family}</td><td><Learned of={column} weights={facts["weights"]} /></td></tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      {settings.length > 0 && (
        <details class="facts">
          <summary>Settings of the fit</summary>
          <table class="numbers"><tbody>{settings.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{worded(value)}</td></tr>)}</tbody></table>
        </details>
      )}
    </>
  );
}

/** Mean ± standard deviation, shares of levels, or weights: one line for each class. */
function Learned({ of: { name, learned }, weights }: { of: Column; weights: unknown }) {
  if (Array.isArray(weights)) {
    const own = (weights as { column: string; level: string | null; weight: unknown }[]).filter((each) => each.column === name);
    return <>{own.map((each) => <div key={each.level}>{each.level !== null && `${each.level}: `}weight {worded(each.weight)}</div>)}</>;
  }
  if (!learned) return null;
  const { mean, stddev, levels, count: counts } = learned as {
    mean?: Record<string, number>; stddev?: Record<string, number>; levels?: string[]; count?: Record<string, number[]>;
  };
  if (mean && stddev) {
    return <>{Object.keys(mean).slice(0, 12).map((label) => <div key={label}>{label}: {compact(mean[label]!)} ± {compact(stddev[label] ?? 0)}</div>)}</>;
  }
  if (levels && counts) {
    return (
      <>
        {Object.entries(counts).slice(0, 12).map(([label, found]) => {
          const total = found.reduce((sum, each) => sum + each, 0);
          const shares = levels.slice(0, 6).map((level, place) => `${level} ${percent(found[place] ?? 0, total)}`);
          return <div key={label}>{label}: {shares.join(" · ")}{levels.length > 6 && ` · ${levels.length - 6} more`}</div>;
        })}
      </>
    );
  }
  return <>{worded(learned)}</>;
}

function worded(value: unknown): string {
  if (typeof value === "number") return compact(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null || value === undefined) return "none";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.slice(0, 8).map(worded).join(", ") + (value.length > 8 ? ", …" : "");
  return Object.entries(value).slice(0, 8).map(([name, each]) => `${name} ${worded(each)}`).join(", ");
}
