/** What `hunt` is given, checked when the code runs: not everybody has a compiler before that. */
import { didYouMean } from "../../../wire/near-names.ts";
import { durationMicros } from "../duration.ts";
import { faultPatterns } from "./acts.ts";
import type { HuntOptions } from "./hunt-options.ts";

type Row = readonly [wanted: string, holds: (value: unknown) => boolean];

const isFunction = (value: unknown): boolean => typeof value === "function";
const isSeed = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;

const rows: Readonly<Record<keyof HuntOptions, Row>> = {
  program: ["a function that runs the program", isFunction],
  workload: ["a function that does the work around the program", isFunction],
  check: ["a function that throws when something is wrong", isFunction],
  eachWrite: ["a function that throws at a write that must not be", isFunction],
  sameEnd: ["true, false, or a function", (value) => typeof value === "boolean" || isFunction(value)],
  quiet: ['a duration, such as "5m"', isDuration],
  seeds: [
    "how many seeds, or a list of them: integers from 1 on",
    (value) => isSeed(value) || (Array.isArray(value) && value.length > 0 && value.every(isSeed)),
  ],
  faults: [
    `a list of ${faultPatterns.join(", ")}`,
    (value) => Array.isArray(value) && value.every((name) => (faultPatterns as readonly unknown[]).includes(name)),
  ],
  cluster: ["options of createCluster, without seed and virtualGlobals", (value) => typeof value === "object"],
};

/** Throws a `TypeError` that names the first option that is not one, is missing, or has a value that it can't have. */
export function checkHuntOptions(options: HuntOptions): void {
  for (const [name, value] of Object.entries(options)) {
    const row = Object.hasOwn(rows, name) ? rows[name as keyof HuntOptions] : undefined;
    if (row === undefined) throw new TypeError(`hunt has no option ${name}${didYouMean(name, Object.keys(rows))}`);
    if (value !== undefined && (value === null || !row[1](value)))
      throw new TypeError(`hunt: ${name} is ${JSON.stringify(value) ?? "a function"}, and must be ${row[0]}`);
  }
  for (const name of ["program", "workload"] as const)
    if (options[name] === undefined) throw new TypeError(`hunt: ${name} is missing: ${rows[name][0]}`);
  for (const name of ["seed", "virtualGlobals"])
    if (name in (options.cluster ?? {}))
      throw new TypeError(
        `hunt: cluster.${name} is the hunt's own: leave it out${name === "seed" ? ", and give seeds" : ""}`,
      );
}

function isDuration(value: unknown): boolean {
  try {
    durationMicros(value as never);
    return true;
  } catch {
    return false;
  }
}
