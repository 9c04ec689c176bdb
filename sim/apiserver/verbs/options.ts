/**
 * The options of writes, read from the query (and for deletions from a body) and checked: CreateOptions,
 * UpdateOptions, PatchOptions and DeleteOptions. Source: document 1, Dry-run and Field validation; the facts,
 * section 4 and D17.
 */
import { append } from "../../../wire/lists.ts";
import { groupInDialect } from "../../../wire/dialect.ts";
import { type ApiError, badRequest, type Cause, invalid } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { int64Of } from "../../objects/int64.ts";
import { int64OfDecimal } from "../../../wire/int64.ts";
import type { Query } from "../requests/url.ts";
import type { Profile } from "../../contract/profile.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

export interface WriteOptions {
  readonly dryRun: boolean;
  /** Empty when the request names none; the user agent's then. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
}

export type Propagation = "Orphan" | "Background" | "Foreground";

export interface DeleteOptions {
  readonly dryRun: boolean;
  /** Seconds; undefined means the object's own. */
  readonly gracePeriodSeconds: number | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly propagation: Propagation | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly ignoreStoreReadError: boolean;
}

type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions";

/** What the options' rules are read from. */
export interface OptionsRules {
  readonly profile: Profile;
}

const plainOptions: WriteOptions = { dryRun: false, fieldManager: "", fieldValidation: "Warn" };

/** What an application may say beside; `force` takes fields from their owners. */
export interface ApplyPatchOptions extends WriteOptions {
  readonly force: boolean;
}

/** The options of an application: it must name its manager. Throws 400 or 422. */
export function applyPatchOptions(rules: OptionsRules, query: Query): ApplyPatchOptions {
  const missing = (query.first("fieldManager") ?? "") === "" ? [managerRequired] : [];
  return { ...readOptions(rules, "PatchOptions", query, missing), force: query.has("force") && query.flag("force") };
}

/** `force` is a field of PatchOptions alone and only server-side apply may set it. Throws 400 or 422. */
export function writeOptions(
  rules: OptionsRules,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  query: Query,
): WriteOptions {
  if (query.isEmpty) return plainOptions;
  return readOptions(rules, kind, query, kind === "PatchOptions" && query.has("force") ? [forceForbidden] : []);
}

function readOptions(
  rules: OptionsRules,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  query: Query,
  first: readonly Cause[],
): WriteOptions {
  const fieldManager = query.first("fieldManager") ?? "";
  const level = query.first("fieldValidation") ?? "";
  const causes: Cause[] = [...first, ...fieldManagerCauses(fieldManager)];
  const dryRun = readDryRun(rules, query.all("dryRun"), causes);
  if (!levels.has(level)) {
    causes.push(notSupported("fieldValidation", level, '"", "Ignore", "Strict", "Warn"'));
  }
  if (causes.length > 0) throw invalidOptions(rules, kind, causes);
  return { dryRun, fieldManager, fieldValidation: level === "" ? "Warn" : (level as FieldValidation) };
}

/** The options as an object again, for those who judge requests: only what the request says. */
export function writeOptionsSent(dryRun: boolean, query: Query): JsonObject {
  return withoutAbsent({
    dryRun: dryRun ? ["All"] : undefined,
    fieldManager: query.first("fieldManager"),
    fieldValidation: query.first("fieldValidation"),
  });
}

export function deleteOptionsSent(options: DeleteOptions): JsonObject {
  const { gracePeriodSeconds, uid, resourceVersion, orphanDependents, propagation, dryRun } = options;
  const isConditional = uid !== undefined || resourceVersion !== undefined;
  return withoutAbsent({
    gracePeriodSeconds,
    preconditions: isConditional ? withoutAbsent({ uid, resourceVersion }) : undefined,
    orphanDependents,
    propagationPolicy: propagation,
    dryRun: dryRun ? ["All"] : undefined,
  });
}

