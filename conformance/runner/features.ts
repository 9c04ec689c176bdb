import { cborMediaType } from "../../wire/media-types.ts";
import type { Dialect } from "../../wire/dialect.ts";
import type { FeatureResult } from "../../reports/schema/suite-report.ts";
import { awayMillis, busyMillis, type Client } from "../client/client.ts";
import { isJsonObject, type Json } from "../client/types.ts";

/** What a check may need that a target need not have. */
const featureNames = [
  "namespaces",
  "configmaps",
  "pods",
  "podtemplates",
  "resourcequotas",
  "nodes",
  "node-proxy",
  "service-proxy",
  "cronjobs",
  "watch",
  "streaming-lists",
  "protobuf",
  "cbor",
  "tables",
  "events",
  "service-accounts",
  "access-reviews",
  "self-reviews",
  "token-reviews",
  "roles",
  "leases",
  "evictions",
  "webhooks",
  "webhook-calls",
  "token-issuer",
  "authorizer-webhooks",
] as const;
export type FeatureName = (typeof featureNames)[number];

export type Features = ReadonlyMap<FeatureName, FeatureResult>;

/**
 * What the target claims. Types and verbs are read from discovery; where discovery cannot be read nothing is ruled
 * out, so that a check says what is wrong. `reachable`: the target can call webhooks of the suite. Streaming lists and representations are not shown by discovery, so each is tried.
 */
export async function detectFeatures(client: Client, dialect: Dialect, reachable: boolean): Promise<Features> {
  const features = new Map<FeatureName, FeatureResult>();
  const note = (feature: FeatureName, supported: boolean, how: string) =>
    features.set(feature, { feature, supported, how });
  const core = await verbsByResource(client, "/api/v1");
  for (const resource of ["namespaces", "configmaps", "pods", "podtemplates", "resourcequotas"] as const) {
    note(resource, ...named(core, "/api/v1", resource));
  }
  note("nodes", ...named(core, "/api/v1", "nodes"));
  note("node-proxy", ...named(core, "/api/v1", "nodes/proxy"));
  note("service-proxy", ...named(core, "/api/v1", "services/proxy"));
  note("service-accounts", ...named(core, "/api/v1", "serviceaccounts/token"));
  const groups = new Map<string, Verbs | undefined>();
  for (const [feature, group, resource] of inGroups(dialect)) {
    const path = `/apis/${group}/v1`;
    if (!groups.has(group)) groups.set(group, await verbsByResource(client, path));
    // A group may be absent; the core group's document can only be missing.
    note(feature, ...named(groups.get(group) ?? (core === undefined ? undefined : new Map()), path, resource));
  }
  if (core?.has("pods/eviction") === false) note("evictions", false, "/api/v1 does not name pods/eviction");
  const webhooks = features.get("webhooks")?.supported === true;
  note(
    "webhook-calls",
    webhooks && reachable,
    reachable ? "the suite can be reached" : "nobody said how the target can reach the suite: --webhook-address",
  );
  const verbs = core?.get("configmaps");
  const watchable = verbs === undefined || verbs.has("watch");
  note("watch", watchable, watchable ? "configmaps have the verb watch" : "configmaps do not have the verb watch");
  note("streaming-lists", ...(await tryStreamingList(client)));
  note("protobuf", ...(await tryAccept(client, dialect.protobufMediaType)));
  note("cbor", ...(await tryAccept(client, cborMediaType)));
  note("tables", ...(await tryAccept(client, tableAccept(dialect))));
  return features;
}

/** What is served in a group of its own, version v1, if it is. */
function inGroups({ groupSuffix }: Dialect): readonly (readonly [FeatureName, group: string, resource: string])[] {
  return [
    ["cronjobs", "batch", "cronjobs"],
    ["events", `events.${groupSuffix}`, "events"],
    ["leases", `coordination.${groupSuffix}`, "leases"],
    ["access-reviews", `authorization.${groupSuffix}`, "selfsubjectaccessreviews"],
    ["self-reviews", `authentication.${groupSuffix}`, "selfsubjectreviews"],
    ["token-reviews", `authentication.${groupSuffix}`, "tokenreviews"],
    ["roles", `rbac.authorization.${groupSuffix}`, "roles"],
    ["evictions", "policy", "poddisruptionbudgets"],
    ["webhooks", `admissionregistration.${groupSuffix}`, "validatingwebhookconfigurations"],
  ];
}

/** Asks for an object, or a list, in another shape. */
export function acceptAs(dialect: Dialect, kind: string, mediaType = "application/json"): string {
  return `${mediaType};as=${kind};g=meta.${dialect.groupSuffix};v=v1`;
}

export function tableAccept(dialect: Dialect): string {
  return acceptAs(dialect, "Table");
}

function named(verbs: Verbs | undefined, path: string, resource: string): [boolean, string] {
  if (verbs === undefined) return [true, `assumed: ${path} is no readable discovery document`];
  return verbs.has(resource) ? [true, `${path} names it`] : [false, `${path} does not name it`];
}

type Verbs = ReadonlyMap<string, ReadonlySet<string>>;

/** Undefined when the answer is no discovery document. */
async function verbsByResource(client: Client, path: string): Promise<Verbs | undefined> {
  const answer = await client.request("GET", path);
  const document = answer.json;
  if (!isJsonObject(document) || !Array.isArray(document["resources"])) return undefined;
  const verbs = new Map<string, ReadonlySet<string>>();
  for (const resource of document["resources"] as readonly Json[]) {
    if (!isJsonObject(resource) || typeof resource["name"] !== "string" || !Array.isArray(resource["verbs"])) continue;
    verbs.set(resource["name"], new Set(resource["verbs"] as string[]));
  }
  return verbs;
}

/** The documents let a target leave these out by one status alone; any other answer is for the checks to judge. */
async function tryAccept(client: Client, accept: string): Promise<[boolean, string]> {
  const { status } = await client.request("GET", "/api/v1/namespaces", { accept, query: { limit: 1 } });
  return [status !== 406, `a list in ${accept} was answered ${status}`];
}

/** A target that is too busy now may claim it all the same. */
const triesMax = 3;

async function tryStreamingList(client: Client, tries = 0): Promise<[boolean, string]> {
  const watch = client.watch("/api/v1/configmaps", {
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: true,
    timeoutSeconds: 1,
    fieldSelector: "metadata.name=touchstone-probe",
  });
  const status = await watch.opened(10_000);
  await watch.until(() => watch.events.length > 0, 2_000);
  const [first] = watch.events;
  watch.close();
  const head = { status: status ?? 0, headers: watch.headers };
  const waitMillis = tries < triesMax ? (busyMillis(head) ?? awayMillis(head, tries)) : undefined;
  if (waitMillis !== undefined) {
    await client.pause(waitMillis);
    return tryStreamingList(client, tries + 1);
  }
  const accepted = status === 200 && first?.type !== "ERROR";
  return [
    accepted,
    `a watch with sendInitialEvents was answered ${status ?? "nothing"}${first === undefined ? "" : `, ${first.type}`}`,
  ];
}
