// API: what the server takes and answers, from its own description, with a line for the shell to try each.
import { ApiError } from "../api/client";
import { ask } from "../api/connection";
import { curl, descriptionOf, named, words, type Description, type Operation, type Schema } from "../api/description";
import { useResource } from "../api/resource";
import { ProblemNote } from "../components/problem";
import { Snippet } from "../components/same_as";
import { change, query } from "../router";

export function ReferencePage() {
  const { value, problem, loading } = useResource("description", read).value;
  const sought = query.value.get("find") ?? "";
  const found = value?.operations.filter((each) => matches(each, sought)) ?? [];
  const tags = [...new Set(found.map((each) => each.tag))].sort((a, b) => Number(b === "service") - Number(a === "service"));
  return (
    <article aria-busy={loading} class="reference">
      <h1>API</h1>
      <p>
        Programs send the token of this server’s URL as a bearer token; <code>export BAYESWISE_TOKEN=…</code> before <code>bayeswise serve</code> sets it.
        Every error has <code>error</code>, <code>what</code> and <code>fix</code>. The full description is <a href="/api/openapi.json" target="_blank" rel="noopener">openapi.json</a>.
      </p>
      {problem && <ProblemNote problem={problem} />}
      {value && (
        <>
          <div class="controls">
            <label>Find <input type="search" value={sought} onInput={(event) => change({ find: event.currentTarget.value || null }, { replace: true })} /></label>
            <span class="quiet" role="status">{found.length} of {value.operations.length}</span>
          </div>
          {tags.map((tag) => (
            <section key={tag} aria-label={tag}>
              <h2>{tag === "service" ? "The service" : `Page ${tag}`}</h2>
              {found.filter((each) => each.tag === tag).map((each) => <OperationNote key={each.method + each.path} operation={each} types={value.types} />)}
            </section>
          ))}
        </>
      )}
    </article>
  );
}

async function read(signal: AbortSignal): Promise<Description> {
  const response = await ask("/api/openapi.json", { signal });
  if (!response.ok) throw new ApiError(response.status, { error: "HTTP", what: `the server responded with status ${response.status}`, fix: "open the URL that `bayeswise serve` printed" });
  return descriptionOf((await response.json()) as Parameters<typeof descriptionOf>[0]);
}

function matches({ method, path, description, tag }: Operation, sought: string): boolean {
  const text = `${method} ${path} ${description} ${tag}`.toLowerCase();
  return sought.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function OperationNote({ operation, types }: { operation: Operation; types: Description["types"] }) {
  const { method, path, description, parameters, body, answers } = operation;
  const good = Object.entries(answers).filter(([status]) => status.startsWith("2"));
  const bad = Object.entries(answers).filter(([status]) => !status.startsWith("2"));
  return (
    <details class="operation">
      <summary><code class="method">{method}</code> <code>{path}</code> <span class="quiet">{description.split("\n")[0]}</span></summary>
      {description.includes("\n") && <p class="summary">{description}</p>}
      {parameters.length > 0 && <Fields title="Parameters" fields={parameters.map((each) => [each.name, each.schema, each.required ?? false])} types={types} />}
      {Object.entries(body).map(([media, { schema }]) => <Typed key={media} title={`Body, ${media}`} schema={schema} types={types} />)}
      {good.flatMap(([status, { content }]) => Object.entries(content ?? {}).map(([media, { schema }]) => <Typed key={status + media} title={`Response ${status}, ${media}`} schema={schema} types={types} />))}
      {bad.length > 0 && <p class="quiet small">Errors: {bad.map(([status, { description: why }]) => `${status} ${why}`).join("; ")}.</p>}
      <div class="same"><Snippet title="Try it" text={curl(operation, types, window.location.origin)} /></div>
    </details>
  );
}

/** A type with its fields; types inside of it open in their place. */
function Typed({ title, schema, types }: { title: string; schema: Schema | undefined; types: Description["types"] }) {
  const name = named(schema) ?? named(schema?.items);
  const found = name ? types[name] : schema;
  if (!found?.properties) return <p><b>{title}</b>: {words(schema)}</p>;
  const fields = Object.entries(found.properties).map(([field, each]): Field => [field, each, found.required?.includes(field) ?? false]);
  return <Fields title={`${title}: ${schema === found ? "object" : words(schema)}`} about={found.description} fields={fields} types={types} />;
}

type Field = readonly [name: string, schema: Schema, needed: boolean];

function Fields({ title, about, fields, types }: { title: string; about?: string | undefined; fields: readonly Field[]; types: Description["types"] }) {
  return (
    <div class="wide">
      <table class="numbers fields">
        <caption><b>{title}</b>{about && <span class="quiet"> {about.split("\n")[0]}</span>}</caption>
        <tbody>
          {fields.map(([name, schema, needed]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td><Type schema={schema} types={types} /></td>
              <td class="quiet">{needed ? "required" : schema.default !== undefined && schema.default !== null ? `default ${JSON.stringify(schema.default)}` : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Type({ schema, types }: { schema: Schema; types: Description["types"] }) {
  const inside = [schema, schema.items, ...(schema.anyOf ?? [])].map((each) => named(each) ?? named(each?.items)).find((name) => name !== null);
  if (!inside || !types[inside]?.properties) return <>{words(schema)}</>;
  return (
    <details>
      <summary>{words(schema)}</summary>
      <Typed title={inside} schema={{ $ref: inside }} types={types} />
    </details>
  );
}
