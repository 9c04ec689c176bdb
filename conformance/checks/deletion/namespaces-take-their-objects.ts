import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { Inconclusive } from "../../client/findings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Deleting a namespace deletes what is in it. No time is promised for it, so that slowness is inconclusive. */
export const namespacesTakeTheirObjects = defineCheck({
  id: "namespaces-take-their-objects",
  area: "deletion",
  property: "The objects of a deleted namespace are deleted.",
  requirements: ["deletion.namespace"],
  features: ["configmaps", "namespaces"],
  cost: "slow",
  async run(attempt) {
    const doomed = await attempt.target.collection("configmaps");
    const other = await attempt.target.collection("configmaps", "b");
    for (const collection of [doomed, other]) {
      for (const name of ["a", "b"]) objectOf(await collection.create(configMap(name)));
    }
    const namespace = await attempt.target.namespace();
    const answer = await attempt.client.request("DELETE", `/api/v1/namespaces/${namespace}`);
    attempt.expect(
      "deletion.namespace",
      answer.status < 300,
      "the deletion accepted",
      `${answer.status} ${answer.text.slice(0, 200)}`,
    );
    const deadlineMillis = attempt.clock.nowMillis() + patienceMillis;
    for (;;) {
      const left = attempt.target.own(doomed, (await doomed.readList()).items);
      if (left.length === 0) break;
      if (attempt.clock.nowMillis() >= deadlineMillis) {
        throw new Inconclusive(
          `${left.length} objects are still there ${patienceMillis} ms after their namespace was deleted`,
        );
      }
      await attempt.client.pause(1000);
    }
    attempt.holds("deletion.namespace", undefined);
    const spared = attempt.target.own(other, (await other.readList()).items);
    attempt.expect(
      "deletion.namespace",
      spared.length === 2,
      "the other namespace's objects left alone",
      `${spared.length} of 2`,
    );
  },
});

const patienceMillis = 120_000;
