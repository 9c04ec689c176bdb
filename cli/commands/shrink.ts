/** `touchstone shrink`: a smaller run that fails the same way. */
import process from "node:process";
import { type Capsule, isCapsule } from "../../reports/schema/capsule.ts";
import { reproduce, type Reproduction, shrinking, type Shrunk } from "../../sim/experiments/shrink.ts";
import type { ShrinkOptions } from "../command-line.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { onInterrupt, turnOfTheLoop } from "../output/interrupt.ts";
import { progressLine } from "../output/terminal.ts";
import { requireWritable, writeWhole } from "../output/written-files.ts";
import { buildName } from "../targets/build-name.ts";
import { readJsonFile } from "../flags/json-file.ts";
import { parseCapsule, reproductionOf } from "../targets/capsule-run.ts";

export async function shrink(options: ShrinkOptions): Promise<ExitCode> {
  const { file, output } = options;
  const document = readJsonFile(file, file, "Give a capsule that `touchstone hunt` wrote.");
  if (!isCapsule(document))
    throw new UsageError(`${file}: this is no capsule. Give one that \`touchstone hunt\` wrote.`);
  const capsule = parseCapsule(document, file);
  const target = output ?? file.replace(/(\.json)?$/, ".shrunk.json");
  requireWritable(target, "--output");
  const { signal, stopListening } = onInterrupt("Stopping; the smallest that was found is kept.");
  try {
    return await shrinkInto(target, capsule, options, signal);
  } finally {
    stopListening();
  }
}

async function shrinkInto(
  target: string,
  capsule: Capsule,
  { file, attempts: attemptsMax, json }: ShrinkOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  const whole = reproductionOf(capsule, file);
  const failure = reproduce(whole);
  if (failure?.signature !== capsule.failure.signature)
    throw new UsageError(
      `${file}: the failure does not come back, so it cannot be made smaller: \`npx touchstone replay ${file}\` says what differs.`,
    );
  const { smallest, isWhole } = await smallestOf(shrinking(whole, failure, attemptsMax), json, signal);
  const { reproduction, attempts } = smallest;
  const shrunk: Capsule = {
    ...capsule,
    build: buildName(),
    edits: reproduction.edits,
    faults: reproduction.faults.map((fault) => ({ ...fault, places: [...fault.places] })),
    failure: { ...smallest.failure, evidence: [...smallest.failure.evidence] },
  };
  writeWhole(target, `${JSON.stringify(shrunk, undefined, 2)}\n`);
  const before = sizeText(whole);
  const after = sizeText(reproduction);
  process.stdout.write(
    json
      ? `${JSON.stringify({ file: target, attempts, isWhole, before, after }, undefined, 2)}\n`
      : `from  ${before}\nto    ${after}\nin ${attempts} attempts${isWhole ? "" : ", cut short"}: ${target}\n`,
  );
  return isWhole ? exitCodes.good : exitCodes.inconclusive;
}

/** Until nothing is left to try, which is whole, or somebody interrupts, which is heard before each attempt. */
async function smallestOf(
  attempts: Generator<Shrunk, Shrunk>,
  json: boolean,
  signal: AbortSignal,
): Promise<{ readonly smallest: Shrunk; readonly isWhole: boolean }> {
  const line = progressLine();
  let found = attempts.next();
  while (found.done !== true) {
    const { attempts: count, reproduction } = found.value;
    if (!json) line.show(`${count} attempts: ${sizeText(reproduction)}`);
    await turnOfTheLoop();
    if (signal.aborted) break;
    found = attempts.next();
  }
  line.clear();
  return { smallest: found.value, isWhole: found.done === true };
}

function sizeText({ scenario, edits, faults }: Reproduction): string {
  const clients = scenario.clients.length - edits.without.length;
  const until = (edits.untilMicros ?? scenario.until) / 1_000_000;
  const quiet = edits.quietFromMicros === undefined ? "" : `, writers stop at ${edits.quietFromMicros / 1_000_000} s`;
  return `${faults.length} faults, ${clients} clients, ${until} s${quiet}`;
}
