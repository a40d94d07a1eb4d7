// How much room there is for a picture, in pixels; 0 until it is known.
import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";

/** Whether names have no room beside a picture. */
export function useNarrow(frame: RefObject<HTMLElement | null>): boolean {
  const room = useWidth(frame);
  return room > 0 && room < 560;
}

export function useWidth(frame: RefObject<HTMLElement | null>): number {
  const width = useMemo(() => signal(0), []);
  useLayoutEffect(() => {
    const measure = () => (width.value = frame.current?.clientWidth ?? 0);
    measure();
    const observer = new ResizeObserver(measure);
    if (frame.current) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return width.value;
}

/** As much of a text as there is room for. */
export function shortened(text: string, most = 30): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
