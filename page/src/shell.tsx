// The frame of all pages: the rail with the way from data to decision, the workspace, the theme.
import { useEffect } from "preact/hooks";
import { away } from "./api/connection";
import { COLUMN_OPTIONS } from "./columns";
import { ProblemNote } from "./components/problem";
import { PAGES, pageOf } from "./pages";
import { follow, given, path, query, urlOf } from "./router";
import { chooseTheme, theme, type Theme } from "./theme";
import { readWorkspace, workspace, workspaceProblem } from "./workspace";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function Shell() {
  useEffect(() => void readWorkspace(), []);
  const page = pageOf(path.value);
  useEffect(() => {
    document.title = `${page.title} · ${workspace.value?.folder ?? "bayeswise"}`;
  }, [page, workspace.value]);
  useEffect(() => document.querySelector(".rail a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [page]);
  const { View } = page;
  return (
    <div class="shell" onClick={follow}>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>
        Skip to the page
      </a>
      <header class="rail">
        <div class="brand">
          <strong>bayeswise</strong>
          <span class="quiet" title="The folder that is served">{workspace.value?.folder ?? ""}</span>
        </div>
        <nav aria-label="Pages">
          <ul>
            {PAGES.map((each) => (
              <li key={each.path} class={each.aside ? "aside" : undefined}>
                <a href={urlOf(each.path, carried(each.path))} aria-current={each === page ? "page" : undefined}>{each.title}</a>
              </li>
            ))}
          </ul>
        </nav>
        <label class="theme">
          <span class="quiet">Theme</span>
          <select value={theme.value} onChange={(event) => chooseTheme(event.currentTarget.value as Theme)}>
            {THEMES.map((each) => <option key={each} value={each}>{each}</option>)}
          </select>
        </label>
      </header>
      <main id="main" tabIndex={-1} aria-busy={workspace.value === null && workspaceProblem.value === null}>
        {away.value && (
          <div class="note stops" role="alert">
            <p>The server is not responding. Everything that was saved is on disk; this page continues as soon as the server is back.</p>
            <p class="quiet">Fix: restart it with <code>bayeswise serve</code> on the same port</p>
          </div>
        )}
        {workspaceProblem.value && <ProblemNote problem={workspaceProblem.value} />}
        <View />
      </main>
    </div>
  );
}

/** What the next page needs to know of this one: the files that are being worked on. */
function carried(page: string): Record<string, string[]> {
  const columns = page === "/data" || page === "/model" ? COLUMN_OPTIONS : [];
  return given(page === path.value ? query.value.keys() : ["table", "target", "model", "decision", "network", ...columns]);
}
