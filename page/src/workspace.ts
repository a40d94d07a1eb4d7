// The files of the workspace, which every page chooses from.
import { signal } from "@preact/signals";
import { get, type Schemas } from "./api/client";
import { problemOf, whenServed } from "./api/resource";

export type FileKind = Schemas["FileView"]["kind"];

export const workspace = signal<Schemas["WorkspaceView"] | null>(null);
export const workspaceProblem = signal<Schemas["Problem"] | null>(null);

export async function readWorkspace(): Promise<void> {
  try {
    workspace.value = await whenServed(() => get("/api/files"));
    workspaceProblem.value = null;
  } catch (error) {
    workspaceProblem.value = problemOf(error);
  }
}

export function filesOf(kind: FileKind): string[] {
  return (workspace.value?.files ?? []).filter((file) => file.kind === kind).map((file) => file.name);
}

/** The version that a file has now, or null where there is none. */
export function versionOf(name: string | null): string | null {
  return workspace.value?.files.find((file) => file.name === name)?.version ?? null;
}

/** The name of a file without its suffix. */
export function stemOf(name: string): string {
  return name.replace(/\.[^.]*$/, "");
}
