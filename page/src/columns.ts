// The columns of a table, and the options of `look` that say how they are read, which stand in the URL.
import { get, type Schemas } from "./api/client";
import { useResource, type Resource } from "./api/resource";

export const KINDS = ["category", "number", "count", "binary", "text", "ignore"] as const;
export const COLUMN_OPTIONS = [...KINDS, "null"] as const;

/** The names of the columns, with the first row. */
export function useColumns(table: string | null): Resource<Schemas["RowsPage"]> {
  return useResource(table, (control) => get("/api/rows", { table: table!, start: "1", count: "1" }, control)).value;
}
