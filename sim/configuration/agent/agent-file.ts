/**
 * Files of an agent's configuration: the one that --config names, and those laid over it. What is not known is told as a
 * warning and left out, as the published agent does; what has the wrong type is an error.
 * Source: document 3, Options, --config and --config-dir; the fact sheet of the 1.33 agent, flags and configuration.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { firstLines } from "../../../wire/first-lines.ts";
import { didYouMean } from "../../../wire/near-names.ts";
import type { Cause } from "../../contract/errors.ts";
import { readDocument } from "../document.ts";
import { fileFields, readField } from "./file-fields.ts";
import type { FlagValue } from "./flag-values.ts";

export interface AgentFile {
  /** By the field, with dots. */
  readonly values: ReadonlyMap<string, FlagValue>;
  /** Fields that are kept as they are written. */
  readonly open: ReadonlyMap<string, unknown>;
  readonly warnings: readonly string[];
  readonly problems: readonly Cause[];
}

export interface AgentKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What the first two fields of such a file say. */
export function agentFileKind({ name, groupSuffix }: Dialect): AgentKind {
  return name === "svc"
    ? { apiVersion: `nodeagent.config.${groupSuffix}/v1beta1`, kind: "NodeAgentConfiguration" }
    : { apiVersion: `kubelet.config.${groupSuffix}/v1beta1`, kind: "KubeletConfiguration" };
}

export type FileFields = Readonly<Record<string, unknown>>;

/** The fields of a file, before they are laid over each other. */
export function readAgentDocument(
  text: string,
  wanted: AgentKind,
): { readonly fields: FileFields; readonly problems: readonly Cause[] } {
  const { fields, problems } = readDocument(text);
  const [whole] = problems.filter(({ field }) => field === "");
  if (whole !== undefined) return { fields, problems: [whole] };
  const { apiVersion, kind } = fields;
  if (apiVersion === undefined || kind === undefined) return { fields, problems: [problem("", "no apiVersion/kind")] };
  const wrong =
    apiVersion === wanted.apiVersion && kind === wanted.kind
      ? []
      : [
          problem(
            "kind",
            `must be ${wanted.kind} of ${wanted.apiVersion}, not ${String(kind)} of ${String(apiVersion)}`,
          ),
        ];
  return { fields, problems: wrong };
}

/** Objects are merged, null takes away, all else replaces. Not deeper than any field lies. */
export function mergeFields(below: FileFields, above: FileFields, depth = 0): FileFields {
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = merged[key];
    if (value === null) delete merged[key];
    else merged[key] = isPlain(value) && isPlain(under) && depth < 16 ? mergeFields(under, value, depth + 1) : value;
  }
  return merged;
}

export function readAgentFields(fields: FileFields): AgentFile {
  const values = new Map<string, FlagValue>();
  const open = new Map<string, unknown>();
  const problems: Cause[] = [];
  const kept: string[] = [];
  const known = new Set(["apiVersion", "kind"]);
  for (const { field, type, inert } of fileFields) {
    for (let at = field.indexOf("."); at > 0; at = field.indexOf(".", at + 1)) known.add(field.slice(0, at));
    known.add(field);
    const value = valueAt(fields, field.split("."));
    if (value === undefined || value === null) continue;
    if (inert !== undefined)
      kept.push(`Field ${field} is checked and kept, and nothing else follows from it: ${inert}.`);
    const read = readField(type, value);
    if ("error" in read) problems.push(problem(field, read.error));
    else if ("open" in read) open.set(field, read.open);
    else values.set(field, read.value);
  }
  return {
    values,
    open,
    warnings: [...firstLines(unknownFields(fields, known, "").map(unknownField), unknownMax), ...kept],
    problems,
  };
}

const unknownMax = 10;
const fieldNames = fileFields.map(({ field }) => field);

/** Quoted as the published agent does it. */
const unknownField = (field: string): string =>
  `unknown field "${field}": it is left out${didYouMean(field, fieldNames)}`;

function unknownFields(fields: FileFields, known: ReadonlySet<string>, prefix: string): readonly string[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const path = `${prefix}${key}`;
    if (!known.has(path)) return [path];
    const isLeaf = fileFields.some(({ field }) => field === path);
    return isLeaf || !isPlain(value) ? [] : unknownFields(value, known, `${path}.`);
  });
}

function valueAt(fields: FileFields, path: readonly string[]): unknown {
  let at: unknown = fields;
  for (const key of path) at = isPlain(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return at;
}

const isPlain = (value: unknown): value is FileFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const problem = (field: string, message: string): Cause => ({ reason: "FieldValueInvalid", message, field });
