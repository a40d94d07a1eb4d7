// Network: ask a network, edit it, or learn one from a table; solve a diagram. What is chosen stands in the URL.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { get } from "../api/client";
import { useResource } from "../api/resource";
import { ProblemNote } from "../components/problem";
import { AskView } from "../network/ask";
import { EditView } from "../network/edit";
import { LearnView } from "../network/learn";
import { SolveView } from "../network/solve";
import { change, go, query, urlOf } from "../router";
import { filesOf, workspace } from "../workspace";

const VIEWS = { ask: "Ask", edit: "Edit", learn: "Learn from a table", new: "New" } as const;

type View = keyof typeof VIEWS;

interface Chosen {
  readonly file: string | null;
  readonly isDiagram: boolean;
  readonly view: View;
}

export function NetworkPage() {
  const file = query.value.get("network") ?? filesOf("network")[0] ?? filesOf("diagram")[0] ?? null;
  const isDiagram = file !== null && (filesOf("diagram").includes(file) || file.endsWith(".toml"));
  const named = query.value.get("view");
  const view: View = named !== null && named in VIEWS && !(named === "edit" && isDiagram) ? (named as View) : "ask";
  const chosen = { file, isDiagram, view };
  if (workspace.value === null) return <Frame {...chosen} busy />;
  if (view === "learn") return <Frame {...chosen}><LearnView /></Frame>;
  if (view === "new") return <Frame {...chosen}><EditView key="new" network={null} version={null} onSaved={opened} onReread={() => undefined} /></Frame>;
  if (file !== null) return isDiagram ? <DiagramFile key={file} {...chosen} file={file} /> : <NetworkFile key={file} {...chosen} file={file} />;
  return (
    <Frame {...chosen}>
      <p>This folder has no network yet: add a BIF, XDSL, NET, XMLBIF, DNE or UAI file to it, <a href={urlOf("/network", { view: "learn" })}>learn one from a table</a>, or <a href={urlOf("/network", { view: "new" })}>draw a new one</a>.</p>
    </Frame>
  );
}

/** What all views have: the heading, the ways to other views, and the file. */
function Frame({ file, isDiagram, view, busy = false, children }: Chosen & { readonly busy?: boolean; readonly children?: ComponentChildren }) {
  const kept = { table: query.value.get("table"), node: query.value.get("node") };
  return (
    <article class="full" aria-busy={busy}>
      <h1>Network</h1>
      <nav class="tabs" aria-label="Views of the network">
        {(Object.keys(VIEWS) as View[]).filter((each) => each !== "edit" || !isDiagram).map((each) => (
          <a key={each} href={urlOf("/network", { network: file, view: each === "ask" ? null : each, ...(each === "learn" ? { table: kept.table } : each === "new" ? {} : { node: kept.node }) })} aria-current={each === view ? "page" : undefined}>
            {each === "ask" && isDiagram ? "Solve" : VIEWS[each]}
          </a>
        ))}
      </nav>
      {(view === "ask" || view === "edit") && <div class="controls"><GraphChoice value={file} /></div>}
      {children}
    </article>
  );
}

/** A network or a diagram of the workspace, chosen into the URL; what was observed in another one means nothing in it. */
function GraphChoice({ value }: { value: string | null }) {
  const groups = [["Networks", filesOf("network")], ["Diagrams", filesOf("diagram")]] as const;
  const listed = groups.some(([, files]) => value !== null && files.includes(value));
  return (
    <label>
      Network
      <select value={value ?? ""} onChange={(event) => go(urlOf("/network", { network: event.currentTarget.value, view: query.value.get("view") === "edit" ? "edit" : null }))}>
        {value === null && <option value="">choose</option>}
        {value !== null && !listed && <option value={value}>{value}</option>}
        {groups.filter(([, files]) => files.length).map(([title, files]) => (
          <optgroup key={title} label={title}>{files.map((file) => <option key={file} value={file}>{file}</option>)}</optgroup>
        ))}
      </select>
    </label>
  );
}

function NetworkFile({ file, ...chosen }: Chosen & { readonly file: string }) {
  const reread = useMemo(() => signal(0), []);
  const { value, problem, loading } = useResource(`${file} ${reread.value}`, (control) => get("/api/network", { network: file }, control)).value;
  const again = () => void reread.value++;
  return (
    <Frame {...chosen} file={file} busy={loading}>
      {problem && <ProblemNote problem={problem} />}
      {value?.notes.map((note) => <div key={note} class="note" role="note"><p>{note}</p></div>)}
      {value && chosen.view === "ask" && <AskView network={value} onEdited={again} />}
      {value && chosen.view === "edit" && <EditView network={value.network} version={value.version} onReread={again} onSaved={(name) => (name === file ? again() : opened(name))} />}
    </Frame>
  );
}

function DiagramFile({ file, ...chosen }: Chosen & { readonly file: string }) {
  const { value, problem, loading } = useResource(file, (control) => get("/api/diagram", { diagram: file }, control)).value;
  return (
    <Frame {...chosen} file={file} busy={loading}>
      {problem && <ProblemNote problem={problem} />}
      {value && <SolveView diagram={value} />}
    </Frame>
  );
}

/** Go on editing what was saved under another name. */
function opened(name: string): void {
  change({ network: name, view: "edit" });
}
