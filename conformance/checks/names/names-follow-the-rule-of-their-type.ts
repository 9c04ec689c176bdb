import fc from "fast-check";
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type NameErrors,
  pathSegmentErrors,
} from "../../../wire/names.ts";
import { shownAnswer, shownStatus } from "../../client/status-document.ts";
import { type JsonObject, objectsIn } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { definitionOf } from "../../runner/custom-definition.ts";
import { defineCheck } from "../../runner/define-check.ts";

interface NamedType {
  /** Empty: the core group. */
  readonly group: string;
  /** Whether the dialect's suffix ends the group's name. */
  readonly suffixed: boolean;
  readonly kind: string;
  readonly namespaced: boolean;
  /** `own`: the attempt's namespace, which is in the names of all that is its own. */
  readonly rule: (name: string, own: string) => NameErrors;
  /** What an object of it needs besides a name. */
  readonly parts?: (own: string) => JsonObject;
}

const core = { group: "", suffixed: false } as const;
const noRules = (): JsonObject => ({ rules: [] });
const rbac = { group: "rbac.authorization", suffixed: true, rule: pathSegmentErrors } as const;
/** Of definitions: the one name that fits, in a group of the attempt's own. */
const theOneName = "widgets";
const groupOf = (own: string): string => `${own}.example.com`;

/** By plural. Each in version v1 of its group. */
const types = {
  secrets: { ...core, kind: "Secret", namespaced: true, rule: dns1123SubdomainErrors },
  services: {
    ...core,
    kind: "Service",
    namespaced: true,
    rule: dns1035LabelErrors,
    parts: () => ({ spec: { ports: [{ port: 80 }] } }),
  },
  namespaces: { ...core, kind: "Namespace", namespaced: false, rule: dns1123LabelErrors },
  leases: { group: "coordination", suffixed: true, kind: "Lease", namespaced: true, rule: dns1123SubdomainErrors },
  roles: { ...rbac, kind: "Role", namespaced: true, parts: noRules },
  clusterroles: { ...rbac, kind: "ClusterRole", namespaced: false, parts: noRules },
  customresourcedefinitions: {
    group: "apiextensions",
    suffixed: true,
    kind: "CustomResourceDefinition",
    namespaced: false,
    rule: (name, own) => (name === `widgets.${groupOf(own)}` ? [] : ["is not its plural and its group"]),
    parts: (own) => definitionOf("", groupOf(own), { schema: { openAPIV3Schema: { type: "object" } } }),
  },
} as const satisfies Record<string, NamedType>;
type Plural = keyof typeof types;

const piece = fc.constantFrom("a", "0", "z9", "-", ".", ":", "A", "_", " ", "é", "a.b", "a-b", "%", "/");
const anyName = fc.oneof(
  { weight: 6, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")) },
  { weight: 1, arbitrary: fc.integer({ min: 62, max: 65 }).map((length) => "a".repeat(length)) },
  { weight: 1, arbitrary: fc.constant(theOneName) },
);
const plurals = Object.keys(types) as Plural[];

/**
 * Property: each type takes exactly the names that its rule allows: subdomains, labels, labels that begin with a letter,
 * whatever fits into a path, or the one name that an object's content gives it.
 * Method: creates that are dry, near the borders of the rules; a name that somebody holds already was a good one. What
 * would be in no namespace is named after the attempt, for there are servers that mind no dryRun.
 */
export const namesFollowTheRuleOfTheirType = defineCheck<{ readonly plural: Plural; readonly name: string }>({
  id: "names-follow-the-rule-of-their-type",
  area: "names",
  property: "Each type takes the names that its own rule allows, and no others.",
  requirements: ["names.rule-of-type"],
  features: ["namespaces"],
  input: fc.record({ plural: fc.constantFrom(...plurals), name: anyName }),
  examples: [
    { plural: "services", name: "0a" },
    { plural: "services", name: "a-b" },
    { plural: "namespaces", name: "a.b" },
    { plural: "roles", name: "a:b" },
    { plural: "clusterroles", name: "a/b" },
    { plural: "secrets", name: "a.b" },
    { plural: "leases", name: "a_b" },
    { plural: "customresourcedefinitions", name: "a.b" },
    { plural: "customresourcedefinitions", name: theOneName },
  ],
  async run(attempt, { plural, name }) {
    const type: NamedType = types[plural];
    const path = await collectionPath(attempt, plural, type);
    if (path === undefined) return;
    const { group, apiVersion } = versionOf(attempt, type);
    const own = await attempt.target.namespace();
    const full = type.namespaced ? name : ownName(plural, own, name);
    const body = { ...type.parts?.(own), apiVersion, kind: type.kind, metadata: { name: full } };
    if (!type.namespaced) {
      attempt.target.onCleanUp((cleaner) => cleaner.attempt("DELETE", `${path}/${encodeURIComponent(full)}`));
    }
    const answer = await attempt.client.request("POST", path, { body, query: { dryRun: "All" } });
    if (answer.status === 401 || answer.status === 403) {
      throw new Inconclusive(`the credentials do not allow to create ${plural}`);
    }
    if (plural === "services" && isOpen(attempt, full)) return;
    const allowed = type.rule(full, own).length === 0;
    const taken = answer.status < 300 || shownStatus(answer) === "409 AlreadyExists";
    const refused = shownStatus(answer) === "422 Invalid";
    const said = `${JSON.stringify(full)} of ${full.length} characters for ${plural}${group === "" ? "" : `.${group}`}`;
    const expected = allowed ? `the name ${said} taken` : `422 Invalid for the name ${said}`;
    attempt.expect("names.rule-of-type", allowed ? taken : refused, expected, shownAnswer(answer));
  },
});

/** A label that begins with a digit, where servers may take it or not. */
const isOpen = ({ profile }: Attempt, name: string): boolean =>
  profile.serviceNames === "any-label" && dns1123LabelErrors(name).length === 0 && dns1035LabelErrors(name).length > 0;

/** A name of the attempt's own that ends as `name` does; one that is long for its length alone keeps that. */
function ownName(plural: Plural, own: string, name: string): string {
  if (plural === "customresourcedefinitions" && name === theOneName) return `widgets.${groupOf(own)}`;
  const full = `${own}-${name}`;
  return name.length > own.length ? full.slice(0, name.length) : full;
}

/** Undefined for a type that discovery does not name. */
async function collectionPath(attempt: Attempt, plural: Plural, type: NamedType): Promise<string | undefined> {
  const { apiVersion } = versionOf(attempt, type);
  const prefix = type.group === "" ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  const served = objectsIn((await attempt.client.request("GET", prefix)).json, "resources");
  if (!served.some((resource) => resource["name"] === plural)) return undefined;
  return type.namespaced ? `${prefix}/namespaces/${await attempt.target.namespace()}/${plural}` : `${prefix}/${plural}`;
}

function versionOf(attempt: Attempt, { group, suffixed }: NamedType): { group: string; apiVersion: string } {
  const full = suffixed ? `${group}.${attempt.profile.dialect.groupSuffix}` : group;
  return { group: full, apiVersion: full === "" ? "v1" : `${full}/v1` };
}
