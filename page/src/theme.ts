// Light or dark: as the system has it, until it is chosen here.
import { signal } from "@preact/signals";

export type Theme = "light" | "dark" | "system";

const KEY = "bayeswise-theme";

export const theme = signal<Theme>((localStorage.getItem(KEY) as Theme | null) ?? "system");

export function applyTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(KEY, chosen);
  applyTheme();
}
