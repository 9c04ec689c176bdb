import fc from "fast-check";
import { trialTypes, type TrialType } from "../../arbitraries/trial-types.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { type ApiObject, type Json, type JsonObject, versionOf } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { type TrialPlace, trialPlace } from "../../runner/trial-place.ts";

const longAgo = "2001-02-03T04:05:06Z";
const entry = {
  manager: "m",
  operation: "Update",
  apiVersion: "v1",
  time: longAgo,
  fieldsType: "FieldsV1",
  fieldsV1: { "f:metadata": { "f:labels": { "f:kept": {} } } },
}; // prettier-ignore
const owner = (uid: string): JsonObject => ({ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid });

/** What a confused client, or a broken backup, writes into the metadata that the server keeps. */
const damages: readonly ((uid: string) => JsonObject)[] = [
  () => ({ managedFields: [] }),
  () => ({ managedFields: [{}] }),
  () => ({ managedFields: null }),
  () => ({ managedFields: "none" }),
  () => ({ managedFields: [{ manager: "m" }] }),
  () => ({ managedFields: [entry, entry] }),
  () => ({ managedFields: [{ ...entry, operation: "Odd" }] }),
  () => ({ managedFields: [{ ...entry, operation: "" }] }),
  () => ({ managedFields: [{ ...entry, fieldsType: "Other" }] }),
  () => ({ managedFields: [{ ...entry, fieldsV1: { bad: {} } }] }),
  () => ({ managedFields: [{ ...entry, fieldsV1: { "f:metadata": { "k:{": {} } } }] }),
  () => ({ managedFields: [{ ...entry, fieldsV1: null }] }),
  () => ({ managedFields: [{ ...entry, apiVersion: "nonsense/v9" }] }),
  () => ({ managedFields: [{ ...entry, time: null }] }),
  () => ({ managedFields: [{ ...entry, time: "yesterday" }] }),
  () => ({ managedFields: [{ ...entry, manager: "" }] }),
  () => ({ managedFields: [{ ...entry, subresource: "nowhere" }] }),
  (uid) => ({ ownerReferences: [owner(uid), owner(uid)] }),
  (uid) => ({
    ownerReferences: [
      { ...owner(uid), controller: true },
      { ...owner(uid), controller: true },
    ],
  }), // prettier-ignore
  (uid) => ({ ownerReferences: [{ ...owner(uid), name: "" }] }),
  () => ({ ownerReferences: [owner("")] }),
  () => ({ ownerReferences: [{}] }),
  () => ({ creationTimestamp: longAgo }),
  () => ({ creationTimestamp: null }),
  () => ({ creationTimestamp: "" }),
  () => ({ creationTimestamp: "soon" }),
  () => ({ deletionTimestamp: longAgo }),
  () => ({ deletionTimestamp: longAgo, deletionGracePeriodSeconds: 0 }),
  () => ({ deletionGracePeriodSeconds: 5 }),
  () => ({ generation: 99 }),
  () => ({ generation: -1 }),
  () => ({ selfLink: "/elsewhere" }),
  () => ({ uid: "" }),
  () => ({ generateName: "other-" }),
];

const types = trialTypes.filter(({ plural }) => plural !== "events");
const verbs = ["put", "merge", "json"] as const;

/**
 * Property: damaged metadata in a write is refused and changes nothing, or is taken and mended: what the server keeps is
 * as it was, and the object can be worked with as before.
 * Method: after a damaging write by any verb, the object is patched, applied, replaced, listed and deleted.
 */
