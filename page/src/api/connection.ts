// Whether the server answers: a page that outlives its server says so, keeps what it shows, and goes on when it is back.
import { signal } from "@preact/signals";

const PAUSE = 500; // milliseconds between two looks for the server

export const away = signal(false);

let waiting: Promise<void> | null = null;

/** A request; one without an answer starts the search for the server. */
export async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (isAway(error)) void serverBack();
    throw error;
  }
}

/** Whether a request failed because there was no answer; one that was cancelled did not. */
export function isAway(error: unknown): boolean {
  return error instanceof TypeError;
}

/** When the server answers again. */
export function serverBack(): Promise<void> {
  waiting ??= search();
  return waiting;
}

async function search(): Promise<void> {
  away.value = true;
  for (;;) {
    await new Promise((resolve) => window.setTimeout(resolve, PAUSE));
    try {
      await fetch("/healthz");
      break;
    } catch {
      // still away
    }
  }
  away.value = false;
  waiting = null;
}
