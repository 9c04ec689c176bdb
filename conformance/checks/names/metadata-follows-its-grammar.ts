import fc from "fast-check";
import { labelValueErrors, qualifiedNameErrors } from "../../../wire/names.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { Unsupported } from "../../client/findings.ts";
import { isJsonObject, type Json, type JsonObject } from "../../client/types.ts";
import { sameJson } from "../../model/json-values.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** How the metadata comes to the server: a create, a write to an object that is there, or a create that is only tried. */
const verbs = ["create", "put", "merge", "apply", "dry run"] as const;

interface Given {
  readonly requirement: string;
  readonly field: "labels" | "annotations" | "finalizers" | "ownerReferences";
  readonly value: Json;
  readonly allowed: boolean;
}

const piece = fc.constantFrom("a", "Z", "9", "-", ".", "_", "/", " ", "é", "a.b", "a-b", "example.com/");
const near = fc.oneof(
  { weight: 4, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")) },
  { weight: 1, arbitrary: fc.nat({ max: 2 }).map((more) => "n".repeat(62 + more)) },
  { weight: 1, arbitrary: fc.nat({ max: 2 }).map((more) => `${"p".repeat(252 + more)}/n`) },
);

const fits = (errors: readonly string[]): boolean => errors.length === 0;

const label = (key: string, value: string): Given => ({
  requirement: "names.labels",
  field: "labels",
  value: { [key]: value },
  allowed: fits(qualifiedNameErrors(key)) && fits(labelValueErrors(value)),
});

/** The case of an annotation's key does not matter to the rule. */
const annotation = (key: string): Given => ({
  requirement: "names.annotations",
  field: "annotations",
  value: { [key]: "any value: é, /, and longer than a label's would be ".repeat(2) },
  allowed: fits(qualifiedNameErrors(key.toLowerCase())),
});

/** Keys and values together, in bytes. */
const annotationBytesMax = 262_144;
const annotationOf = (bytes: number): Given => ({
  requirement: "names.annotations-size",
  field: "annotations",
  value: { a: "x".repeat(Math.floor((bytes - 2) / 2)), b: "x".repeat(Math.ceil((bytes - 2) / 2)) },
  allowed: bytes <= annotationBytesMax,
});

/** Names without a domain belong to the server. */
const finalizer = (name: string): Given => ({
  requirement: "names.finalizers",
  field: "finalizers",
  value: [name],
  allowed: fits(qualifiedNameErrors(name)) && name.includes("/"),
});

const someOwner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "00000000-0000-4000-8000-000000000000" };
/** What is taken is not judged here: a garbage collector takes away what names an owner that is not there. */
const wrongOwners = (owners: readonly JsonObject[]): Given => ({
  requirement: "names.owners",
  field: "ownerReferences",
  value: owners,
  allowed: false,
});
const anyWrongOwners = fc.oneof(
  fc.constantFrom("apiVersion", "kind", "name", "uid").map((field) => wrongOwners([{ ...someOwner, [field]: "" }])),
  fc.constant(
    wrongOwners(
      ["one", "two"].map((name) => ({ ...someOwner, name, uid: `${someOwner.uid}-${name}`, controller: true })),
    ),
  ),
  fc.constant(wrongOwners([{ ...someOwner, kind: "Event" }])),
);

const anyGiven: fc.Arbitrary<Given> = fc.oneof(
  fc
    .tuple(near, fc.constantFrom("", "v", "a_b", "-a", "a b", "v".repeat(63), "v".repeat(64)))
    .map(([key, value]) => label(key, value)),
  near.map((key) => label("key", key)),
  near.map(annotation),
  near.map(finalizer),
  anyWrongOwners,
);

/**
 * Property: labels, annotations, finalizers and owners are taken when their grammar allows them, by whatever verb they come,
 * and refused when not.
 * Method: random keys and values near the borders of the grammar. What is taken is read back, what is refused changes nothing.
 */
