// The same without this page: a line for the shell and lines of Python, ready to copy.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Schemas } from "../api/client";

/** `about` says what it is the same of, where a page has several. */
export function SameAsBox({ same, about = "" }: { same: Schemas["SameAs"]; about?: string }) {
  return (
    <section class="same" aria-label={`The same without this page${about}`}>
      <Snippet title={`On the command line${about}`} text={same.shell} />
      <Snippet title={`In Python${about}`} text={same.python} />
    </section>
  );
}

export function Snippet({ title, text }: { title: string; text: string }) {
  const copied = useMemo(() => signal(false), []);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    copied.value = true;
    window.setTimeout(() => (copied.value = false), 1500);
  };
  return (
    <figure>
      <figcaption>
        <span>{title}</span>
        <button type="button" class="small" onClick={() => void copy()} aria-label={`Copy: ${title}`}>
          {copied.value ? "copied" : "copy"}
        </button>
      </figcaption>
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}
