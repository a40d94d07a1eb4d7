// How much room there is for a picture, in pixels; 0 until it is known.
import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";

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
