/** What `createCluster` is given, checked when the code runs: not everybody has a compiler before that. */
import { findSimilar } from "@optique/core/suggestion";
import { profiles } from "../contract/profile.ts";
import { serverBugNames } from "../planted/server-bugs.ts";
import type { ClusterOptions } from "./cluster.ts";

const isBoolean = (value: unknown): boolean => typeof value === "boolean";
const isString = (value: unknown): boolean => typeof value === "string";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;
const isDuration = (value: unknown): boolean => isString(value) || typeof value === "object";
const isListOf = (names: readonly string[]) => (value: unknown) =>
  Array.isArray(value) && value.every((name) => names.includes(name as string));

type Row = readonly [wanted: string, holds: (value: unknown) => boolean];

/** Every option, what it must be, and whether a value is. */
const rows: Readonly<Record<keyof ClusterOptions, Row>> = {
  seed: ['text, such as "1"', isString],
  profile: [oneOf(Object.keys(profiles)), (value) => Object.hasOwn(profiles, value as string)],
  objects: ["YAML or a list of objects", (value) => isString(value) || Array.isArray(value)],
  bugs: ["names of planted bugs, which docs/faults.md lists", isListOf(serverBugNames)],
  featureGates: ["gates and whether they are on", (value) => typeof value === "object"],
  controllers: ["true or false", isBoolean],
  historyWindow: ['a duration, such as "5m"', isDuration],
  cacheLag: ['a duration, such as "5s"', isDuration],
  latencyMicros: ["microseconds, or { min, max }", (value) => typeof value === "number" || typeof value === "object"],
  noticeAfter: ['a duration, such as "45s"', isDuration],
  traceRecordsMax: ['an integer from 1 on, or "all"', (value) => value === "all" || isCount(value)],
  virtualGlobals: ["true or false", isBoolean],
  requestsPerInstantMax: ["an integer from 1 on", isCount],
  hosts: ["a list of host names", (value) => Array.isArray(value) && value.every(isString)],
};

/** Throws a `TypeError` that names the first option that is not one, or has a value that it can't have. */
export function checkOptions(options: ClusterOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(rows, name)) throw new TypeError(`createCluster has no option ${name}. ${meant(name)}`);
    const [wanted, holds] = rows[name as keyof ClusterOptions];
    if (value !== undefined && (value === null || !holds(value))) {
      throw new TypeError(`createCluster: ${name} is ${JSON.stringify(value)}, and must be ${wanted}.`);
    }
  }
}

function meant(name: string): string {
  const known = Object.keys(rows);
  const near = findSimilar(name, known, { maxSuggestions: 1 });
  return near.length === 0 ? `The options are ${known.join(", ")}.` : `Did you mean ${near.join(" or ")}?`;
}

function oneOf(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" or ");
}
