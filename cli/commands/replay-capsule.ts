/** `touchstone replay CAPSULE`: the same failure at the same event, or what differs. */
import process from "node:process";
import { parseCapsule, reproductionOf } from "../targets/capsule-run.ts";
import { buildName } from "../targets/build-name.ts";
import { type ExitCode, exitCodes } from "../flags/usage-error.ts";
import { painter } from "../output/terminal.ts";
import { reproduce } from "../../sim/experiments/shrink.ts";
import type { Capsule } from "../../reports/schema/capsule.ts";
import type { SimulationFailure } from "../../reports/schema/simulation-report.ts";

interface Outcome {
  readonly result: "same" | "other" | "gone";
  readonly explanation: string;
  readonly failure: SimulationFailure | undefined;
}

export function replayCapsule(document: unknown, path: string, json: boolean): ExitCode {
  const capsule = parseCapsule(document, path);
  const outcome = compare(capsule, reproduce(reproductionOf(capsule, path)), buildName());
  process.stdout.write(json ? `${JSON.stringify(outcome, undefined, 2)}\n` : textOf(outcome));
  return outcome.result === "gone" ? exitCodes.good : exitCodes.targetFailed;
}

function compare({ failure: then, build }: Capsule, now: SimulationFailure | undefined, present: string): Outcome {
  const changed = build === present ? "" : ` The capsule is of build ${build}, and this is ${present}.`;
  if (now === undefined)
    return { result: "gone", explanation: `Not reproduced: no promise was broken.${changed}`, failure: now };
  if (now.signature !== then.signature) {
    const explanation = `Another failure came: recorded were ${then.requirement}, expected ${then.expected}, actual ${then.actual}.${changed}`;
    return { result: "other", explanation, failure: now };
  }
  if (now.atRecord === then.atRecord && now.traceHash === then.traceHash)
    return {
      result: "same",
      explanation: `The same failure came back, at the same event: record ${now.atRecord}, trace ${now.traceHash}.`,
      failure: now,
    };
  const where = `then at record ${then.atRecord}, trace ${then.traceHash}; now at record ${now.atRecord}, trace ${now.traceHash}`;
  const explanation = `The same kind of failure came, by another way: ${where}.${changed}${changed === "" ? " That a build differs from itself is a bug of Touchstone." : ""}`;
  return { result: "other", explanation, failure: now };
}

function textOf({ result, explanation, failure }: Outcome): string {
  const paint = painter(process.stdout);
  const head = paint(result === "gone" ? "good" : "bad", explanation);
  if (failure === undefined) return `${head}\n`;
  return `${head}\n\n${[
    `${paint("bad", "FAILED")} ${failure.requirement} at ${failure.atMicros / 1_000_000} s`,
    `  promised  ${failure.text}`,
    `  expected  ${failure.expected}`,
    `  actual    ${failure.actual}`,
    ...failure.evidence.map((line, index) => `  ${index === 0 ? "evidence" : "        "}  ${line}`),
  ].join("\n")}\n`;
}
