import type { Source } from "../cache/source.ts";
import type { Selection } from "./selection.ts";
import type { ListRequest, ListSink, ReadContext, ReadTarget } from "./types.ts";

/** All that is known of a list before it begins. */
export interface ListPlan {
  readonly context: ReadContext;
  readonly target: ReadTarget;
  readonly source: Source;
  readonly request: ListRequest;
  readonly selection: Selection;
  readonly sink: ListSink;
}
