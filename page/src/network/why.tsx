// The reasons for a belief in a state: the weight of each finding, and its paths; and the effect of an intervention on another node.
import { get, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { Choice } from "../components/choice";
import { ProblemNote } from "../components/problem";
import { compact, signed } from "../numbers";
import { change, query } from "../router";
import { joined } from "./findings";
import { shownBelief } from "./node_box";

type Beliefs = Schemas["BeliefsView"];
type Weight = Beliefs["findings"][number]["alone"];

export function Why({ node, states, beliefs }: { node: string; states: readonly string[]; beliefs: Beliefs }) {
  const chosen = query.value.get("path");
  return (
    <section aria-label={`Why ${node}`}>
      <h2>Why</h2>
      <div class="controls">
        <Choice label={`${node} =`} value={beliefs.state} options={states} onChoose={(state) => change({ state })} />
      </div>
      <div class="wide">
        <table class="numbers measured">
          <thead><tr><th scope="col">finding</th><th scope="col" class="number">alone</th><th scope="col" class="number">given the others</th></tr></thead>
          <tbody>
            {beliefs.findings.map((finding) => (
              <tr key={finding.node}>
                <th scope="row">{finding.node} {typeof finding.value === "string" ? `= ${finding.value}` : "(likelihoods)"}</th>
                <td class="number">{weight(finding.alone)}</td>
                <td class="number">{finding.relevant ? weight(finding.beside) : "d-separated"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet small">Changes in the log-odds of {node} = {beliefs.state}; a positive value supports it.</p>
      {beliefs.paths.length > 0 && (
        <>
          <h3>Paths</h3>
          <table class="numbers measured">
            <thead><tr><th scope="col">path</th><th scope="col" class="number">bits</th></tr></thead>
            <tbody>
              {beliefs.paths.map(({ nodes, bits }) => {
                const key = joined(...nodes);
                return (
                  <tr key={key} class={chosen === key ? "chosen" : undefined}>
                    <th scope="row"><button type="button" class="small path-button" aria-pressed={chosen === key} onClick={() => change({ path: query.value.get("path") === key ? null : key })}>{nodes.join(" – ")}</button></th>
                    <td class="number">{compact(bits)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
          <p class="quiet small">No more bits pass along a path than the smallest change that the finding makes to a node on it. The widths of edges show them; choose a path to see it alone.</p>
        </>
      )}
      {beliefs.explained_as && <p class="quiet small">The same as <code>{beliefs.explained_as}</code></p>}
    </section>
  );
}

function weight(value: Weight): string {
  if (value === null) return "already certain";
  if (typeof value === "string") return value.startsWith("-") ? "excludes it" : "makes it certain";
  return signed(value, 3);
}

/** P(effect | do(cause)) beside P(effect | cause): the edges are taken for causes. */
export function Effect({ network, effect }: { network: Schemas["NetworkView"]; effect: string }) {
  const names = network.nodes.map(({ name }) => name).filter((name) => name !== effect);
  const chosen = query.value.get("cause");
  const cause = chosen !== null && names.includes(chosen) ? chosen : null;
  const answer = useResource(cause && JSON.stringify([network.network, network.version, cause, effect]), (control) => get("/api/network/effect", { network: network.network, cause: cause!, effect }, control)).value;
  const view = cause && answer.value?.cause === cause ? answer.value : null;
  if (!names.length) return null;
  return (
    <section aria-label={`Effect on ${effect}`}>
      <h2>What would change {effect}</h2>
      <div class="controls">
        <Choice label="Set" value={cause} options={names} none="choose a cause" onChoose={(name) => change({ cause: name })} />
      </div>
      {cause && answer.problem && <ProblemNote problem={answer.problem} />}
      {view && (
        <>
          <div class="wide">
            <table class="numbers measured">
              <thead>
                <tr><th scope="col">{view.cause}</th>{view.states.map((state) => <th key={state} scope="col" class="number">P({state} | do)</th>)}{view.states.map((state) => <th key={state} scope="col" class="number">P({state} | seen)</th>)}</tr>
              </thead>
              <tbody>
                {view.causes.map((state, at) => (
                  <tr key={state}>
                    <th scope="row">{state}</th>
                    {view.done[at]!.map((p, place) => <td key={place} class="number">{shownBelief(p)}</td>)}
                    {view.seen[at]!.map((p, place) => <td key={place} class="number quiet">{p === null ? "never" : shownBelief(p)}</td>)}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="quiet small">{adjustment(view)} Findings are not used here, and edges are read as causes.</p>
          <p class="quiet small">The same as <code>{view.same_as.shell}</code></p>
        </>
      )}
    </section>
  );
}

function adjustment({ adjusted_by, through }: Schemas["EffectView"]): string {
  if (adjusted_by) return adjusted_by.length ? `A table identifies the effect if you adjust for ${adjusted_by.join(", ")}.` : "A table identifies the effect without adjustment.";
  return through ? `A table identifies the effect by the front-door criterion, through ${through.join(", ")}.` : "No set of nodes identifies the effect from a table.";
}
