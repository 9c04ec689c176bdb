import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { type ApiObject, type Json, objectsIn, versionOf } from "../../client/types.ts";
import { Inconclusive, Unsupported } from "../../client/findings.ts";
import { sameContent } from "../../model/history.ts";
import { valueAt } from "../../model/json-values.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

const unsafeOption = "ignoreStoreReadErrorWithClusterBreakingPotential";

/** What may not stand beside the option. A query holds one value each, and no preconditions. */
const others = {
  dryRun: { body: ["All"], query: "All" },
  gracePeriodSeconds: { body: 0, query: "0" },
  orphanDependents: { body: false, query: "false" },
  propagationPolicy: { body: "Background", query: "Background" },
  preconditions: { body: { uid: "another" }, query: undefined },
} as const satisfies Record<string, { readonly body: Json; readonly query: string | undefined }>;
type Other = keyof typeof others;
const otherNames = Object.keys(others) as Other[];

/**
 * Property: the deletion that is for unreadable objects alone is refused for one that can be read, and with any option
 * that may not stand beside it; and the object stays as it was.
 * Method: a target without the option takes each such deletion for the one that it is without it. Who refuses any of them has it.
 */
export const unsafeDeletionsAreRefused = defineCheck({
  id: "unsafe-deletions-are-refused",
  area: "deletion",
  property: "An unsafe deletion of a readable object, or with other options, is refused and changes nothing.",
  requirements: ["deletion.unsafe-readable", "deletion.unsafe-alone", "deletion.unsafe-named"],
  features: ["configmaps"],
  input: fc.record({
    beside: fc.array(fc.subarray(otherNames), { minLength: 1, maxLength: 3 }),
    inBody: fc.boolean(),
    held: fc.boolean(),
  }),
  examples: [
    { beside: [[], ...otherNames.map((name) => [name])], inBody: true, held: false },
    { beside: [[]], inBody: false, held: true },
  ],
  async run(attempt, { beside, inBody, held }) {
    const collection = await attempt.target.collection("configmaps");
    const finalizers = held ? ["example.com/hold"] : [];
    await requireOption(collection);
    const object = objectOf(await collection.create(configMap("a", { finalizers })));
    for (const names of beside) {
      const options = inBody ? names : names.filter((name) => others[name].query !== undefined);
      await judgeRefused(attempt, collection, object, options, await deleteUnsafely(collection, options, inBody));
    }
  },
});

/** What a server that breaks one of the promises takes, it may refuse in another form: it has the option all the same. */
const forms: readonly (readonly Other[])[] = [["dryRun"], [], ["propagationPolicy"], ["gracePeriodSeconds"]];

async function requireOption(collection: Collection): Promise<void> {
  for (const names of forms) {
    objectOf(await collection.create(configMap("a")));
    const { status, text } = await deleteUnsafely(collection, names, true);
    if (status === 401 || status === 403 || status >= 500) {
      throw new Inconclusive(`an unsafe deletion is answered ${status} ${text.slice(0, 300)}`);
    }
    await collection.delete("a");
    if (status >= 300) return;
  }
  throw new Unsupported("unsafe deletions: with their option a deletion is as without it");
}

function deleteUnsafely(collection: Collection, names: readonly Other[], inBody: boolean): Promise<Answer> {
  if (inBody) {
    const rest = Object.fromEntries(names.map((name) => [name, others[name].body]));
    return collection.delete("a", { [unsafeOption]: true, ...rest });
  }
  const rest = Object.fromEntries(names.map((name) => [name, others[name].query]));
  return collection.delete("a", undefined, { query: { [unsafeOption]: true, ...rest } });
}

async function judgeRefused(
  attempt: Attempt,
  collection: Collection,
  object: ApiObject,
  names: readonly Other[],
  answer: Answer,
): Promise<void> {
  const requirement = names.length === 0 ? "deletion.unsafe-readable" : "deletion.unsafe-alone";
  const asked = names.length === 0 ? "of a readable object" : `with ${names.join(", ")}`;
  const actual = `${answer.status} ${answer.text.slice(0, 600)}`;
  attempt.expect(
    requirement,
    answer.status >= 400 && answer.status < 500,
    `an unsafe deletion ${asked} refused`,
    actual,
  );
  const read = await collection.get("a");
  const isUntouched =
    read.status === 200 && versionOf(objectOf(read)) === versionOf(object) && sameContent(objectOf(read), object);
  attempt.expect(
    "deletion.unsafe-readable",
    isUntouched,
    `${JSON.stringify(object)} after an unsafe deletion ${asked}`,
    `${read.status} ${read.text.slice(0, 400)}`,
  );
  const causes = objectsIn(valueAt(answer.json, "details"), "causes")
    .filter(({ field }) => field === unsafeOption)
    .map(({ message }) => String(message));
  const isNamed = causes.length > 0 && names.every((name) => causes.some((text) => text.includes(`.${name}`)));
  attempt.expect(
    "deletion.unsafe-named",
    answer.status === 422 && isNamed,
    `422 with a cause at ${unsafeOption}${names.length === 0 ? "" : ` for each of ${names.join(", ")}`}`,
    actual,
  );
}
