// The server's own description of its API (OpenAPI), as far as a reader needs it: operations, parameters, bodies, types.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body: Content;
  readonly answers: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

export interface Description {
  readonly version: string;
  readonly operations: readonly Operation[];
  readonly types: Readonly<Record<string, Schema>>;
}

interface Document {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Record<string, unknown>>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export function descriptionOf(document: Document): Description {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, found]) => ({
    method: method.toUpperCase(),
    path,
    tag: ((found["tags"] as string[] | undefined) ?? ["other"])[0]!,
    description: String(found["description"] ?? found["summary"] ?? ""),
    parameters: (found["parameters"] as Parameter[] | undefined) ?? [],
    body: (found["requestBody"] as { content?: Content } | undefined)?.content ?? {},
    answers: (found["responses"] as Operation["answers"] | undefined) ?? {},
  })));
  return { version: document.info.version, operations, types: document.components?.schemas ?? {} };
}

/** The name of the type that a schema points to, if it does. */
export function named(schema: Schema | undefined): string | null {
  return schema?.$ref?.split("/").at(-1) ?? null;
}

/** A type in words, such as “list of text” or “number or nothing”. */
export function words(schema: Schema | undefined): string {
  if (!schema) return "anything";
  const name = named(schema);
  if (name) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (schema.anyOf ?? schema.allOf) return [...new Set((schema.anyOf ?? schema.allOf)!.map(words))].join(" or ");
  if (schema.type === "array") return `list of ${inside(schema.items)}`;
  if (schema.type === "object") return typeof schema.additionalProperties === "object" ? `object of ${inside(schema.additionalProperties)}` : "object";
  if (schema.format === "binary") return "bytes";
  return { string: "text", number: "number", integer: "whole number", boolean: "true or false", null: "nothing" }[schema.type ?? ""] ?? "anything";
}

function inside(schema: Schema | undefined): string {
  const found = words(schema);
  return / or | \| /.test(found) ? `(${found})` : found;
}

/** A value of this type, to begin with. */
function example(schema: Schema | undefined, types: Description["types"], name = "", depth = 0): unknown {
  if (!schema || depth > 4) return null;
  const type = named(schema);
  if (type) return example(types[type], types, name, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = (schema.anyOf ?? schema.allOf)?.find((each) => each.type !== "null");
  if (choice) return example(choice, types, name, depth);
  if (schema.type === "array") return [example(schema.items, types, name, depth + 1)];
  if (schema.properties) {
    const needed = schema.required ?? Object.keys(schema.properties).slice(0, 1);
    return Object.fromEntries(needed.map((key) => [key, example(schema.properties![key], types, key, depth + 1)]));
  }
  if (schema.type === "object") return { NAME: typeof schema.additionalProperties === "object" ? example(schema.additionalProperties, types, "", depth + 1) : 0 };
  return { string: FILES[name] ?? "TEXT", number: 1, integer: 1, boolean: false }[schema.type ?? ""] ?? null;
}

const FILES: Readonly<Record<string, string>> = {
  table: "TABLE.csv", model: "MODEL.bayeswise", decision: "DECISION.toml", file: "DECISION.toml", network: "NETWORK.bif", diagram: "DIAGRAM.toml", output: "OUTPUT",
};

/** A line for the shell that asks this, with the token of the environment. */
export function curl(operation: Operation, types: Description["types"], origin: string): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
  const search = operation.parameters.filter((each) => each.in === "query" && each.required).map((each) => `${each.name}=${String(example(each.schema, types, each.name))}`).join("&");
  const parts = [`curl -H "Authorization: Bearer $BAYESWISE_TOKEN"`];
  const json = operation.body["application/json"];
  if (operation.method !== "GET" && !(operation.method === "POST" && json)) parts.push(`-X ${operation.method}`);
  if (json) parts.push(`-H "Content-Type: application/json"`, `-d ${quoted(JSON.stringify(example(json.schema, types)))}`);
  return [...parts, quoted(`${origin}${path}${search ? `?${search}` : ""}`)].join(json ? " \\\n    " : " ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
