import type { ServedResource } from "../catalogue/served-resource.ts";
import type { Verb } from "../requests/route.ts";
import type { Run } from "../requests/run.ts";
import type { ReadVerbs } from "./read-verbs.ts";
import type { Writer } from "./writer.ts";

/** A request for a subresource, and what carries it out. */
export interface SubresourceCall {
  readonly run: Run;
  /** One that the table allows. */
  readonly verb: Verb;
  readonly resource: ServedResource;
  readonly reads: ReadVerbs;
  readonly writer: Writer;
}

/** A request for what is answered and not stored. */
export interface VirtualCall {
  readonly run: Run;
  readonly resource: ServedResource;
  readonly writer: Writer;
}
