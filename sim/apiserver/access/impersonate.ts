/**
 * Acting as another: whoever may `impersonate` a user, each group, the uid and each further fact, is that user from
 * here on, and nothing of their own is left. Source: the published server's impersonation filter.
 *
 * Simplification: several headers of groups come joined by commas, so that no group with a comma in its name can be
 * asked for; groups without a user are a bad request, where the real server calls it an error of its own.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { badRequest } from "../../contract/errors.ts";
import type { ApiRequest } from "../../contract/http-message.ts";
import type { User } from "./authenticate.ts";
import type { Attributes } from "./authorize.ts";

const extraPrefix = "impersonate-extra-";
const anonymous = "system:anonymous";

/** Who somebody wants to be, and what they must be allowed for that. */
interface Impersonation {
  readonly user: User;
  readonly questions: Iterator<Attributes, void>;
}

/** Undefined where the headers ask for nothing. Throws 400 for half a question. */
export function impersonation(headers: ApiRequest["headers"], dialect: Dialect): Impersonation | undefined {
  const name = headers["impersonate-user"] ?? "";
  const groups = listed(headers["impersonate-group"]);
  const uid = headers["impersonate-uid"] ?? "";
  const extra = extraOf(headers);
  if (name === "") {
    if (groups.length === 0 && uid === "" && extra === undefined) return undefined;
    throw badRequest("groups, a uid or extra fields cannot be impersonated without a user: set Impersonate-User");
  }
  const account = accountOf(name);
  const own = account === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`];
  const user = { name, uid, groups: withStanding(name, groups.length > 0 ? groups : own), ...(extra && { extra }) };
  const authentication = groupInDialect(dialect, "authentication.svc.io");
  return { user, questions: questionsFor({ name, uid, groups, ...(extra && { extra }) }, authentication) };
}

function* questionsFor({ name, uid, groups, extra }: User, authentication: string): Generator<Attributes, void> {
  const account = accountOf(name);
  if (account === undefined) yield acting("", "users", name);
  else yield acting("", "serviceaccounts", account.name, account.namespace);
  for (const group of groups) yield acting("", "groups", group);
  if (uid !== "") yield acting(authentication, "uids", uid);
  for (const [key, values] of Object.entries(extra ?? {})) {
    for (const value of values) yield acting(authentication, "userextras", value, "", key);
  }
}

function accountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/** Whether a request wants to act as another. Nearly none does, and every request comes by. */
export function asksToActAs(headers: ApiRequest["headers"]): boolean {
  for (const header in headers) if (header.startsWith("impersonate-")) return true;
  return false;
}

const acting = (group: string, resource: string, name: string, namespace = "", subresource = ""): Attributes => ({
  is: "resource",
  verb: "impersonate",
  resource: { group, resource },
  version: group === "" ? "" : "v1",
  subresource,
  namespace,
  name,
});

/** Everybody is known to the server, or unknown: one of the two groups says so. */
function withStanding(name: string, groups: readonly string[]): readonly string[] {
  const standing = name === anonymous ? "system:unauthenticated" : "system:authenticated";
  const stands = groups.includes("system:authenticated") || groups.includes("system:unauthenticated");
  return stands ? groups : [...groups, standing];
}

/** Without the spaces around commas. */
const listed = (header: string | undefined): readonly string[] =>
  (header ?? "")
    .split(",")
    .map((text, at, all) => withoutSpaces(text, at > 0, at < all.length - 1))
    .filter((text) => text !== "");

function withoutSpaces(text: string, before: boolean, after: boolean): string {
  let [from, end] = [0, text.length];
  while (before && text[from] === " ") from++;
  while (after && end > from && text[end - 1] === " ") end--;
  return text.slice(from, end);
}

/** Facts by the rest of the header's name, whose bytes may be percent-encoded. */
function extraOf(headers: ApiRequest["headers"]): Record<string, readonly string[]> | undefined {
  const found: [string, readonly string[]][] = [];
  for (const header in headers) {
    if (header.startsWith(extraPrefix))
      found.push([decoded(header.slice(extraPrefix.length)), listed(headers[header])]);
  }
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