const withoutAbsent = (fields: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;

const plainDeleteOptions: DeleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  uid: undefined,
  resourceVersion: undefined,
  propagation: undefined,
  orphanDependents: undefined,
  ignoreStoreReadError: false,
};

/** From the body when there is one (`body` is its decoded object), from the query otherwise. Throws 400 or 422. */
export function deleteOptions(rules: OptionsRules, query: Query, body: JsonObject | undefined): DeleteOptions {
  if (body === undefined && query.isEmpty) return plainDeleteOptions;
  const raw = body === undefined ? optionsOfQuery(query) : optionsOfBody(body);
  const causes: Cause[] = [];
  if (raw.orphanDependents !== undefined && raw.propagationPolicy !== undefined) {
    causes.push({
      reason: "FieldValueInvalid",
      message: `Invalid value: ${JSON.stringify(raw.propagationPolicy)}: orphanDependents and deletionPropagation cannot be both set`,
      field: "propagationPolicy",
    });
  }
  if (raw.propagationPolicy !== undefined && !propagations.has(raw.propagationPolicy)) {
    causes.push(
      notSupported("propagationPolicy", raw.propagationPolicy, '"Foreground", "Background", "Orphan", "nil"'),
    );
  }
  const dryRun = readDryRun(rules, raw.dryRun, causes);
  // With the gate off the parameter is cleared without a word. Source: the facts, D21.
  const unsafe = raw.ignoreStoreReadError && rules.profile.featureGates.AllowUnsafeMalformedObjectDeletion;
  if (unsafe) append(causes, unsafeCauses(raw));
  if (causes.length > 0) throw invalidOptions(rules, "DeleteOptions", causes);
  return {
    dryRun,
    gracePeriodSeconds: raw.gracePeriodSeconds,
    uid: raw.uid,
    resourceVersion: raw.resourceVersion,
    propagation: raw.propagationPolicy as Propagation | undefined,
    orphanDependents: raw.orphanDependents,
    ignoreStoreReadError: unsafe,
  };
}

/** 422 for options; `kind` in the meta group. Also what lists are refused with. */
export function invalidOptions({ profile }: OptionsRules, kind: OptionsKind, causes: readonly Cause[]): ApiError {
  // Only a bad dryRun has a status of its own, and only alone.
  const code = causes.every((cause) => cause.field === "dryRun") ? profile.invalidDryRunStatus : 422;
  return invalid(kind, groupInDialect(profile.dialect, "meta.svc.io"), "", causes, code);
}

const levels = new Set(["", "Ignore", "Warn", "Strict"]);
const propagations = new Set(["Orphan", "Background", "Foreground"]);

const managerRequired: Cause = {
  reason: "FieldValueRequired",
  message: "Required value: is required for apply patch",
  field: "fieldManager",
};

const forceForbidden: Cause = {
  reason: "FieldValueForbidden",
  message: "Forbidden: may not be specified for non-apply patch",
  field: "force",
};

const fieldManagerBytesMax = 128;

function fieldManagerCauses(manager: string): readonly Cause[] {
  if (manager === "") return [];
  const causes: Cause[] = [];
  if (new TextEncoder().encode(manager).length > fieldManagerBytesMax) {
    causes.push({
      reason: "FieldValueTooLong",
      message: `Too long: may not be more than ${fieldManagerBytesMax} bytes`,
      field: "fieldManager",
    });
  }
  const position = manager.search(unprintable);
  if (position >= 0) {
    const code = manager.codePointAt(position) as number;
    causes.push({
      reason: "FieldValueInvalid",
      message: `Invalid value: ${quoted(manager)}: invalid character U+${code.toString(16).toUpperCase().padStart(4, "0")} (at position ${position})`,
      field: "fieldManager",
    });
  }
  return causes;
}

const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** As Go quotes a string, control characters as `\x00`. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\\u00([0-9a-f]{2})/g, "\\x$1");
}

