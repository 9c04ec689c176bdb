/** A failure in a file: all that is needed to make it again, wherever the same version of Touchstone is. */
import { z } from "zod";

const failure = z.object({
  requirement: z.string(),
  text: z.string(),
  expected: z.string(),
  actual: z.string(),
  evidence: z.array(z.string()),
  atMicros: z.int().min(0),
  atRecord: z.int().min(0),
  traceHash: z.string(),
  signature: z.string(),
});

const edits = z.object({
  /** Clients that are left out. */
  without: z.array(z.string()).default([]),
  /** The run ends here. */
  untilMicros: z.int().min(1).optional(),
  /** Writers stop here. */
  quietFromMicros: z.int().min(1).optional(),
});

export const capsuleSchema = z.object({
  apiVersion: z.literal("capsules/v1"),
  kind: z.literal("Capsule"),
  /** Of Touchstone, with the commit when there is one. */
  build: z.string(),
  /** How errors call the scenario. */
  scenarioName: z.string(),
  /** The scenario file, word for word. */
  scenario: z.string(),
  profile: z.enum(["svc", "kubernetes"]),
  seed: z.int().min(0).max(4_294_967_295),
  mode: z.enum(["lite", "swarm", "performance"]),
  /** Planted bugs. */
  bugs: z.array(z.string()),
  /** What shrinking has left out of the scenario. */
  edits: edits.default({ without: [] }),
  /** What went wrong, by time. */
  faults: z
    .array(z.object({ atMicros: z.int().min(0), verb: z.string(), places: z.array(z.string()) }).loose())
    .max(100_000),
  failure,
});

export type Capsule = z.infer<typeof capsuleSchema>;
export type CapsuleEdits = z.infer<typeof edits>;

/** By what it says it is, whatever else is in it. */
export function isCapsule(document: unknown): boolean {
  return (document as { kind?: unknown } | null)?.kind === "Capsule";
}
