/** Bodies that answer everybody are packed once: two hundred clients that ask for the same document share one. */
import { gzip } from "node:zlib";
import type { Payload } from "../contract/http-message.ts";

/** Undefined: it could not be packed. */
type Then = (zipped: Uint8Array | undefined) => void;

type Packed = { readonly is: Uint8Array | undefined } | { readonly waiting: Then[] };

const known = new WeakMap<Payload, Packed>();

/** Calls `then` when the pieces of a lasting payload are packed, at once when they are. It happens off this thread. */
export function packedOnce(payload: Payload, pieces: readonly Uint8Array[], then: Then): void {
  const before = known.get(payload);
  if (before === undefined) {
    const waiting = [then];
    known.set(payload, { waiting });
    gzip(Buffer.concat(pieces), { level: 1 }, (error, zipped) => {
      const is = error === null ? zipped : undefined;
      known.set(payload, { is });
      for (const each of waiting) each(is);
    });
  } else if ("is" in before) then(before.is);
  else before.waiting.push(then);
}