export const metadataFollowsItsGrammar = defineCheck({
  id: "metadata-follows-its-grammar",
  area: "names",
  property: "Labels, annotations, finalizers and owners are taken when their grammar allows it, and refused when not.",
  requirements: ["names.labels", "names.annotations", "names.annotations-size", "names.finalizers", "names.owners"],
  features: ["configmaps"],
  input: fc.record({ verb: fc.constantFrom(...verbs), given: anyGiven }),
  examples: verbs.flatMap((verb) =>
    [
      label("example.com/key", "value"),
      label("key", "not a value"),
      label("/key", ""),
      annotation("Example.com/Key"),
      annotation("a b"),
      annotationOf(annotationBytesMax),
      annotationOf(annotationBytesMax + 1),
      finalizer("example.com/held"),
      finalizer("held"),
      finalizer("example.com/not held"),
      wrongOwners([{ ...someOwner, uid: "" }]),
    ].map((given) => ({ verb, given })),
  ),
  async run(attempt, { verb, given }) {
    const configMaps = await attempt.target.collection("configmaps");
    const isNew = verb === "create" || verb === "dry run";
    const before = isNew ? undefined : objectOf(await configMaps.create(configMap("a")));
    const answer = await written(configMaps, verb, { [given.field]: given.value });
    if (verb === "apply" && answer.status === 415) throw new Unsupported("apply");
    judgeAnswer(attempt, given, verb, answer);
    const after = await configMaps.get("a");
    const found = isJsonObject(after.json) && isJsonObject(after.json["metadata"]) ? after.json["metadata"] : {};
    if (!given.allowed || verb === "dry run") {
      const actual = after.status === 200 ? String(found["resourceVersion"]) : String(after.status);
      const expected = before === undefined ? "404" : String(before.metadata.resourceVersion);
      attempt.expect(given.requirement, actual === expected, `nothing has changed: ${expected}`, actual);
      return;
    }
    const kept = found[given.field];
    attempt.expect(
      given.requirement,
      keeps(kept, given.value),
      `${shown(given)} is kept`,
      shortened(JSON.stringify(kept) ?? "nothing"),
    );
    if (given.field === "finalizers")
      await configMaps.patch("a", "json", [{ op: "remove", path: "/metadata/finalizers" }]);
  },
});

function written(collection: Collection, verb: (typeof verbs)[number], metadata: JsonObject): Promise<Answer> {
  const whole = { ...configMap("a"), metadata: { name: "a", ...metadata } };
  if (verb === "create") return collection.create(whole);
  if (verb === "dry run") return collection.create(whole, { query: { dryRun: "All" } });
  if (verb === "put") return collection.put("a", whole);
  if (verb === "merge") return collection.patch("a", "merge", { metadata });
  return collection.patch("a", "apply", whole, { query: { fieldManager: "grammar", force: true } });
}

function judgeAnswer(attempt: Attempt, given: Given, verb: string, { status, json }: Answer): void {
  const actual = `${status} ${isJsonObject(json) ? String(json["reason"] ?? "") : ""}`.trim();
  const lawful = given.allowed ? status < 300 : actual === "422 Invalid";
  attempt.expect(
    given.requirement,
    lawful,
    `${given.allowed ? "2xx" : "422 Invalid"} for ${verb} with ${shown(given)}`,
    actual,
  );
}

/** Others may add labels and annotations of their own. */
function keeps(kept: Json | undefined, value: Json): boolean {
  if (!isJsonObject(value)) return sameJson(kept, value);
  return isJsonObject(kept) && Object.entries(value).every(([key, each]) => kept[key] === each);
}

const shown = ({ field, value }: Given): string => `${field} ${shortened(JSON.stringify(value))}`;
const shortened = (text: string): string =>
  text.length > 120 ? `${text.slice(0, 120)}… (${text.length} characters)` : text;
