/** Capsules: read from their files, made into runs. */
import { type Capsule, capsuleSchema } from "../../reports/schema/capsule.ts";
import { asSchema } from "../flags/json-file.ts";
import { scenarioOf } from "../flags/scenario-file.ts";
import { UsageError } from "../flags/usage-error.ts";
import type { PlannedFault } from "../../sim/faults/plan.ts";
import { bugsOf, UnknownBug } from "../../sim/experiments/bugs.ts";
import { Recorder } from "../../sim/experiments/recorder.ts";
import { edited, replayed, type Reproduction } from "../../sim/experiments/shrink.ts";
import type { TraceDocument } from "../../reports/schema/trace-document.ts";
import { faultVerbs } from "../../scenarios/fault-rows.ts";

export function parseCapsule(document: unknown, path: string): Capsule {
  const capsule = asSchema(capsuleSchema, document, path, "Give a capsule that `touchstone hunt` wrote.");
  const wrong = capsule.faults.find(({ verb }) => !(verb in faultVerbs));
  if (wrong !== undefined)
    throw new UsageError(
      `${path}: faults: there is no verb ${JSON.stringify(wrong.verb)} in this version. Replay it with ${capsule.build}.`,
    );
  return capsule;
}

export function reproductionOf(capsule: Capsule, path: string): Reproduction {
  const { scenario: text, scenarioName, profile, edits, seed, mode, bugs, faults } = capsule;
  const scenario = { ...scenarioOf(text, `${path}: scenario ${scenarioName}`), profile };
  try {
    return { scenario, edits, seed, mode, bugs: bugsOf(bugs), faults: faults as unknown as readonly PlannedFault[] };
  } catch (error) {
    if (error instanceof UnknownBug)
      throw new UsageError(`${path}: bugs: ${error.message}. Replay it with ${capsule.build}.`);
    throw error;
  }
}

/** The run of a capsule, made again and written down. */
export function recordedCapsule(capsule: Capsule, path: string): TraceDocument {
  const reproduction = reproductionOf(capsule, path);
  const recorder = new Recorder(edited(reproduction.scenario, reproduction.edits));
  return recorder.document(replayed(reproduction, recorder).report);
}
