// What went wrong, and what to do about it.
import type { Problem } from "../api/client";

export function ProblemNote({ problem }: { problem: Problem }) {
  return (
    <div class="note stops" role="alert">
      <p>{problem.what}</p>
      {problem.fix && <p class="quiet">Fix: {problem.fix}</p>}
    </div>
  );
}
