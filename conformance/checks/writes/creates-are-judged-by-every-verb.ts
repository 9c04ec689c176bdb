import fc from "fast-check";
import { trialTypes, type TrialType } from "../../arbitraries/trial-types.ts";
import type { Answer } from "../../client/exchange.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { isJsonObject, type JsonObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { type TrialPlace, trialPlace } from "../../runner/trial-place.ts";

/** What is wrong with an object: changes of its metadata, or of the rest. */
interface Damage {
  readonly metadata?: JsonObject;
  readonly rest?: JsonObject;
}

const damages: Readonly<Record<string, Damage>> = {
  nothing: {},
  "a name with capitals": { metadata: { name: "Not_A_Name" } },
  "a name that is too long": { metadata: { name: "a".repeat(254) } },
  "a name that ends in a dash": { metadata: { name: "a-" } },
  "a label's key that is none": { metadata: { labels: { "-": "x" } } },
  "a label's key with two slashes": { metadata: { labels: { "a/b/c": "x" } } },
  "a label's value that is too long": { metadata: { labels: { k: "x".repeat(64) } } },
  "a label's value with a space": { metadata: { labels: { k: "a b" } } },
  "an annotation's key that is none": { metadata: { annotations: { "-": "x" } } },
  "annotations that are too large": { metadata: { annotations: { k: "x".repeat(262_145) } } },
  "a finalizer that is no name": { metadata: { finalizers: ["not a name"] } },
  "an owner without a uid": {
    metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "" }] },
  },
  "an owner without a kind": { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "", name: "o", uid: "u" }] } },
  "another namespace": { metadata: { namespace: "touchstone-elsewhere" } },
  "another kind": { rest: { kind: "Other" } },
  "another version": { rest: { apiVersion: "v9" } },
};

const wrongContent: Readonly<Record<string, JsonObject>> = {
  configmaps: { data: { "no key": "x" } },
  secrets: { data: { "no key": "eA==" } },
  leases: { spec: { leaseDurationSeconds: -1 } },
  roles: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: [] }] },
  podtemplates: { template: { spec: { containers: [] } } },
  cronjobs: { spec: { schedule: "never" } },
  events: { involvedObject: { namespace: "touchstone-elsewhere" } },
};

const types = trialTypes.filter(({ namespaced, plural }) => namespaced && plural !== "pods");
const whats = [...Object.keys(damages), "content"];

/**
 * Property: what a POST does not create, a PUT that creates does not, nor an apply: each is refused and leaves nothing.
 * What a POST does create, the others do.
 * Method: one object, with something wrong or nothing, by every verb in turn, dry or not.
 */
export const createsAreJudgedByEveryVerb = defineCheck({
  id: "creates-are-judged-by-every-verb",
  area: "writes",
  property: "An object is judged the same whichever verb creates it.",
  requirements: ["writes.every-verb"],
  features: ["configmaps"],
  input: fc.record({
    plural: fc.constantFrom(...types.map(({ plural }) => plural)),
    what: fc.constantFrom(...whats),
    dry: fc.boolean(),
  }),
  examples: whats.flatMap((what, place) => [
    { plural: types[place % types.length]?.plural ?? "configmaps", what, dry: false },
    { plural: place % 2 === 0 ? "leases" : "events", what, dry: place % 3 === 0 },
  ]),
  async run(attempt, { plural, what, dry }) {
    const type = types.find((row) => row.plural === plural) as TrialType;
    const place = await trialPlace(attempt, type);
    const object = damaged(place, plural, what);
    const query = dry ? { dryRun: "All" } : {};
    const name = String((object["metadata"] as JsonObject)["name"]);
    const posted = await place.collection.create(object, { query });
    if (posted.status === 404 || posted.status === 403) return; // not served, or not for this caller
    const isRefused = posted.status >= 400;
    if (!isRefused && !dry) await place.collection.delete(name);
    const others: Readonly<Record<string, () => Promise<Answer>>> = {
      apply: () => place.collection.patch(name, "apply", object, { query: { ...query, fieldManager: "alpha" } }),
      PUT: () => place.collection.put(name, object, { query }),
    };
    for (const [verb, send] of Object.entries(others)) {
      const answer = await send();
      const shown = `${dry ? "a dry " : ""}${verb} of ${plural} with ${what}`;
      if (verb === "PUT" && answer.status === 404) continue; // most types of known servers are not created so
      const isWrong = isRefused !== answer.status >= 400;
      const expected = isRefused
        ? `a refusal of ${shown}, as POST has it: ${shownAnswer(posted)}`
        : `${shown} taken, as by POST`;
      attempt.expect("writes.every-verb", !isWrong, expected, shownAnswer(answer));
      const there = await place.collection.get(name);
      const isMade = there.status === 200 && isJsonObject(there.json);
      const mayBe = !isRefused && !dry;
      attempt.expect(
        "writes.every-verb",
        isMade === mayBe,
        mayBe ? `the object, after ${shown}` : `nothing, after ${shown}`,
        shownAnswer(there),
      ); // prettier-ignore
      if (isMade) await place.collection.delete(name);
    }
  },
});

function damaged(place: TrialPlace, plural: string, what: string): JsonObject {
  const object = place.object("v0");
  if (what === "content") return { ...object, ...wrongContent[plural] };
  const { metadata, rest } = damages[what] as Damage;
  return { ...object, ...rest, metadata: { ...(object["metadata"] as JsonObject), ...metadata } };
}