export const damagedMetadataDoesNoHarm = defineCheck({
  id: "damaged-metadata-does-no-harm",
  area: "objects",
  property: "Whatever a write says of metadata that the server keeps, the object stays workable.",
  requirements: ["objects.damage", "objects.server-assigned"],
  features: ["configmaps"],
  input: fc.record({
    plural: fc.constantFrom(...types.map(({ plural }) => plural)),
    damage: fc.nat(damages.length - 1),
    verb: fc.constantFrom(...verbs),
  }),
  examples: damages.map((_, damage) => ({
    plural: types[damage % types.length]?.plural ?? "configmaps",
    damage,
    verb: verbs[damage % verbs.length] as (typeof verbs)[number],
  })),
  async run(attempt, { plural, damage, verb }) {
    const type = types.find((row) => row.plural === plural) as TrialType;
    const place = await trialPlace(attempt, type);
    const configMaps = await attempt.target.collection("configmaps");
    const uid = objectOf(await configMaps.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner" } }))
      .metadata.uid;
    const made = await place.collection.create(place.object("v0", { labels: { kept: "yes" } }));
    if (made.status === 404 || made.status === 403) return; // not served, or not for this caller
    const before = objectOf(made);
    const overlay = (damages[damage] as (typeof damages)[number])(uid ?? "");
    const answer = await write(place, before, overlay, verb);
    const shown = `a ${verb} of ${plural} with ${JSON.stringify(overlay)}`;
    attempt.expect("objects.damage", answer.status < 500, `${shown} taken or refused`, shownAnswer(answer));
    const after = objectOf(await place.collection.get(place.name));
    if (answer.status >= 400) {
      attempt.expect(
        "objects.damage",
        versionOf(after) === versionOf(before),
        `the object as it was after ${shown}, refused`,
        JSON.stringify(after).slice(0, 600),
      ); // prettier-ignore
    }
    judgeKept(attempt, before, after, shown);
    await work(attempt, place, after, shown);
  },
});

function write(
  { collection, name }: TrialPlace,
  before: ApiObject,
  overlay: JsonObject,
  verb: (typeof verbs)[number],
): Promise<Answer> {
  switch (verb) {
    case "put":
      return collection.put(name, { ...before, metadata: { ...before.metadata, ...overlay } });
    case "merge":
      return collection.patch(name, "merge", { metadata: overlay });
    case "json": {
      const operations = Object.entries(overlay).map(([field, value]) => ({
        op: "add",
        path: `/metadata/${field}`,
        value,
      }));
      return collection.patch(name, "json", operations as Json[]);
    }
  }
}

/** What is the server's to say is as it was. */
function judgeKept(attempt: Attempt, before: ApiObject, after: ApiObject, shown: string): void {
  for (const field of [
    "uid",
    "name",
    "namespace",
    "creationTimestamp",
    "generation",
    "selfLink",
    "deletionTimestamp",
  ] as const) {
    const [was, is] = [before.metadata[field] ?? null, after.metadata[field] ?? null];
    attempt.expect("objects.server-assigned", was === is, `${field} ${String(was)} after ${shown}`, String(is));
  }
}

/** What everybody does with an object, all the time. */
async function work(
  attempt: Attempt,
  { collection, name, object }: TrialPlace,
  live: ApiObject,
  shown: string,
): Promise<void> {
  const steps: readonly (readonly [what: string, () => Promise<Answer>])[] = [
    ["a patch", () => collection.patch(name, "merge", { metadata: { labels: { patched: "yes" } } })],
    [
      "a dry patch",
      () => collection.patch(name, "merge", { metadata: { labels: { dry: "yes" } } }, { query: { dryRun: "All" } }),
    ],
    [
      "an apply",
      () =>
        collection.patch(name, "apply", object("v0", { labels: { applied: "yes" } }), {
          query: { fieldManager: "alpha", force: true },
        }),
    ],
    [
      "another apply",
      () =>
        collection.patch(name, "apply", object("v0", { labels: { applied: "no" } }), {
          query: { fieldManager: "beta", force: true },
        }),
    ],
    ["a list", () => collection.list({ fieldSelector: `metadata.name=${name}` })],
  ];
  for (const [what, send] of steps) {
    const answer = await send();
    attempt.expect("objects.damage", answer.status === 200, `200 for ${what} after ${shown}`, shownAnswer(answer));
  }
  const read = objectOf(await collection.get(name));
  const { kept, patched, applied, dry } = read.metadata.labels ?? {};
  const isWorked =
    kept === live.metadata.labels?.["kept"] && patched === "yes" && applied === "no" && dry === undefined;
  attempt.expect(
    "objects.damage",
    isWorked,
    `the labels of the writes after ${shown}`,
    JSON.stringify(read.metadata.labels),
  );
  const replaced = await collection.put(name, {
    ...read,
    metadata: { ...read.metadata, labels: { ...read.metadata.labels, replaced: "yes" } },
  });
  attempt.expect("objects.damage", replaced.status === 200, `200 for a PUT after ${shown}`, shownAnswer(replaced));
  const deleted = await collection.delete(name);
  attempt.expect("objects.damage", deleted.status < 300, `a deletion after ${shown}`, shownAnswer(deleted));
  const gone = await collection.get(name);
  attempt.expect("objects.damage", gone.status === 404, `404 after the deletion after ${shown}`, shownAnswer(gone));
}
