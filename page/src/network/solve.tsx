// Solve a diagram: chance nodes as ovals, decisions as rectangles, utilities as diamonds; the best policy, and what it rests on.
import { post, type Schemas } from "../api/client";
import { useResource } from "../api/resource";
import { TornadoChart } from "../charts/tornado";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { compact } from "../numbers";
import { findingsOf, isNothing, retractAll, toggle } from "./findings";
import { GraphPlane, type GraphEdge } from "./graph_plane";
import { NodeBox, sizeOf, type Shape } from "./node_box";

type Diagram = Schemas["DiagramView"];
type Solution = Schemas["SolutionView"];

const SHAPES: Record<string, Shape> = { chance: "oval", decision: "rectangle", utility: "diamond" };

export function SolveView({ diagram }: { diagram: Diagram }) {
  const pieces = new Map(diagram.pieces.map((piece) => [piece.name, piece]));
  const { evidence } = findingsOf(new Set(pieces.keys()));
  const request = { diagram: diagram.diagram, evidence };
  const { value, problem, loading } = useResource(JSON.stringify([request, diagram.version]), (control) => post("/api/diagram/solve", request, {}, control)).value;
  const edges = diagram.pieces.flatMap(({ name, kind, parents }) => parents.map((parent): GraphEdge => ({ parent, child: name, width: 1.5, ...(kind === "decision" ? { look: "weak" as const } : {}), title: kind === "decision" ? `${parent} is known when ${name} is decided` : `${parent} → ${name}` })));
  return (
    <>
      <p class="quiet">Click a state to observe it, or an option to take it; again to retract it. Ovals are chance nodes, rectangles decisions, diamonds utilities; a dashed edge shows what is known at a decision.</p>
      <p class="remedies">
        <button type="button" disabled={isNothing({ ...findingsOf(), evidence })} onClick={retractAll}>retract all</button>
        <span role="status">{value && <>{value.attitude ? "Certainty equivalent" : "Expected utility"} <strong>{compact(value.utility)}</strong></>}</span>
      </p>
      {value && <Assurance solution={value} />}
      {problem && <ProblemNote problem={problem} />}
      <div class={loading ? "stale" : undefined}>
        <GraphPlane label="Diagram" edges={edges} nodes={diagram.pieces.map(({ name, kind, states }) => sizeOf(name, states.length, SHAPES[kind] ?? "oval"))}
          drawNode={(name, at) => {
            const { kind, states } = pieces.get(name)!;
            const part = value?.parts[name];
            return (
              <NodeBox name={name} states={states} height={at.height} shape={SHAPES[kind] ?? "oval"} looks={name in evidence ? ["observed"] : []} {...(part === undefined ? {} : { value: compact(part) })}
                stateLook={(state, place) => ({ belief: value?.beliefs[name]?.[place] ?? null, observed: evidence[name] === state, ...optionOf(value, name, place) })}
                onState={(node, state) => toggle(node, state, "observe")} />
            );
          }} />
      </div>
      {value && <Answers solution={value} />}
      <SameAsBox same={value?.same_as ?? diagram.same_as} />
    </>
  );
}

/** How sure it is that no policies are better, and what the utility means under an attitude to risk. */
function Assurance({ solution }: { solution: Solution }) {
  const { attitude, expected_value, risk_premium, proof, upper_bound, optimality_gap, utility, recall } = solution;
  return (
    <>
      {attitude && <p>{`With ${attitude}: expected value ${compact(expected_value)}, risk premium ${compact(risk_premium)}.`}</p>}
      {upper_bound !== null && optimality_gap !== null && (
        <table class="numbers measured" aria-label="Bounds of the best utility">
          <thead><tr><th scope="col" class="number">these policies reach</th><th scope="col" class="number">no policies exceed</th><th scope="col" class="number">optimality gap</th></tr></thead>
          <tbody><tr><td class="number">{compact(utility)}</td><td class="number">{compact(upper_bound)}</td><td class="number">{compact(optimality_gap)}</td></tr></tbody>
        </table>
      )}
      {proof && <p class="quiet">{`${proof[0]!.toUpperCase()}${proof.slice(1)}.`}</p>}
      {recall !== null && <p class="quiet">Utilities of options, values of information and the tornado need exact utilities; they are left out where only bounds are known.</p>}
    </>
  );
}

/** Beside an option stands what it gains. */
function optionOf(solution: Solution | null, decision: string, place: number): { shown?: string } {
  const gain = solution?.options[decision]?.[place];
  return gain === undefined ? {} : { shown: compact(gain) };
}

function Answers({ solution }: { solution: Solution }) {
  return (
    <>
      <div class="results even">
        {solution.policies.map((policy) => <PolicyTable key={policy.decision} policy={policy} />)}
        {solution.information.length > 0 && (
          <section aria-label="Value of information">
            <h2>Value of information</h2>
            <table class="numbers measured">
              <thead><tr><th scope="col">knowing</th><th scope="col">before</th><th scope="col" class="number">is worth</th></tr></thead>
              <tbody>{solution.information.map(({ nodes, decision, value }) => <tr key={`${nodes.join(", ")} ${decision}`}><th scope="row">{nodes.join(", ")}</th><td>{decision}</td><td class="number">{compact(value)}</td></tr>)}</tbody>
            </table>
          </section>
        )}
      </div>
      {solution.tornado.length > 0 && (
        <section class="tornado-section" aria-label="What it depends on">
          <h2>What it depends on</h2>
          <TornadoChart bars={solution.tornado} utility={solution.utility} />
        </section>
      )}
    </>
  );
}

function PolicyTable({ policy }: { policy: Solution["policies"][number] }) {
  const heads = Object.keys(policy.columns);
  const n = policy.columns[heads[0] ?? ""]?.length ?? 0;
  return (
    <section aria-label={`Policy of ${policy.decision}`}>
      <h2>{policy.decision}</h2>
      <p>{policy.words}</p>
      <div class="wide">
        <table class="numbers measured">
          <thead><tr>{heads.map((head) => <th key={head} scope="col" class={isNumber(policy.columns[head]?.[0]) ? "number" : undefined}>{head}</th>)}</tr></thead>
          <tbody>
            {Array.from({ length: n }, (_, at) => (
              <tr key={at}>{heads.map((head) => { const cell = policy.columns[head]![at]; return <td key={head} class={isNumber(cell) ? "number" : undefined}>{isNumber(cell) ? compact(cell) : String(cell ?? "")}</td>; })}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function isNumber(cell: unknown): cell is number {
  return typeof cell === "number";
}
