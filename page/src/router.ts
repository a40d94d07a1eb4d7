// Every view has a URL: the page is its path, what is chosen on it are its parameters. The back button works.
import { computed, signal } from "@preact/signals";

export type Parameters = Record<string, string | readonly string[] | null | undefined>;

const address = signal(new URL(window.location.href));

export const path = computed(() => address.value.pathname.replace(/\/+$/, "") || "/");
export const query = computed(() => address.value.searchParams);

window.addEventListener("popstate", () => (address.value = new URL(window.location.href)));

/** The URL of a page with parameters; those that are empty are left out. */
export function urlOf(page: string, parameters: Parameters = {}): string {
  const search = searchOf(parameters);
  return search ? `${page}?${search}` : page;
}

/** Those of these parameters that the URL has, each with all its values. */
export function given(names: Iterable<string>): Record<string, string[]> {
  return Object.fromEntries([...names].map((name) => [name, query.value.getAll(name)] as const).filter(([, values]) => values.length));
}

/** A parameter that is given as name:value, once for each name. */
export function pairs(parameter: string): (readonly [name: string, value: string])[] {
  return query.value.getAll(parameter).map((text) => {
    const cut = text.indexOf(":");
    return [text.slice(0, cut), text.slice(cut + 1)] as const;
  });
}

export function searchOf(parameters: Parameters): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined) continue;
    for (const each of typeof value === "string" ? [value] : value) search.append(name, each);
  }
  return search.toString();
}

/** Go to a page; `replace` leaves no step for the back button. */
export function go(url: string, { replace = false } = {}): void {
  const before = path.value;
  if (replace) window.history.replaceState(null, "", url);
  else window.history.pushState(null, "", url);
  address.value = new URL(window.location.href);
  if (path.value !== before) window.scrollTo(0, 0); // what is chosen on a page does not move it
}

/** Change parameters of this view; all others stay. */
export function change(changes: Parameters, options: { replace?: boolean } = {}): void {
  go(urlOf(path.value, { ...given(query.value.keys()), ...changes }), options);
}

/** Links within the page do not load it again. */
export function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a");
  if (!link || link.target || link.origin !== window.location.origin || link.hasAttribute("download")) return;
  event.preventDefault();
  go(link.href);
}
