import type { Source } from "../cache/source.ts";
import type { Selection } from "./selection.ts";
import type { ReadContext, ReadTarget, WatchRequest, WatchSink } from "./types.ts";

/** All that is known of a watch before it opens. */
export interface WatchPlan {
  readonly context: ReadContext;
  readonly target: ReadTarget;
  readonly request: WatchRequest;
  readonly sink: WatchSink;
  readonly selection: Selection;
  readonly source: Source;
  /** The version asked for; 0 when none was, or `0`. */
  readonly version: number;
}
