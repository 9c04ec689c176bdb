/** Hears what each request came to, as it happens: for whoever counts a whole run. It must touch nothing. */
import type { Payload } from "../../contract/http-message.ts";
import type { Run } from "./run.ts";

export interface RequestMeter {
  /** It has its answer, which leaves now. */
  answered(run: Run, payload: Payload): void;
  /** Its client went away before it had an answer. */
  abandoned(run: Run): void;
  /** A watch has begun. */
  opened(run: Run): void;
  /** A watch is told an event. */
  told(run: Run, payload: Payload): void;
}
