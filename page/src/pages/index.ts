// The pages in the order in which a user meets them; a new page is a line here.
import type { ComponentType } from "preact";
import { CostsPage } from "./costs";
import { DataPage } from "./data";
import { ExplainPage } from "./explain";
import { LabelPage } from "./label";
import { LearnPage } from "./learn";
import { ModelPage } from "./model";
import { NetworkPage } from "./network";
import { ReferencePage } from "./reference";
import { TrustPage } from "./trust";

export interface Page {
  readonly path: string;
  readonly title: string;
  readonly View: ComponentType;
  readonly aside?: boolean; // beside the way from data to decision
}

export const PAGES: readonly Page[] = [
  { path: "/data", title: "Data", View: DataPage },
  { path: "/model", title: "Model", View: ModelPage },
  { path: "/costs", title: "Costs", View: CostsPage },
  { path: "/explain", title: "Explain", View: ExplainPage },
  { path: "/trust", title: "Trust", View: TrustPage },
  { path: "/label", title: "Label", View: LabelPage },
  { path: "/network", title: "Network", View: NetworkPage },
  { path: "/learn", title: "Learn", View: LearnPage },
  { path: "/reference", title: "API", View: ReferencePage, aside: true },
];

export function pageOf(path: string): Page {
  return PAGES.find((page) => page.path === path) ?? PAGES[0]!;
}
