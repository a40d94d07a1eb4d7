// A file of the workspace, chosen into the URL.
import { changed, go, query } from "../router";
import { filesOf, type FileKind } from "../workspace";

interface Props {
  readonly label: string;
  readonly name: string; // of the parameter
  readonly kind: FileKind;
  readonly value: string | null;
  readonly none?: string; // what is shown for no file, where that may be chosen
}

export function FileChoice({ label, name, kind, value, none }: Props) {
  const files = filesOf(kind);
  return (
    <label>
      {label}
      <select value={value ?? ""} onChange={(event) => choose(name, event.currentTarget.value)}>
        {(none !== undefined || value === null) && <option value="">{none ?? "choose"}</option>}
        {value !== null && !files.includes(value) && <option value={value}>{value}</option>}
        {files.map((file) => <option key={file} value={file}>{file}</option>)}
      </select>
    </label>
  );
}

function choose(name: string, file: string): void {
  go(changed({ [name]: file || null }));
}

/** The file that the URL names, else the only sensible one: the first of its kind. */
export function chosenFile(name: string, kind: FileKind): string | null {
  return query.value.get(name) ?? filesOf(kind)[0] ?? null;
}
