// One of several options, with its label.

interface Props {
  readonly label: string;
  readonly value: string | null;
  readonly options: readonly string[];
  readonly wordsOf?: (option: string) => string; // as it is shown
  readonly none?: string | undefined; // what is shown for no option, where there may be none
  readonly onChoose: (option: string | null) => void;
}

export function Choice({ label, value, options, wordsOf = (option) => option, none, onChoose }: Props) {
  return (
    <label>
      {label}{" "}
      <select value={value ?? ""} onChange={(event) => onChoose(event.currentTarget.value || null)}>
        {none !== undefined && <option value="">{none}</option>}
        {options.map((option) => <option key={option} value={option}>{wordsOf(option)}</option>)}
      </select>
    </label>
  );
}
