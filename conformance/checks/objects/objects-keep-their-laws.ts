import fc from "fast-check";
import { anyLife, coveringLives, type LifeStep } from "../../arbitraries/lives.ts";
import { customTrialTypes, type TrialType, trialTypes } from "../../arbitraries/trial-types.ts";
import { listOf } from "../../client/collection.ts";
import { isApiObject, versionOf } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { Life } from "../../runner/life.ts";
import { withTrialGround } from "../../runner/trial-ground.ts";
import { type TrialPlace, trialPlace } from "../../runner/trial-place.ts";

const rows = new Map([...trialTypes, ...customTrialTypes].map((row) => [row.title ?? row.plural, row]));
const types = [...rows.keys()];

/**
 * Property: whatever the type, the verb and the path of a write: a stale version is refused, a dry run leaves no trace,
 * a change has a new version and nothing has none, also after an hour and in any spelling; status and the rest are
 * written apart; generation counts the desired state; and a watch tells each of the states once.
 * Method: random lives of one object; every combination of verb and change is lived through for each type in each run.
 */
export const objectsKeepTheirLaws = defineCheck({
  id: "objects-keep-their-laws",
  area: "objects",
  property: "Versions, preconditions, dry runs, status and generation hold for every type, verb and path.",
  requirements: [
    "objects.status-apart",
    "versions.no-op",
    "versions.last-modification",
    "writes.stale-put",
    "writes.patch-conditional",
    "apply.stale",
    "apply.no-op",
    "dry-run.no-trace",
    "dry-run.same-answer",
    "objects.generation",
    "objects.read-back",
    "deletion.preconditions",
    "watch.reliable",
    "versions.list-exact",
  ],
  features: ["configmaps", "watch"],
  input: fc.record({ type: fc.constantFrom(...types), steps: anyLife }),
  examples: types.flatMap((type, place) =>
    coveringLives(2).map((steps, at) => ({ type, steps: at === place % 2 ? steps : steps.toReversed() })),
  ), // prettier-ignore
  cost: "waiting",
  async run(attempt, { type: title, steps }) {
    const type = rows.get(title) as TrialType;
    if (type.custom === undefined) {
      await live(attempt, type, await trialPlace(attempt, type), steps);
      return;
    }
    await withTrialGround(attempt, type, async ({ here, namespace, prefix }) => {
      const own = { ...type, prefix: () => prefix };
      await live(attempt, own, { collection: here, name: "a", namespace }, steps);
    });
  },
});

async function live(
  attempt: Attempt,
  type: TrialType,
  { collection, name, namespace }: Pick<TrialPlace, "collection" | "name" | "namespace">,
  steps: readonly LifeStep[],
): Promise<void> {
  const own = { fieldSelector: `metadata.name=${name}` };
  const before = await collection.list(own);
  if (before.status === 404 || before.status === 403) return; // not served, or not for this caller
  const { resourceVersion } = listOf(before);
  const watch = await attempt.openWatch(collection, { ...own, timeoutSeconds: 86_400, resourceVersion });
  const life = new Life(attempt, type, collection, name, namespace);
  if (!(await life.begin())) return;
  for (const step of steps) await life.step(step);
  const { uid } = life;
  await life.end();
  if (uid === undefined) return;
  const isEnd = (event: (typeof watch.events)[number]): boolean =>
    event.type === "DELETED" && isApiObject(event.object) && event.object.metadata.uid === uid;
  const isWhole = await watch.until(() => watch.events.some(isEnd), 10_000);
  watch.close();
  // How many steps a deletion takes is the type's affair.
  const told = watch.events.flatMap(({ type: what, object }) => {
    const isLife = what !== "DELETED" && isApiObject(object) && object.metadata.deletionTimestamp == null;
    return isLife ? [versionOf(object)] : [];
  });
  // A watch may end at any time: then it has told the beginning.
  const known = isWhole ? life.versions : life.versions.slice(0, told.length);
  attempt.expect("watch.reliable", told.join() === known.join(), `events at the versions ${known.join()}`, told.join());
}
