import fc from "fast-check";
import { trialTypes, type TrialType } from "../../arbitraries/trial-types.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import { type ApiObject, versionOf } from "../../client/types.ts";
import { judgeRace, type Raced, type RaceState, type RaceVerb } from "../../model/race.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { type TrialPlace, trialPlace } from "../../runner/trial-place.ts";

const hold = "example.com/hold";
const marked = "race-";
type Start = "absent" | "there" | "held" | "going";

interface Program {
  readonly plural: string;
  readonly start: Start;
  readonly verbs: readonly RaceVerb[];
}

const anyProgram: fc.Arbitrary<Program> = fc.record({
  plural: fc.constantFrom(...trialTypes.map(({ plural }) => plural)),
  start: fc.constantFrom<Start>("absent", "there", "there", "held", "going"),
  verbs: fc.array(fc.constantFrom<RaceVerb>("create", "apply", "apply", "merge", "merge", "put", "hold", "delete"), {
    minLength: 2,
    maxLength: 5,
  }),
});

const examples: readonly (readonly [Start, readonly RaceVerb[]])[] = [
  ["absent", ["apply", "apply", "apply"]],
  ["absent", ["create", "apply", "create"]],
  ["there", ["delete", "merge", "apply"]],
  ["there", ["hold", "delete", "merge"]],
  ["there", ["delete", "hold", "apply", "create"]],
  ["there", ["put", "put", "merge", "apply"]],
  ["held", ["delete", "merge", "hold"]],
  ["going", ["hold", "merge", "delete"]],
];

/**
 * Property: requests about one object that are sent at once have an order that explains all their answers and what is
 * there afterwards: nothing that was acknowledged is lost, and what was deleted is not brought back.
 * Method: creates, applies of several managers, patches, a PUT from the version before, a finalizer that is added, and
 * deletions; each leaves a mark of its own.
 */
export const racesHaveOneOrder = defineCheck<Program>({
  id: "races-have-one-order",
  area: "writes",
  property: "Concurrent creates, applies, patches and deletions of one object have an order that explains them.",
  requirements: ["writes.linearizable", "writes.patch-no-lost-update", "deletion.finalizers-hold"],
  features: ["configmaps"],
  input: anyProgram,
  examples: examples.flatMap(([start, verbs], place) =>
    [0, 1].map((turn) => ({
      plural: trialTypes[(place + turn) % trialTypes.length]?.plural ?? "configmaps",
      start,
      verbs,
    })),
  ),
  async run(attempt, { plural, start, verbs: drawn }) {
    // Where nothing is there is no version to put on.
    const verbs = drawn.map((verb) => (verb === "put" && start === "absent" ? "merge" : verb));
    const type = trialTypes.find((row) => row.plural === plural) as TrialType;
    const place = await trialPlace(attempt, type);
    const { collection, name } = place;
    let first: ApiObject | undefined;
    if (start !== "absent") {
      const finalizers = start === "there" ? [] : [hold];
      const made = await collection.create(place.object("v0", { finalizers }));
      if (made.status === 404 || made.status === 403) return; // not served, or not for this caller
      first = objectOf(made);
      if (start === "going") await collection.delete(name);
      if (start === "going") first = objectOf(await collection.get(name));
    }
    const answers = await Promise.all(verbs.map((verb, at) => send(place, verb, `${marked}${at}`, first)));
    if (first === undefined && answers.every(({ status }) => status === 404 || status === 403)) return;
    const raced = verbs.map(
      (verb, at): Raced => ({ verb, mark: `${marked}${at}`, status: (answers[at] as Answer).status }),
    );
    const verdict = judgeRace(stateOf(first), raced, stateOf(await read(place)));
    attempt.holds(verdict?.requirement ?? "writes.linearizable", verdict?.violation);
    attempt.holds("writes.patch-no-lost-update", undefined);
    attempt.holds("deletion.finalizers-hold", undefined);
  },
});

function send(
  { collection, name, object, apiVersion }: TrialPlace,
  verb: RaceVerb,
  mark: string,
  first: ApiObject | undefined,
): Promise<Answer> {
  const labels = { [mark]: "x" };
  switch (verb) {
    case "create":
      return collection.create(object("v0", { labels }));
    case "apply":
      return collection.patch(name, "apply", object("v0", { labels }), { query: { fieldManager: mark, force: true } });
    case "merge":
      return collection.patch(name, "merge", { metadata: { labels } });
    case "put": {
      const metadata = { ...first?.metadata, labels: { ...first?.metadata.labels, ...labels } };
      return collection.put(name, { apiVersion, ...first, metadata });
    }
    case "hold":
      return collection.patch(name, "merge", { metadata: { labels, finalizers: [hold] } });
    case "delete":
      return collection.delete(name);
  }
}

async function read({ collection, name }: TrialPlace): Promise<ApiObject | undefined> {
  const answer = await collection.get(name);
  return answer.status === 404 ? undefined : objectOf(answer);
}

function stateOf(object: ApiObject | undefined): RaceState {
  const { labels = {}, finalizers = [], deletionTimestamp } = object?.metadata ?? {};
  return {
    exists: object !== undefined && versionOf(object) !== "",
    marks: Object.keys(labels).filter((key) => key.startsWith(marked)),
    held: finalizers.includes(hold),
    deleting: deletionTimestamp != null,
  };
}
