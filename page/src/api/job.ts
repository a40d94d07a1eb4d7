// What runs in the background: its id stands in the URL, so that it is found again when the page is loaded again.
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { change, query } from "../router";
import { ApiError, get, post, type Problem, type Schemas } from "./client";
import { problemOf, whenServed } from "./resource";

type Job = Schemas["JobView"];

const PAUSE = 200; // milliseconds between two looks at a job

export interface BackgroundJob {
  readonly job: Job | null;
  readonly problem: Problem | null;
  readonly start: (ask: () => Promise<Job>) => Promise<void>;
  readonly cancel: () => Promise<void>;
}

/** The job whose id the URL has under `parameter`; `onDone` is called once, when it ends well while the page looks. */
export function useJob(parameter: string, onDone: (job: Job) => void): BackgroundJob {
  const state = useMemo(() => signal<{ job: Job | null; problem: Problem | null }>({ job: null, problem: null }), []);
  const id = query.value.get(parameter);
  useEffect(() => {
    if (id === null) {
      state.value = { job: null, problem: null };
      return;
    }
    const control = new AbortController();
    let timer = 0;
    const look = async () => {
      try {
        const job = await whenServed(() => get("/api/jobs/{name}", {}, control.signal, { name: id }), control.signal);
        if (control.signal.aborted) return;
        const before = state.value.job;
        state.value = { job, problem: job.problem };
        if (isRunning(job)) timer = window.setTimeout(() => void look(), PAUSE);
        else if (job.state === "done" && before?.id === job.id && isRunning(before)) onDone(job);
      } catch (error) {
        if (control.signal.aborted) return;
        if (error instanceof ApiError && error.status === 404) change({ [parameter]: null }, { replace: true }); // of a server that has ended
        else state.value = { job: null, problem: problemOf(error) };
      }
    };
    void look();
    return () => {
      control.abort();
      window.clearTimeout(timer);
    };
  }, [id]);
  return {
    job: state.value.job,
    problem: state.value.problem,
    start: async (ask) => {
      try {
        const job = await ask();
        state.value = { job, problem: null };
        change({ [parameter]: job.id }, { replace: true });
      } catch (error) {
        state.value = { job: null, problem: problemOf(error) };
      }
    },
    cancel: async () => {
      if (state.value.job) await post("/api/jobs/{name}/cancel", undefined, { name: state.value.job.id }).catch(() => undefined); // it may have ended
    },
  };
}

export function isRunning(job: Job | null): boolean {
  return job?.state === "queued" || job?.state === "running";
}
