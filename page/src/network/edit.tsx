// Edit a network: edges drawn from node to node, nodes, states and tables; tried by the server, undone, and saved as a file.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ApiError, post, type Problem, type Schemas } from "../api/client";
import { problemOf, useResource } from "../api/resource";
import { ProblemNote } from "../components/problem";
import { SameAsBox } from "../components/same_as";
import { TypedInput } from "../components/typed_input";
import { change, query } from "../router";
import { UndoButtons, type Undo } from "../undo";
import { readWorkspace, versionOf } from "../workspace";
import { draftOf, inWords, type Edit } from "./draft";
import { edgeKey, GraphPlane } from "./graph_plane";
import { NodeBox, sizeOf } from "./node_box";
import { ProbabilityTable } from "./probability_table";

type Graph = Schemas["NetworkView"];
type Propose = (edit: Edit, then?: () => void) => void;

interface Props {
  readonly network: string | null; // null: a network that begins with nothing
  readonly version: string | null; // of the file that was read
  readonly onSaved: (name: string) => void;
  readonly onReread: () => void;
}

export function EditView({ network, version, onSaved, onReread }: Props) {
  const draft = useMemo(() => draftOf(network), [network]);
  const wrong = useMemo(() => signal<(Problem & { readonly stale?: boolean }) | null>(null), [network]);
  const queue = useMemo(() => ({ last: Promise.resolve(), length: signal(0) }), []); // one change after the other
  const edge = useMemo(() => signal<{ parent: string; child: string } | null>(null), [network]);
  const node = query.value.get("node");
  const edits = draft.done;
  const answer = useResource(JSON.stringify([network, version, edits]), async (control) => ({ edits, ...(await post("/api/network/edit", { network, edits: [...edits] }, {}, control)) })).value;
  const graph = answer.value?.graph ?? null;

  const enqueue = (work: () => void | Promise<void>) => {
    queue.length.value++;
    queue.last = queue.last.then(work).finally(() => void queue.length.value--);
  };
  const propose: Propose = (edit, then) => enqueue(async () => {
    try {
      await post("/api/network/edit", { network, edits: [...draft.done, edit] });
      wrong.value = null;
      draft.take(edit);
      then?.();
    } catch (error) {
      wrong.value = problemOf(error);
    }
  });
  const save = async (output: string) => {
    const replaced = output === network ? version : versionOf(output);
    try {
      await queue.last;
      await post("/api/network/edit", { network, edits: [...draft.done], output, version: replaced });
      wrong.value = null;
      draft.clear();
      await readWorkspace();
      onSaved(output);
    } catch (error) {
      wrong.value = { ...problemOf(error), stale: error instanceof ApiError && error.status === 409 };
    }
  };
  const chosen = graph?.nodes.find(({ name }) => name === node) ?? null;
  const removeEdge = ({ parent, child }: { parent: string; child: string }) => propose({ change: "remove-edge", node: child, parent, normalise: false }, () => (edge.value = null));
  const step = (move: () => void) => enqueue(() => { // after changes that the server still tries
    wrong.value = null;
    edge.value = null;
    move();
  });
  return (
    <>
      <p class="quiet">Drag from the dot of a node to another node to add an edge; click an edge to remove it, or a name to edit its states, parents and table. Nothing is written until you save.</p>
      <Toolbar key={network} network={network} draft={draft} edge={edge.value} onAdd={(name) => propose({ change: "add-node", node: name, states: ["no", "yes"], normalise: false }, () => select(name))}
        onRemoveEdge={removeEdge} onMove={step} onSave={(name) => void save(name)} />
      {wrong.value && <ProblemNote problem={wrong.value} />}
      {wrong.value?.stale && <p class="remedies"><button type="button" onClick={() => { wrong.value = null; void readWorkspace(); onReread(); }}>reload the file and keep my changes</button></p>}
      {answer.problem && <ProblemNote problem={answer.problem} />}
      {answer.problem && edits.length > 0 && <p class="remedies"><button type="button" onClick={() => step(() => draft.clear())}>discard my changes</button></p>}
      {graph && (graph.nodes.length ? (
        <div class={answer.loading ? "stale" : undefined}>
          <GraphPlane label="Network to edit" chosen={node} nodes={graph.nodes.map(({ name, states }) => sizeOf(name, states.length))} chosenEdge={edge.value && edgeKey(edge.value)}
            edges={graph.edges.map(([parent, child], at) => ({ parent, child, width: 1 + 4 * (graph.influence[at] ?? 0), title: `${parent} → ${child}` }))}
            drawNode={(name, at) => <NodeBox name={name} states={graph.nodes.find((each) => each.name === name)?.states ?? []} height={at.height} selected={name === node} onSelect={toggleNode} />}
            refuses={(from, to) => isAbove(graph, to, from)} onDraw={(from, to) => propose({ change: "add-edge", node: to, parent: from, normalise: false })}
            onEdge={(each) => (edge.value = edge.value && edgeKey(edge.value) === edgeKey(each) ? null : { parent: each.parent, child: each.child })} onRemoveEdge={removeEdge} />
        </div>
      ) : <p>There are no nodes yet: name one above.</p>)}
      {graph && chosen && <NodeForm key={chosen.name} network={network} graph={graph} node={chosen} edits={answer.value!.edits} stale={queue.length.value > 0 || answer.loading} propose={propose} />}
      {graph && <SameAsBox same={graph.same_as} />}
    </>
  );
}

function select(node: string | null): void {
  change({ node }, { replace: node === null });
}

function toggleNode(node: string): void {
  select(query.value.get("node") === node ? null : node);
}

