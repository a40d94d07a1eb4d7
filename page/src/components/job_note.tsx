// How far a job is, a way to stop it, and what went wrong.
import { isRunning, type BackgroundJob } from "../api/job";
import { count } from "../numbers";
import { ProblemNote } from "./problem";

export function JobNote({ of: { job, problem, cancel }, what }: { of: BackgroundJob; what: string }) {
  return (
    <>
      {job && isRunning(job) && (
        <div class="job" role="status" aria-label={`Progress: ${what}`}>
          <progress aria-label={what} {...(job.total ? { value: job.done, max: job.total } : {})} />
          <span>
            {job.state === "queued" ? "queued" : job.progress || "starting"}
            {job.done > 0 && ` · ${count(job.done)}${job.total ? ` of ${count(job.total)}` : ""}`}
            <span class="quiet"> · {job.seconds.toFixed(0)} s</span>
          </span>
          <button type="button" class="small" onClick={() => void cancel()}>cancel</button>
        </div>
      )}
      {job?.state === "cancelled" && <p role="status">Cancelled: nothing was written.</p>}
      {job?.state !== "cancelled" && problem && <ProblemNote problem={problem} />}
      {job?.state === "done" && job.notes.filter((note) => !note.startsWith("Saved ")).map((note, at) => <div key={at} class="note" role="note"><p>{note}</p></div>)}
    </>
  );
}