function readDryRun({ profile }: OptionsRules, values: readonly string[], causes: Cause[]): boolean {
  if (values.length === 0) return false;
  const bad = values.filter((value) => value !== "All" && !(value === "" && profile.emptyDryRun === "persist"));
  if (bad.length > 0) {
    const list = values.map((value) => JSON.stringify(value)).join(", ");
    causes.push({
      reason: "FieldValueNotSupported",
      message: `Unsupported value: []string{${list}}: supported values: "All"`,
      field: "dryRun",
    });
  }
  return values.includes("All");
}

const notSupported = (field: string, value: string, supported: string): Cause => ({
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`,
  field,
});

interface RawDeleteOptions {
  readonly dryRun: readonly string[];
  readonly gracePeriodSeconds: number | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly ignoreStoreReadError: boolean;
}

export const ignoreStoreReadErrorName = "ignoreStoreReadErrorWithClusterBreakingPotential";

function optionsOfQuery(query: Query): RawDeleteOptions {
  const grace = query.first("gracePeriodSeconds");
  if (grace !== undefined && !/^[-+]?\d+$/.test(grace)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
  }
  const seconds = grace === undefined ? undefined : int64Of(int64OfDecimal(grace));
  if (grace !== undefined && seconds === undefined) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: value out of range`);
  }
  return {
    dryRun: query.all("dryRun"),
    gracePeriodSeconds: seconds,
    uid: undefined, // preconditions exist in a body alone
    resourceVersion: undefined,
    propagationPolicy: query.first("propagationPolicy"),
    orphanDependents: query.has("orphanDependents") ? query.flag("orphanDependents") : undefined,
    ignoreStoreReadError: query.flag(ignoreStoreReadErrorName),
  };
}

/** Unknown fields are ignored; a field of the wrong type is a 400. */
function optionsOfBody(body: JsonObject): RawDeleteOptions {
  const preconditions = typed(body, "preconditions", "object", isObject) as JsonObject | undefined;
  const inside = preconditions ?? {};
  return {
    dryRun: typed(body, "dryRun", "[]string", isStrings) ?? [],
    gracePeriodSeconds: typed(body, "gracePeriodSeconds", "int64", isInt64),
    uid: typed(inside, "uid", "string", isString),
    resourceVersion: typed(inside, "resourceVersion", "string", isString),
    propagationPolicy: typed(body, "propagationPolicy", "string", isString),
    orphanDependents: typed(body, "orphanDependents", "bool", isBoolean),
    ignoreStoreReadError: typed(body, ignoreStoreReadErrorName, "bool", isBoolean) ?? false,
  };
}

const isInt64 = (value: unknown): value is number => int64Of(value) !== undefined;

function typed<T>(from: JsonObject, field: string, type: string, is: (value: unknown) => value is T): T | undefined {
  const value = from[field];
  if (value === undefined || value === null) return undefined;
  if (!is(value)) {
    throw badRequest(`json: cannot unmarshal value into Go struct field DeleteOptions.${field} of type ${type}`);
  }
  return value;
}

const isString = (value: unknown): value is string => typeof value === "string";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isStrings = (value: unknown): value is string[] => Array.isArray(value) && value.every(isString);
const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function unsafeCauses(raw: RawDeleteOptions): readonly Cause[] {
  const set: readonly (readonly [field: string, isSet: boolean])[] = [
    ["dryRun", raw.dryRun.length > 0],
    ["propagationPolicy", raw.propagationPolicy !== undefined],
    ["orphanDependents", raw.orphanDependents !== undefined],
    ["gracePeriodSeconds", raw.gracePeriodSeconds !== undefined],
    ["preconditions", raw.uid !== undefined || raw.resourceVersion !== undefined],
  ];
  return set
    .filter(([, isSet]) => isSet)
    .map(([field]) => ({
      reason: "FieldValueInvalid",
      message: `Invalid value: true: cannot be set together with .${field}`,
      field: ignoreStoreReadErrorName,
    }));
}
