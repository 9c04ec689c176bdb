/** `touchstone shrink`: a smaller run that fails the same way. */
import process from "node:process";
import { type Capsule, isCapsule } from "../../reports/schema/capsule.ts";
import { reproduce, shrink as shrinkRun, type Reproduction } from "../../sim/experiments/shrink.ts";
import type { ShrinkOptions } from "../command-line.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { requireWritable, writeWhole } from "../output/written-files.ts";
import { buildName } from "../targets/build-name.ts";
import { readJsonFile } from "../flags/json-file.ts";
import { parseCapsule, reproductionOf } from "../targets/capsule-run.ts";

export function shrink({ file, output, attempts, json }: ShrinkOptions): ExitCode {
  const document = readJsonFile(file, file, "Give a capsule that `touchstone hunt` wrote.");
  if (!isCapsule(document))
    throw new UsageError(`${file}: this is no capsule. Give one that \`touchstone hunt\` wrote.`);
  const capsule = parseCapsule(document, file);
  const target = output ?? file.replace(/(\.json)?$/, ".shrunk.json");
  requireWritable(target, "--output");
  const whole = reproductionOf(capsule, file);
  const failure = reproduce(whole);
  if (failure?.signature !== capsule.failure.signature)
    throw new UsageError(
      `${file}: the failure does not come back, so it cannot be made smaller: \`npx touchstone replay ${file}\` says what differs.`,
    );
  const isShown = process.stderr.isTTY && !json;
  const smaller = shrinkRun(whole, failure, {
    attemptsMax: attempts,
    onAttempt: (count, best) =>
      void (isShown && process.stderr.write(`\r\u001b[K${count} attempts: ${sizeText(best)}`)),
  });
  if (isShown) process.stderr.write("\r\u001b[K");
  const { reproduction } = smaller;
  const shrunk: Capsule = {
    ...capsule,
    build: buildName(),
    edits: reproduction.edits,
    faults: reproduction.faults.map((fault) => ({ ...fault, places: [...fault.places] })),
    failure: { ...smaller.failure, evidence: [...smaller.failure.evidence] },
  };
  writeWhole(target, `${JSON.stringify(shrunk, undefined, 2)}\n`);
  const before = sizeText(whole);
  const after = sizeText(reproduction);
  process.stdout.write(
    json
      ? `${JSON.stringify({ file: target, attempts: smaller.attempts, before, after }, undefined, 2)}\n`
      : `from  ${before}\nto    ${after}\nin ${smaller.attempts} attempts: ${target}\n`,
  );
  return exitCodes.good;
}

function sizeText({ scenario, edits, faults }: Reproduction): string {
  const clients = scenario.clients.length - edits.without.length;
  const until = (edits.untilMicros ?? scenario.until) / 1_000_000;
  const quiet = edits.quietFromMicros === undefined ? "" : `, writers stop at ${edits.quietFromMicros / 1_000_000} s`;
  return `${faults.length} faults, ${clients} clients, ${until} s${quiet}`;
}
