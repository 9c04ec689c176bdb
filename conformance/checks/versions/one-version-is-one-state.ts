import { anyWriters } from "../../arbitraries/programs.ts";
import { type Collection, listOf } from "../../client/collection.ts";
import type { ApiList } from "../../client/types.ts";
import { judgeSameState, stateOf } from "../../model/replay.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { Memory, perform } from "../../runner/perform.ts";

/**
 * Property: a version that a list gave out names one state, for whoever asks for it, and at once.
 * Method: concurrent writers; each lists after each of its writes, and then asks for exactly that version, and for one
 * not older than it, while the others go on writing.
 */
export const oneVersionIsOneState = defineCheck({
  id: "one-version-is-one-state",
  area: "versions",
  property: "A version that was given out can be listed at once, and is the same state again.",
  requirements: ["versions.list-exact", "versions.list-not-older"],
  features: ["configmaps"],
  input: anyWriters({ writersMax: 3, stepsMax: 3, cuts: false }),
  async run(attempt, writers) {
    const collection = await attempt.target.collection("configmaps");
    const memory = new Memory();
    await Promise.all(
      writers.map(async (steps) => {
        for (const step of steps) {
          await perform(collection, step, memory, { writes: [], reads: [] });
          await judgeAgain(attempt, collection, await collection.readList());
        }
      }),
    );
  },
});

const triesMax = 3;

async function judgeAgain(attempt: Attempt, collection: Collection, list: ApiList): Promise<void> {
  const { resourceVersion } = list;
  const again = async (requirement: string, resourceVersionMatch: string): Promise<ApiList> => {
    const ask = () => collection.list({ resourceVersion, resourceVersionMatch });
    let answer = await ask();
    // It may be gone for whoever answers now and then; a version that is never served was not one.
    for (let tries = 0; answer.status === 410 && tries < triesMax; tries += 1) answer = await ask();
    const actual = `${answer.status} ${answer.text.slice(0, 300)}`;
    const expected = `a list, ${resourceVersionMatch} ${resourceVersion}, which a list has just given out`;
    attempt.expect(requirement, answer.status === 200, expected, actual);
    return listOf(answer);
  };
  const exact = await again("versions.list-exact", "Exact");
  const own = ({ items }: ApiList) => stateOf(attempt.target.own(collection, items));
  const named = { expected: `the list that gave out ${resourceVersion}`, actual: "the exact list at it" };
  attempt.expect(
    "versions.list-exact",
    exact.resourceVersion === resourceVersion,
    resourceVersion,
    exact.resourceVersion,
  );
  attempt.holds("versions.list-exact", judgeSameState(own(list), own(exact), named));
  await again("versions.list-not-older", "NotOlderThan");
}
