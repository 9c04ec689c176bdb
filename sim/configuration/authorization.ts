/**
 * AuthorizationConfiguration: who is asked whether a request may be made, and in which order.
 * Source: document 2, AuthorizationConfiguration; the facts, section 7 (order, paths and texts of errors), D28.
 */
import type { z } from "zod";
import type { Dialect } from "../../wire/dialect.ts";
import { parseGoDuration } from "../../wire/durations.ts";
import { dns1123LabelErrors, dns1123SubdomainErrors } from "../../wire/names.ts";
import type { Cause } from "../contract/errors.ts";
import type { Expression } from "../expressions/expression.ts";
import { duplicateValue, invalidValue, requiredValue, tooManyItems, unsupportedValue } from "../objects/causes.ts";
import type { Micros } from "../kernel/types.ts";
import { compiled, reviewVariables } from "./expressions.ts";
import type { Setting } from "./setting.ts";
import { fieldsOf, header, listOf, text } from "./shapes.ts";

/** How a dialect spells the connection file. */
const connectionWords = {
  svc: { type: "SvcConfigFile", field: "svcConfigFile" },
  kubernetes: { type: "KubeConfigFile", field: "kubeConfigFile" },
} as const;

export function authorizationShape({ name }: Dialect) {
  const { field } = connectionWords[name];
  const webhook = fieldsOf(
    {
      authorizedTTL: text.optional(),
      unauthorizedTTL: text.optional(),
      timeout: text.optional(),
      subjectAccessReviewVersion: text.optional(),
      matchConditionSubjectAccessReviewVersion: text.optional(),
      failurePolicy: text.optional(),
      connectionInfo: fieldsOf({ type: text.optional(), [field]: text.optional() }, ["type"]).optional(),
      matchConditions: listOf(fieldsOf({ expression: text.optional() }, ["expression"])).optional(),
    },
    ["timeout", "subjectAccessReviewVersion", "failurePolicy", "connectionInfo"],
  );
  const authorizer = fieldsOf({ type: text.optional(), name: text.optional(), webhook: webhook.optional() }, [
    "type",
    "name",
  ]);
  return fieldsOf({ ...header, authorizers: listOf(authorizer).optional() }, ["apiVersion", "kind", "authorizers"]);
}

type File = z.infer<ReturnType<typeof authorizationShape>>;
type Authorizer = NonNullable<File["authorizers"]>[number];
type Webhook = NonNullable<Authorizer["webhook"]>;

/** Types that a file may name. */
const authorizerTypes = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"] as const;
export type AuthorizerType = (typeof authorizerTypes)[number];

export interface AuthorizerSettings {
  readonly type: AuthorizerType;
  readonly name: string;
  /** Of the type Webhook, and of no other. */
  readonly webhook: AuthorizerWebhookSettings | undefined;
}

export interface AuthorizerWebhookSettings {
  /** How long its yes is kept, and its no. */
  readonly authorizedMicros: Micros;
  readonly unauthorizedMicros: Micros;
  /** At most 30 seconds. */
  readonly timeoutMicros: Micros;
  readonly reviewVersion: "v1" | "v1beta1";
  readonly failurePolicy: "NoOpinion" | "Deny";
  /** Path of the connection file; undefined: the way in that a pod has. */
  readonly connectionFile: string | undefined;
  /** All must be true, or it is not asked. */
  readonly conditions: readonly Expression[];
}

const conditionsMax = 64;
const timeoutMicrosMax: Micros = 30_000_000;
const defaultTtl = { authorizedTTL: "5m", unauthorizedTTL: "30s" } as const;

export function checkAuthorization(
  { authorizers = [] }: File,
  setting: Setting,
  problems: Cause[],
): readonly AuthorizerSettings[] {
  if (authorizers.length === 0) {
    problems.push(requiredValue("authorizers", "at least one authorization mode must be defined"));
  }
  const types = new Set<string>();
  const names = new Set<string>();
  return authorizers.flatMap<AuthorizerSettings>((row, index) => {
    const at = `authorizers[${index}]`;
    const type = checkType(row.type ?? "", `${at}.type`, types, problems);
    if (type === undefined) return [];
    const name = row.name ?? "";
    checkName(name, `${at}.name`, names, setting, problems);
    if (type !== "Webhook") {
      if (row.webhook !== undefined) {
        problems.push(invalidValue(`${at}.webhook`, "non-null", "may only be specified when type=Webhook"));
      }
      return [{ type, name, webhook: undefined }];
    }
    if (row.webhook === undefined) {
      problems.push(requiredValue(`${at}.webhook`, "required when type=Webhook"));
      return [];
    }
    const place = setting.rules.errorPaths === "fields" ? `${at}.webhook` : at;
    return [{ type, name, webhook: checkWebhook(row.webhook, place, setting, problems) }];
  });
}

function checkType(type: string, field: string, seen: Set<string>, problems: Cause[]): AuthorizerType | undefined {
  if (type === "") problems.push(requiredValue(field));
  else if (!isType(type)) problems.push(unsupportedValue(field, type, authorizerTypes));
  else if (type !== "Webhook" && seen.has(type)) problems.push(duplicateValue(field, type));
  else {
    seen.add(type);
    return type;
  }
  return undefined;
}

const isType = (type: string): type is AuthorizerType => (authorizerTypes as readonly string[]).includes(type);

function checkName(name: string, field: string, seen: Set<string>, { rules }: Setting, problems: Cause[]): void {
  if (name === "") problems.push(requiredValue(field));
  else if (seen.has(name)) problems.push(duplicateValue(field, name));
  else {
    const errors = rules.authorizerName === "label" ? dns1123LabelErrors(name) : dns1123SubdomainErrors(name);
    if (errors.length > 0) {
      problems.push(invalidValue(field, name, `authorizer name is invalid: ${errors.join(", ")}`));
    }
  }
  seen.add(name);
}

