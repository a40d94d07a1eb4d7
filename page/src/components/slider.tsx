// A number that can be dragged, typed and stepped with the arrow keys.
import { TypedInput } from "./typed_input";

interface Props {
  readonly label: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly step: number;
  readonly state?: number; // the colour of the class that the number belongs to
  readonly onChange: (value: number) => void;
}

export function Slider({ label, value, least, most, step, state, onChange }: Props) {
  const take = (text: string) => {
    const typed = Number(text);
    if (text !== "" && Number.isFinite(typed)) onChange(Math.min(most, Math.max(least, typed)));
  };
  return (
    <label class="slider">
      <span>{state !== undefined && <i class={`mark state-${state}`} aria-hidden="true" />}{label}</span>
      <input type="range" min={least} max={most} step={step} value={value} onInput={(event) => take(event.currentTarget.value)} />
      <TypedInput type="number" aria-label={`${label}, typed`} min={least} max={most} step={step} value={value} onTyped={take} />
    </label>
  );
}
