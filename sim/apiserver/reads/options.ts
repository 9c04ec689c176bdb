/**
 * Query parameters of lists and watches: parsed, defaulted and checked against each other. What needs the
 * resource (supported field labels) or the store (versions, tokens) is checked where the read starts.
 * Source: document 1, Common query parameters; the facts, sections 2 and 3; recorded answers for the texts.
 */
import { groupInDialect } from "../../../wire/dialect.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import {
  isSelectorError,
  parseFieldSelector,
  parseLabelSelector,
  type SelectorError,
} from "../../../wire/selectors.ts";
import { badRequest, type Cause, invalid } from "../../contract/errors.ts";
import type { Profile } from "../../contract/profile.ts";
import type { ListOptions } from "./types.ts";

/** A decoded query. */
export interface QueryValues {
  has(name: string): boolean;
  /** The first value, or undefined when the parameter is absent. */
  first(name: string): string | undefined;
  /** Absent, `0` and `false` are false; anything else is true. */
  flag(name: string): boolean;
}

/**
 * Throws the `ApiError` of the first thing that is wrong: 400 for what cannot be read, the profile's
 * `invalidListOptionsStatus` with every cause for what does not go together. `watch` true for a request that is a
 * watch by its path.
 */
export function parseListOptions(query: QueryValues, profile: Profile, watch = false): ListOptions {
  const limit = integer(query, "limit") ?? 0;
  const options: ListOptions = {
    watch: watch || query.flag("watch"),
    allowWatchBookmarks: query.flag("allowWatchBookmarks"),
    resourceVersion: query.first("resourceVersion") ?? "",
    resourceVersionMatch: (query.first("resourceVersionMatch") ?? "") as ListOptions["resourceVersionMatch"],
    timeoutSeconds: integer(query, "timeoutSeconds"),
    limit: Math.max(0, limit),
    continue: query.first("continue") ?? "",
    sendInitialEvents: query.has("sendInitialEvents") ? query.flag("sendInitialEvents") : undefined,
    labelSelector: selector(parseLabelSelector(ofFewTerms(query, "labelSelector"))),
    fieldSelector: selector(parseFieldSelector(ofFewTerms(query, "fieldSelector"))),
  };
  const defaulted = profile.featureGates.WatchList ? withInitialEvents(options) : options;
  const causes = defaulted.watch ? watchProblems(defaulted, profile.featureGates.WatchList) : listProblems(defaulted);
  if (causes.length === 0) return defaulted;
  const group = groupInDialect(profile.dialect, "meta.svc.io");
  throw invalid("ListOptions", group, "", causes, profile.invalidListOptionsStatus);
}

/** Base 10 with an optional sign. The real server reads 64 bits; more than 2^53 is no different here. */
function integer(query: QueryValues, name: string): number | undefined {
  const text = query.first(name);
  if (text === undefined) return undefined;
  const value = /^[+-]?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(value) < 2 ** 63) return value;
  const why = Number.isNaN(value) ? "invalid syntax" : "value out of range";
  throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: ${why}`);
}

/** Terms and values of a selector in a query: each object is held against all. Simplification: the real server has no such limit. */
const selectorTermsMax = 100_000;

function ofFewTerms(query: QueryValues, name: string): string {
  const text = query.first(name) ?? "";
  if (text.length < selectorTermsMax) return text;
  let count = 1;
  for (let at = text.indexOf(","); at >= 0; at = text.indexOf(",", at + 1)) count++;
  if (count <= selectorTermsMax) return text;
  throw badRequest(`unable to parse ${name}: the limit of terms and values is ${selectorTermsMax}`);
}

function selector<Selector extends object>(parsed: Selector | SelectorError): Selector {
  if (isSelectorError(parsed as never)) throw badRequest((parsed as SelectorError).message);
  return parsed as Selector;
}

/** With the gate on, a watch without a version begins with the initial state and says when that is over. */
function withInitialEvents(options: ListOptions): ListOptions {
  const { watch, sendInitialEvents, resourceVersion, resourceVersionMatch } = options;
  const anywhere = resourceVersion === "" || resourceVersion === "0";
  if (!watch || sendInitialEvents !== undefined || resourceVersionMatch !== "" || !anywhere) return options;
  return { ...options, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
}

function listProblems(options: ListOptions): Cause[] {
  const { resourceVersion, resourceVersionMatch: match } = options;
  const causes: Cause[] = [];
  if (match !== "") {
    if (resourceVersion === "") causes.push(matchForbidden("is forbidden unless resourceVersion is provided"));
    if (options.continue !== "") causes.push(matchForbidden("is forbidden when continue is provided"));
    if (match !== "Exact" && match !== "NotOlderThan") {
      causes.push(matchUnsupported(match, '"Exact", "NotOlderThan", ""'));
    }
    if (match === "Exact" && resourceVersion === "0") {
      causes.push(matchForbidden('"exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    causes.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return causes;
}

function watchProblems(options: ListOptions, gate: boolean): Cause[] {
  const { sendInitialEvents, resourceVersionMatch: match } = options;
  const causes: Cause[] = [];
  if (sendInitialEvents !== undefined) {
    if (match !== "NotOlderThan") {
      const text = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
      causes.push(forbidden("resourceVersionMatch", text));
    }
    if (!gate) {
      const text = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
      causes.push(forbidden("sendInitialEvents", text));
    }
  }
  if (match !== "") {
    if (sendInitialEvents === undefined) {
      causes.push(matchForbidden("is forbidden for watch unless sendInitialEvents is provided"));
    }
    if (match !== "NotOlderThan") causes.push(matchUnsupported(match, '"NotOlderThan"'));
    if (options.continue !== "") causes.push(matchForbidden("is forbidden when continue is provided"));
  }
  return causes;
}

const forbidden = (field: string, text: string): Cause => ({
  reason: "FieldValueForbidden",
  message: `Forbidden: ${text}`,
  field,
});

const matchForbidden = (text: string): Cause => forbidden("resourceVersionMatch", `resourceVersionMatch ${text}`);

const matchUnsupported = (value: string, supported: string): Cause => ({
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${goQuote(value)}: supported values: ${supported}`,
  field: "resourceVersionMatch",
});
