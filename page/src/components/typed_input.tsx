// An input that keeps what is being typed, whatever is drawn again meanwhile; it is used when it is left or Enter is pressed.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

interface Props {
  readonly value: string | number;
  readonly onTyped: (text: string) => void;
  readonly class?: string;
  readonly type?: "text" | "number";
  readonly id?: string | undefined;
  readonly list?: string | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly step?: string | number;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly readOnly?: boolean;
  readonly "aria-label"?: string;
}

export function TypedInput({ value, onTyped, type = "text", ...rest }: Props) {
  const typed = useMemo(() => signal<string | null>(null), [value]);
  const use = (text: string) => {
    typed.value = null; // what was there before, until it is accepted
    if (text !== String(value)) onTyped(text);
  };
  const input = {
    ...rest, value: typed.value ?? value,
    onInput: (event: { currentTarget: HTMLInputElement }) => void (typed.value = event.currentTarget.value),
    onChange: (event: { currentTarget: HTMLInputElement }) => use(event.currentTarget.value.trim()),
  };
  return type === "number" ? <input type="number" {...input} /> : <input type="text" {...input} />;
}
