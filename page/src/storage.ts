// What the tab keeps until it is closed: a reload goes on with it.

/** What was kept, or null: also in a browser that stores nothing. */
export function kept<T>(key: string): T | null {
  try {
    return JSON.parse(window.sessionStorage.getItem(key) ?? "null") as T | null;
  } catch {
    return null;
  }
}

/** Keep a value; null removes it. A browser that stores nothing, or no more, loses it at a reload. */
export function keep(key: string, value: unknown): void {
  try {
    if (value === null) window.sessionStorage.removeItem(key);
    else window.sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // nothing else depends on it
  }
}
