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
import { type Attributes, refusal } from "./authorize.ts";
import type { Ask } from "./judgement.ts";

const extraPrefix = "impersonate-extra-";
const anonymous = "system:anonymous";

/** The user that the headers ask for, or the one that the credentials say. Throws 403, and 400 for half a question. */
export function impersonated(user: User, headers: ApiRequest["headers"], ask: Ask, dialect: Dialect): User {
  const name = headers["impersonate-user"] ?? "";
  const groups = listed(headers["impersonate-group"]);
  const uid = headers["impersonate-uid"] ?? "";
  const extra = extraOf(headers);
  if (name === "") {
    if (groups.length === 0 && uid === "" && extra === undefined) return user;
    throw badRequest("groups, a uid or extra fields cannot be impersonated without a user: set Impersonate-User");
  }
  const authentication = groupInDialect(dialect, "authentication.svc.io");
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const [, namespace = "", accountName = ""] = account ?? [];
  const asked: readonly Attributes[] = [
    account === null ? acting("", "users", name) : acting("", "serviceaccounts", accountName, namespace),
    ...groups.map((group) => acting("", "groups", group)),
    ...(uid === "" ? [] : [acting(authentication, "uids", uid)]),
    ...Object.entries(extra ?? {}).flatMap(([key, values]) =>
      values.map((value) => acting(authentication, "userextras", value, "", key)),
    ),
  ];
  for (const attributes of asked) {
    const decision = ask(user, attributes);
    if (!decision.allowed) throw refusal(user, attributes, decision.reason);
  }
  const own = account === null ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return { name, uid, groups: withStanding(name, groups.length > 0 ? groups : own), ...(extra && { extra }) };
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

const listed = (header: string | undefined): readonly string[] =>
  (header ?? "").split(/ *, */).filter((text) => text !== "");

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
