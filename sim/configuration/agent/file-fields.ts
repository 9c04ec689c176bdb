/**
 * Fields that only a file of an agent's configuration has, and how a field's value is read.
 * Source: the fact sheet of the 1.33 agent, flags and configuration.
 */
import type { FlagType } from "./flag-row.ts";
import { flagTable } from "./flag-table.ts";
import { type FlagValue, type HeaderValue, readFlag, type ReservedMemory, type TaintValue } from "./flag-values.ts";

/** `open`: kept as it is written. */
export type FieldType = Exclude<FlagType, "help" | "version"> | "double" | "open";

export interface FileField {
  readonly field: string;
  readonly type: FieldType;
  /** Undefined: none, or its flag's. */
  readonly default?: FlagValue;
  /** The flag that says the same. */
  readonly flag?: string;
  /** Why nothing follows from it here. Absent: it acts. */
  readonly inert?: string;
}

const only = (field: string, type: FieldType, standard?: FlagValue): FileField =>
  standard === undefined ? { field, type } : { field, type, default: standard };

const inert = (why: string, field: string, type: FieldType, standard?: FlagValue): FileField => ({
  ...only(field, type, standard),
  inert: why,
});

const ofKernel = "only a kernel could act on it";
const noShutdown = "shutdowns of machines are not delayed for pods";
const noHostLogs = "logs of the host are not served";

const second = 1_000_000;

const fileOnly: readonly FileField[] = [
  only("containerLogMaxWorkers", "int32", 1),
  only("containerLogMonitorInterval", "duration", 10 * second),
  only("crashLoopBackOff.maxContainerRestartPeriod", "duration"),
  inert("flags cannot be changed while it runs", "enableDebugFlagsHandler", "bool", true),
  only("enableProfilingHandler", "bool", true),
  inert(noHostLogs, "enableSystemLogHandler", "bool", true),
  inert(noHostLogs, "enableSystemLogQuery", "bool", false),
  only("imageMaximumGCAge", "duration", 0),
  inert(ofKernel, "iptablesDropBit", "int32", 15),
  inert(ofKernel, "iptablesMasqueradeBit", "int32", 14),
  only("maxParallelImagePulls", "int32"),
  inert(ofKernel, "memorySwap.swapBehavior", "string", ""),
  inert(ofKernel, "memoryThrottlingFactor", "double", 0.9),
  only("mergeDefaultEvictionSettings", "bool", false),
  only("nodeLeaseDurationSeconds", "int32", 40),
  only("nodeStatusReportFrequency", "duration", 300 * second),
  only("podLogsDir", "string", "/var/log/pods"),
  inert("no metric is hidden", "showHiddenMetricsForVersion", "string", ""),
  inert(noShutdown, "shutdownGracePeriod", "duration", 0),
  inert(noShutdown, "shutdownGracePeriodByPodPriority", "open"),
  inert(noShutdown, "shutdownGracePeriodCriticalPods", "duration", 0),
  inert(ofKernel, "singleProcessOOMKill", "bool"),
  inert("agents write no traces", "tracing", "open"),
  inert(ofKernel, "userNamespaces", "open"),
];

export const fileFields: readonly FileField[] = [
  ...flagTable.flatMap(({ field, name, type }) =>
    field === undefined || type === "help" || type === "version" ? [] : [{ field, type, flag: name }],
  ),
  ...fileOnly,
].sort((left, right) => (left.field < right.field ? -1 : 1));

export type FieldRead = { readonly value: FlagValue } | { readonly error: string } | { readonly open: unknown };

/** A value as YAML or JSON has it. Undefined is for who does not give the field. */
export function readField(type: FieldType, value: unknown): FieldRead {
  switch (type) {
    case "bool":
      return typeof value === "boolean" ? { value } : { error: "must be true or false" };
    case "int32":
    case "int":
    case "level":
      return Number.isInteger(Number(value)) && (typeof value === "number" || typeof value === "bigint")
        ? { value: Number(value) }
        : { error: "must be an integer" };
    case "double":
      return typeof value === "number" ? { value } : { error: "must be a number" };
    case "duration":
      return typeof value === "string" ? readFlag("duration", value) : { error: 'must be a duration such as "10s"' };
    case "string":
    case "bytes":
      return typeof value === "string" || (type === "bytes" && typeof value === "number")
        ? readFlag(type, String(value))
        : { error: "must be a string" };
    case "ip":
      return typeof value === "string" ? readFlag("ip", value) : { error: "must be an IP address" };
    case "strings":
      return isTexts(value) ? { value } : { error: "must be a list of strings" };
    case "thresholds":
    case "pairs":
    case "labels":
      return isMap(value, "string")
        ? { value: value as Record<string, string> }
        : { error: "must map names to strings" };
    case "gates":
      return isMap(value, "boolean")
        ? { value: value as Record<string, boolean> }
        : { error: "must map names to true or false" };
    case "headers":
      return readHeaderLists(value);
    case "taints":
      return readTaintList(value);
    case "reservedMemory":
      return readMemoryList(value);
    case "vmodule":
      return readModules(value);
    case "open":
      return { open: value };
  }
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

function isMap(value: unknown, of: "string" | "boolean"): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => typeof item === of)
  );
}

function readHeaderLists(value: unknown): FieldRead {
  if (typeof value !== "object" || value === null || !Object.values(value).every(isTexts)) {
    return { error: "must map names to lists of strings" };
  }
  const headers = Object.entries(value as Record<string, readonly string[]>).flatMap(([name, texts]) =>
    texts.map((text): HeaderValue => [name, text]),
  );
  return { value: headers };
}

function readTaintList(value: unknown): FieldRead {
  const wrong = { error: "must be a list of taints, each with key and effect" };
  if (!Array.isArray(value)) return wrong;
  const taints: TaintValue[] = [];
  for (const item of value as Partial<TaintValue>[]) {
    if (typeof item?.key !== "string" || typeof item.effect !== "string") return wrong;
    const text = `${item.key}${item.value === undefined ? "" : `=${String(item.value)}`}:${item.effect}`;
    const read = readFlag("taints", text);
    if ("error" in read) return read;
    if ((read.value as readonly TaintValue[]).length !== 1) return wrong;
    for (const taint of read.value as readonly TaintValue[]) taints.push(taint);
  }
  return { value: taints };
}

function readMemoryList(value: unknown): FieldRead {
  const wrong = { error: "must be a list of numaNode and limits" };
  if (!Array.isArray(value)) return wrong;
  const rows = value as { readonly numaNode?: unknown; readonly limits?: unknown }[];
  if (!rows.every((row) => typeof row?.numaNode === "number" && isMap(row.limits, "string"))) return wrong;
  return { value: rows as unknown as readonly ReservedMemory[] };
}

function readModules(value: unknown): FieldRead {
  const wrong = { error: "must be a list of filePattern and verbosity" };
  if (!Array.isArray(value)) return wrong;
  const rows = value as { readonly filePattern?: unknown; readonly verbosity?: unknown }[];
  if (!rows.every((row) => typeof row?.filePattern === "string" && typeof row.verbosity === "number")) return wrong;
  return { value: Object.fromEntries(rows.map((row) => [row.filePattern, String(row.verbosity)])) };
}
