import { tooLarge } from "../../contract/errors.ts";
import type { Run } from "./run.ts";

const bodyBytesMax = 3 * 1024 * 1024;

/** Throws 413 for a body beyond the limit. An object handed over in process has no size. */
export function requireBodySize({ request: { body } }: Run): void {
  if (body instanceof Uint8Array && body.length > bodyBytesMax) {
    throw tooLarge(`Request entity too large: limit is ${bodyBytesMax}`);
  }
}
