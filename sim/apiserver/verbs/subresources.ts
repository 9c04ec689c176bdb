/** Subresources by name. Those that the table has and this list has not are refused: see `Verbs.carryOut`. */
import { bind } from "./binding.ts";
import { evict } from "./eviction.ts";
import { patch } from "./patch.ts";
import { scale } from "./scale.ts";
import type { SubresourceCall } from "./resource-calls.ts";
import { requestToken } from "./token-request.ts";
import { update } from "./update.ts";

export const subresources: Readonly<Record<string, (call: SubresourceCall) => void>> = {
  status: sameObject("status"),
  finalize: sameObject("finalize"),
  scale,
  binding: bind,
  eviction: evict,
  token: requestToken,
  approval: sameObject("approval"),
  ephemeralcontainers: sameObject("ephemeralcontainers"),
  resize: sameObject("resize"),
};

/** A subresource that shows the whole object and writes a part of it. */
function sameObject(subresource: string): (call: SubresourceCall) => void {
  return ({ run, verb, resource, reads, writer }) => {
    if (verb === "get") reads.get(run, resource);
    else if (verb === "update") update(writer, run, resource, subresource);
    else patch(writer, run, resource, subresource);
  };
}
