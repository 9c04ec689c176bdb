/** What makes an embedded server the same server again: kept in reports, read back by `replay`. */
import { z } from "zod";
import { serverBugNames } from "../../sim/planted/server-bugs.ts";

const details = z.object({
  /** Of the server's own draws: names, uids, latencies. */
  seed: z.int().min(0).max(4_294_967_295),
  faults: z.array(z.enum(serverBugNames)),
  /** Each of the bugs shows in one request of so many. Absent: in all. */
  rarity: z.int().min(2).max(10_000).optional(),
  featureGates: z.record(z.string(), z.boolean()),
});

export type EmbeddedDetails = z.infer<typeof details>;

/** Undefined when a report was not made by this program, or by one whose embedded server had other switches. */
export function parseEmbeddedDetails(value: unknown): EmbeddedDetails | undefined {
  return details.safeParse(value).data;
}
