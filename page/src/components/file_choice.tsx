// A file of the workspace, chosen into the URL.
import { change, go, path, query, urlOf } from "../router";
import { filesOf, type FileKind } from "../workspace";
import { Choice } from "./choice";

interface Props {
  readonly label: string;
  readonly name: string; // of the parameter
  readonly kind: FileKind;
  readonly value: string | null;
  readonly none?: string; // what is shown for no file, where that may be chosen
  readonly alone?: boolean; // whether all else in the URL is about the file before, and goes with it
}

export function FileChoice({ label, name, kind, value, none = value === null ? "choose" : undefined, alone = false }: Props) {
  const files = filesOf(kind);
  const options = value === null || files.includes(value) ? files : [value, ...files];
  return <Choice label={label} value={value} options={options} none={none} onChoose={(file) => (alone ? go(urlOf(path.value, { [name]: file })) : change({ [name]: file }))} />;
}

/** The file that the URL names, else the only sensible one: the first of its kind. */
export function chosenFile(name: string, kind: FileKind): string | null {
  return query.value.get(name) ?? filesOf(kind)[0] ?? null;
}
