// The equivalent of a view: a line for the shell and lines of Python, ready to copy.
import { signal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { Schemas } from "../api/client";

/** `about` says what it is the same of, where a page has several. What only one of the two can do stands there alone. */
export function SameAsBox({ same, about = "" }: { same: Schemas["SameAs"]; about?: string }) {
  return (
    <section class="same" aria-label={`Equivalent code${about}`}>
      {same.shell && <Snippet title={`On the command line${about}`} text={same.shell} />}
      {same.python && <Snippet title={`In Python${about}`} text={same.python} />}
    </section>
  );
}

/** Words as a line for the shell, quoted where that is needed. */
export function shellLine(...words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`)).join(" ");
}

export function Snippet({ title, text }: { title: string; text: string }) {
  const copied = useMemo(() => signal(false), []);
  const lines = useRef<HTMLPreElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a page of another host without TLS has no clipboard, and a user may refuse it
      if (lines.current) window.getSelection()?.selectAllChildren(lines.current);
      return;
    }
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
      <pre ref={lines} tabIndex={0}>{text}</pre>
    </figure>
  );
}