function checkWebhook(file: Webhook, at: string, setting: Setting, problems: Cause[]): AuthorizerWebhookSettings {
  const { rules } = setting;
  const conditions = file.matchConditions;
  if (conditions === undefined && rules.requiredAsDocumented) {
    problems.push(requiredValue(`${at}.matchConditions`, "an empty list matches all requests"));
  }
  checkConditionVersion(file, at, setting, problems);
  return {
    timeoutMicros: timeout(file.timeout, `${at}.timeout`, problems),
    authorizedMicros: lifetime(file, "authorizedTTL", at, setting, problems),
    unauthorizedMicros: lifetime(file, "unauthorizedTTL", at, setting, problems),
    reviewVersion: oneOf(
      file.subjectAccessReviewVersion,
      ["v1", "v1beta1"],
      `${at}.subjectAccessReviewVersion`,
      problems,
    ),
    failurePolicy: oneOf(file.failurePolicy, ["NoOpinion", "Deny"], `${at}.failurePolicy`, problems),
    connectionFile: connection(file.connectionInfo ?? {}, `${at}.connectionInfo`, setting, problems),
    conditions: checkConditions(conditions ?? [], `${at}.matchConditions`, problems),
  };
}

function timeout(value: string | undefined, field: string, problems: Cause[]): Micros {
  const micros = durationOf(value, field, problems);
  if (micros === 0) problems.push(requiredValue(field));
  else if (micros !== undefined && (micros < 0 || micros > timeoutMicrosMax)) {
    problems.push(invalidValue(field, value, "must be > 0s and <= 30s"));
  }
  return micros ?? 0;
}

function lifetime(
  file: Webhook,
  name: "authorizedTTL" | "unauthorizedTTL",
  at: string,
  { rules }: Setting,
  problems: Cause[],
): Micros {
  const field = `${at}.${name}`;
  const micros = durationOf(file[name], field, problems);
  if (micros === 0) {
    if (!rules.requiredAsDocumented) return durationOf(defaultTtl[name], field, problems) ?? 0;
    problems.push(requiredValue(field));
  } else if (micros !== undefined && micros < 0) problems.push(invalidValue(field, file[name], "must be > 0s"));
  return micros ?? 0;
}

/** 0 for what is not there; undefined for what is no duration. */
function durationOf(value: string | undefined, field: string, problems: Cause[]): Micros | undefined {
  if (value === undefined || value === "") return 0;
  const micros = parseGoDuration(value);
  if (micros === undefined) problems.push(invalidValue(field, value, "must be a duration such as 30s, 5m or 1h30m"));
  // Less than a microsecond is not nothing.
  return micros === 0 && /[1-9]/.test(value) ? (value.startsWith("-") ? -1 : 1) : micros;
}

function oneOf<Word extends string>(
  value: string | undefined,
  words: readonly [Word, ...Word[]],
  field: string,
  problems: Cause[],
): Word {
  const word = words.find((each) => each === value);
  if (word !== undefined) return word;
  problems.push(value === undefined || value === "" ? requiredValue(field) : unsupportedValue(field, value, words));
  return words[0];
}

/** There is one version to evaluate conditions against, so that nothing of it is kept. */
function checkConditionVersion(file: Webhook, at: string, { rules }: Setting, problems: Cause[]): void {
  const field = "matchConditionSubjectAccessReviewVersion";
  const hasConditions = (file.matchConditions ?? []).length > 0;
  if (file[field] !== undefined && file[field] !== "") oneOf(file[field], ["v1"], `${at}.${field}`, problems);
  else if (hasConditions || rules.requiredAsDocumented) problems.push(requiredValue(`${at}.${field}`));
}

function connection(
  info: NonNullable<Webhook["connectionInfo"]>,
  at: string,
  { rules, fileProblem }: Setting,
  problems: Cause[],
): string | undefined {
  const words = connectionWords[rules.dialect.name];
  const { type = "" } = info;
  const path = (info as Readonly<Record<string, string | undefined>>)[words.field];
  const field = `${at}.${words.field}`;
  if (type === "InClusterConfig") {
    if (path !== undefined) problems.push(invalidValue(field, path, `can only be set when type=${words.type}`));
    return undefined;
  }
  if (type !== words.type) {
    const known = ["InClusterConfig", words.type];
    problems.push(type === "" ? requiredValue(`${at}.type`) : unsupportedValue(`${at}.type`, type, known));
    return undefined;
  }
  if (path === undefined || path === "") problems.push(requiredValue(field));
  else if (!path.startsWith("/")) problems.push(invalidValue(field, path, "must be an absolute path"));
  else {
    const wrong = fileProblem(path);
    if (wrong !== undefined) problems.push(invalidValue(field, path, wrong));
  }
  return path;
}

function checkConditions(
  rows: readonly { readonly expression?: string | undefined }[],
  at: string,
  problems: Cause[],
): readonly Expression[] {
  if (rows.length > conditionsMax) {
    problems.push(tooManyItems(at, rows.length, conditionsMax));
    return [];
  }
  const seen = new Set<string>();
  return rows.flatMap(({ expression = "" }, index) => {
    const field = `${at}[${index}].expression`;
    if (expression.trim() === "") {
      problems.push(requiredValue(field));
      return [];
    }
    if (seen.has(expression)) problems.push(duplicateValue(field, expression));
    seen.add(expression);
    const condition = compiled(expression, field, reviewVariables, "bool", problems);
    return condition === undefined ? [] : [condition];
  });
}
