// Every chart has a table twin: the same numbers as text, for screen readers and for copying.
import type { ComponentChildren } from "preact";

interface Twin {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export function ChartWithTable({ twin, children }: { twin: Twin; children: ComponentChildren }) {
  return (
    <div class="chart">
      {children}
      <details class="twin">
        <summary aria-label={`Table: ${twin.caption}`}>table</summary>
        <table class="numbers">
          <caption>{twin.caption}</caption>
          <thead><tr>{twin.head.map((word) => <th key={word} scope="col">{word}</th>)}</tr></thead>
          <tbody>
            {twin.rows.map((row, place) => (
              <tr key={place}>{row.map((cell, at) => (at ? <td key={at}>{cell}</td> : <th key={at} scope="row">{cell}</th>))}</tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}
