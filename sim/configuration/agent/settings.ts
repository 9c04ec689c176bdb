/** What an agent is told in the end: every flag and field with its value, from whichever place it came. */
import type { FlagRow } from "./flag-row.ts";
import { flagTable } from "./flag-table.ts";
import type { AgentRules } from "./agent-rules.ts";
import type { AgentFile } from "./agent-file.ts";
import { fileFields } from "./file-fields.ts";
import { type FlagValue, type HeaderValue, readFlag, type ReservedMemory, type TaintValue } from "./flag-values.ts";

export class AgentSettings {
  readonly rules: AgentRules;
  /** Flags that were given on the command line. */
  readonly given: ReadonlySet<string>;
  /** Fields that are kept as they are written. */
  readonly open: ReadonlyMap<string, unknown>;
  private readonly flags: ReadonlyMap<string, FlagValue>;
  private readonly fields: ReadonlyMap<string, FlagValue>;

  constructor(
    rules: AgentRules,
    flags: ReadonlyMap<string, FlagValue>,
    fields: ReadonlyMap<string, FlagValue>,
    more: Pick<AgentSettings, "given" | "open">,
  ) {
    this.rules = rules;
    this.flags = flags;
    this.fields = fields;
    this.given = more.given;
    this.open = more.open;
  }

  /** With other values of some flags. */
  with(flags: Readonly<Record<string, FlagValue>>): AgentSettings {
    return new AgentSettings(this.rules, new Map([...this.flags, ...Object.entries(flags)]), this.fields, this);
  }

  /** Of a flag by its name, or of a field that has no flag. */
  of(name: string): FlagValue | undefined {
    return this.flags.get(name) ?? this.fields.get(name);
  }

  text = (name: string): string => (this.of(name) ?? "") as string;
  flag = (name: string): boolean => (this.of(name) ?? false) as boolean;
  number = (name: string): number => (this.of(name) ?? 0) as number;
  texts = (name: string): readonly string[] => (this.of(name) ?? []) as readonly string[];
  map = (name: string): Readonly<Record<string, string>> => (this.of(name) ?? {}) as Readonly<Record<string, string>>;
  gates = (): Readonly<Record<string, boolean>> =>
    (this.of("feature-gates") ?? {}) as Readonly<Record<string, boolean>>;
  taints = (): readonly TaintValue[] => (this.of("register-with-taints") ?? []) as readonly TaintValue[];
  headers = (): readonly HeaderValue[] => (this.of("manifest-url-header") ?? []) as readonly HeaderValue[];
  reservedMemory = (): readonly ReservedMemory[] => (this.of("reserved-memory") ?? []) as readonly ReservedMemory[];
}

/**
 * Flags before files before defaults. Gates are merged name by name; all else is replaced as a whole. `hasConfig`: there is a
 * file, which has defaults of its own.
 */
export function settle(
  given: ReadonlyMap<string, FlagValue>,
  file: AgentFile | undefined,
  rules: AgentRules,
  hasConfig: boolean,
): AgentSettings {
  const flags = new Map<string, FlagValue>();
  for (const row of flagTable) {
    const value = settled(row, given.get(row.name), file, rules, hasConfig);
    if (value !== undefined) flags.set(row.name, value);
  }
  const fields = new Map<string, FlagValue>();
  for (const { field, default: standard, flag } of fileFields) {
    const value = file?.values.get(field) ?? standard;
    if (flag === undefined && value !== undefined) fields.set(field, value);
  }
  // Heartbeats follow the period of the status where only that is set.
  const update = file?.values.get("nodeStatusUpdateFrequency");
  if (update !== undefined && !file?.values.has("nodeStatusReportFrequency"))
    fields.set("nodeStatusReportFrequency", update);
  return new AgentSettings(rules, flags, fields, {
    given: new Set(given.keys()),
    open: file?.open ?? new Map(),
  });
}

function settled(
  row: FlagRow,
  given: FlagValue | undefined,
  file: AgentFile | undefined,
  rules: AgentRules,
  hasConfig: boolean,
): FlagValue | undefined {
  const { field, name } = row;
  const inFile = field === undefined ? undefined : file?.values.get(field);
  if (name === "feature-gates") return { ...(inFile as object), ...(given as object) } as FlagValue;
  // This one is on when either of the two says so.
  if (name === "seccomp-default") return given === true || inFile === true;
  if (given !== undefined && !(row.type === "ip" && given === "")) return given;
  if (inFile !== undefined && !(rules.zeroIsDefault && inFile === 0 && isPlainNumber(row))) return inFile;
  const ofFile = !hasConfig || field === undefined ? undefined : rules.fileDefaults[field];
  return ofFile ?? standardOf(row, rules);
}

export function standardOf(row: FlagRow, rules: AgentRules): FlagValue | undefined {
  const text = typeof row.default === "string" ? row.default : row.default[rules.defaults];
  if (text === "" && row.type !== "string") return undefined;
  const read = readFlag(row.type, text);
  return "value" in read ? read.value : undefined;
}

/** Numbers of which a file cannot say that they are zero: it is what they are when nothing is said. */
const plainNumbers = new Set([
  "port",
  "maxPods",
  "eventBurst",
  "kubeAPIBurst",
  "registryBurst",
  "podsPerCore",
  "maxOpenFiles",
  "evictionMaxPodGracePeriod",
]);

function isPlainNumber({ field = "", type, name }: FlagRow): boolean {
  return plainNumbers.has(field) || (type === "duration" && name !== "cpu-cfs-quota-period");
}