/** Whether a node is an ancestor of another, or that node itself: an edge down to it would close a cycle. */
function isAbove(graph: Graph, above: string, node: string): boolean {
  const parents = new Map(graph.nodes.map((each) => [each.name, each.parents]));
  const [seen, waiting] = [new Set<string>(), [node]];
  while (waiting.length) {
    const here = waiting.pop()!;
    if (here === above) return true;
    if (!seen.has(here)) waiting.push(...(parents.get(here) ?? []));
    seen.add(here);
  }
  return false;
}

interface ToolbarProps {
  readonly network: string | null;
  readonly draft: Undo<Edit>;
  readonly edge: { parent: string; child: string } | null;
  readonly onAdd: (name: string) => void;
  readonly onRemoveEdge: (edge: { parent: string; child: string }) => void;
  readonly onMove: (move: () => void) => void; // an undo or redo
  readonly onSave: (name: string) => void;
}

function Toolbar({ network, draft, edge, onAdd, onRemoveEdge, onMove, onSave }: ToolbarProps) {
  const edits = draft.done;
  const output = useMemo(() => signal(network ?? "network.bif"), []);
  const exists = versionOf(output.value) !== null;
  return (
    <>
      <div class="controls">
        <NameForm label="New node" action="add node" onName={onAdd} />
        <form class="inline" onSubmit={(event) => { event.preventDefault(); if (edits.length && output.value) onSave(output.value); }}>
          <label>Save as <input class="file-name" value={output.value} onInput={(event) => (output.value = event.currentTarget.value.trim())} /></label>
          <button type="submit" class="main" disabled={!edits.length || !output.value}>{exists ? "save and replace" : "save"}</button>
        </form>
      </div>
      <p class="remedies">
        <UndoButtons steps={draft} onMove={onMove} />
        {edge && <button type="button" onClick={() => onRemoveEdge(edge)}>remove the edge {edge.parent} → {edge.child}</button>}
        <span role="status">{edits.length ? `${edits.length} unsaved change${edits.length > 1 ? "s" : ""}; the last: ${inWords(edits.at(-1)!)}` : "No changes."}</span>
      </p>
    </>
  );
}

function NameForm({ label, action, onName }: { label: string; action: string; onName: (name: string) => void }) {
  const typed = useMemo(() => signal(""), []);
  const add = (event: Event) => {
    event.preventDefault();
    const name = typed.value.trim();
    if (!name) return;
    onName(name);
    typed.value = "";
  };
  return (
    <form class="inline" onSubmit={add}>
      <label>{label} <input class="short-name" value={typed.value} onInput={(event) => (typed.value = event.currentTarget.value)} /></label>
      <button type="submit" disabled={!typed.value.trim()}>{action}</button>
    </form>
  );
}

interface NodeFormProps {
  readonly network: string | null;
  readonly graph: Graph;
  readonly node: Graph["nodes"][number];
  readonly edits: readonly Edit[]; // those that led to the graph
  readonly stale: boolean; // whether the graph is about to be another one
  readonly propose: Propose;
}

/** All that can be changed about a node, without a drag. */
function NodeForm({ network, graph, node, edits, stale, propose }: NodeFormProps) {
  const { name, states, parents } = node;
  const answer = useResource(JSON.stringify([network, graph.version, edits, name]), (control) => post("/api/network/edit", { network, edits: [...edits], table: name }, {}, control)).value;
  const table = answer.value?.table?.node === name ? answer.value.table : null;
  const edit = (change: Edit["change"], rest: Partial<Edit>, then?: () => void) => propose({ change, node: name, normalise: false, ...rest }, then);
  const others = graph.nodes.map((each) => each.name).filter((each) => each !== name && !parents.includes(each) && !isAbove(graph, name, each));
  return (
    <div class="results even">
      <section aria-label={`Node ${name}`}>
        <h2>{name}</h2>
        <div class="controls">
          <label>Name <TypedInput class="short-name" value={name} onTyped={(text) => text && edit("rename-node", { name: text }, () => select(text))} /></label>
          <button type="button" onClick={() => edit("remove-node", {}, () => select(null))}>remove the node</button>
        </div>
        <h3>States</h3>
        <ul class="entries">
          {states.map((state) => (
            <li key={state}>
              <TypedInput class="short-name" aria-label={`State ${state}`} value={state} onTyped={(text) => text && edit("rename-state", { state, name: text })} />
              <button type="button" class="small" disabled={states.length < 2} aria-label={`Remove the state ${state}`} onClick={() => edit("remove-state", { state })}>remove</button>
            </li>
          ))}
        </ul>
        <NameForm label="New state" action="add state" onName={(text) => edit("add-state", { name: text })} />
        <h3>Parents</h3>
        <ul class="entries">
          {parents.map((parent) => (
            <li key={parent}>
              <span>{parent} → {name}</span>
              <button type="button" class="small" aria-label={`Remove the edge ${parent} → ${name}`} onClick={() => edit("remove-edge", { parent })}>remove</button>
            </li>
          ))}
        </ul>
        {others.length > 0 && (
          <label class="choice">
            New parent
            <select value="" onChange={(event) => { const parent = event.currentTarget.value; event.currentTarget.value = ""; if (parent) edit("add-edge", { parent }); }}>
              <option value="">choose</option>
              {others.map((each) => <option key={each} value={each}>{each}</option>)}
            </select>
          </label>
        )}
      </section>
      <section aria-label={`Table of ${name}`}>
        <h2>Table</h2>
        {answer.problem && <ProblemNote problem={answer.problem} />}
        {table && <ProbabilityTable table={table} stale={stale || answer.loading} action="use this table" onUse={(rows) => edit("set-table", { rows })} />}
      </section>
    </div>
  );
}
