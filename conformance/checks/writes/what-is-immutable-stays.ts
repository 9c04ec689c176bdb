import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { isJsonObject, type Json, type JsonObject, versionOf } from "../../client/types.ts";
import { mergePatch } from "../../model/merge-patch.ts";
import { defineCheck } from "../../runner/define-check.ts";

interface Row {
  readonly plural: string;
  readonly kind: string;
  readonly object: JsonObject;
  /** As merge patches. */
  readonly forbidden: readonly JsonObject[];
}

const rows: readonly Row[] = [
  {
    plural: "configmaps",
    kind: "ConfigMap",
    object: { immutable: true, data: { a: "1" }, binaryData: { b: "AA==" } },
    forbidden: [
      { data: { a: "2" } },
      { data: { c: "1" } },
      { data: { a: null } },
      { data: null },
      { binaryData: { b: "AQ==" } },
      { binaryData: { c: "AA==" } },
      { binaryData: { b: null } },
      { binaryData: null },
      { immutable: false },
      { immutable: null },
    ],
  },
  {
    plural: "secrets",
    kind: "Secret",
    object: { immutable: true, type: "Opaque", data: { a: "MQ==" } },
    forbidden: [
      { data: { a: "Mg==" } },
      { data: { c: "MQ==" } },
      { data: { a: null } },
      { stringData: { a: "2" } },
      { stringData: { c: "1" } },
      { immutable: false },
      { immutable: null },
    ],
  },
  {
    plural: "secrets",
    kind: "Secret",
    object: { type: "Opaque", data: { a: "MQ==" } },
    forbidden: [{ type: "example.com/other" }],
  },
];

const cases = rows.flatMap(({ forbidden }, row) => forbidden.map((_, change) => ({ row, change })));
const verbs = ["put", "merge", "json", "strategic", "apply"] as const;

/**
 * Property: what cannot be changed is not, by no verb, dry or not, alone or beside a change that is allowed; and an
 * allowed change is made.
 */
export const whatIsImmutableStays = defineCheck({
  id: "what-is-immutable-stays",
  area: "writes",
  property: "Fields that cannot be changed are kept by every verb, and others can be changed.",
  requirements: ["writes.immutable"],
  features: ["configmaps"],
  input: fc.record({
    at: fc.nat(cases.length - 1),
    verb: fc.constantFrom(...verbs),
    beside: fc.boolean(),
    dry: fc.boolean(),
  }),
  examples: cases.map((_, at) => ({
    at,
    verb: verbs[at % verbs.length] as (typeof verbs)[number],
    beside: at % 2 === 0,
    dry: at % 5 === 4,
  })),
  async run(attempt, { at, verb: drawn, beside, dry }) {
    const { row, change: place } = cases[at] as (typeof cases)[number];
    const { plural, kind, object, forbidden } = rows[row] as Row;
    const change = forbidden[place] as JsonObject;
    const collection = await attempt.target.collection(plural);
    const made = objectOf(await collection.create({ apiVersion: "v1", kind, metadata: { name: "a" }, ...object }));
    // Whoever applies takes nothing away that others have set.
    const verb = drawn === "apply" && JSON.stringify(change).includes("null") ? "merge" : drawn;
    const label = { metadata: { labels: { beside: "yes" } } };
    const send = (patch: JsonObject, query: JsonObject): Promise<Answer> =>
      sendAs(collection, verb, made, patch, query as Record<string, string>);
    const answer = await send(beside ? { ...change, ...label } : change, dry ? { dryRun: "All" } : {});
    const shown = `${dry ? "a dry " : ""}${verb} of ${JSON.stringify(change)}${beside ? " and a label" : ""} to ${JSON.stringify(object)}`;
    attempt.expect("writes.immutable", answer.status >= 400, `a refusal of ${shown}`, shownAnswer(answer));
    const after = await collection.get("a");
    const isSame = versionOf(objectOf(after)) === versionOf(made);
    attempt.expect("writes.immutable", isSame, `nothing changed by ${shown}`, shownAnswer(after));
    const allowed = await send(label, {});
    attempt.expect("writes.immutable", allowed.status === 200, `a label, by ${verb}`, shownAnswer(allowed));
  },
});

function sendAs(
  collection: Collection,
  verb: (typeof verbs)[number],
  made: JsonObject,
  patch: JsonObject,
  query: Record<string, string>,
): Promise<Answer> {
  const { apiVersion, kind } = made as { apiVersion: string; kind: string };
  switch (verb) {
    case "put":
      return collection.put("a", mergePatch(made, patch) as JsonObject, { query });
    case "merge":
    case "strategic":
      return collection.patch("a", verb, patch, { query });
    case "json": {
      const result = mergePatch(made, patch) as JsonObject;
      const operations = Object.keys(patch).map((field) => {
        const value = result[field];
        return value === undefined ? { op: "remove", path: `/${field}` } : { op: "add", path: `/${field}`, value };
      });
      return collection.patch("a", "json", operations as Json, { query });
    }
    case "apply": {
      const { metadata } = patch;
      const named = { ...(isJsonObject(metadata) ? metadata : {}), name: "a" };
      const configuration = { apiVersion, kind, ...patch, metadata: named };
      return collection.patch("a", "apply", configuration, { query: { ...query, fieldManager: "alpha", force: true } });
    }
  }
}
