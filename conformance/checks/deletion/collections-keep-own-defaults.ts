import fc from "fast-check";
import { isApiObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { createPlacedPod } from "../../runner/pods.ts";

/** Property: in a deletecollection without options every pod gets the grace period of its own spec. */
export const collectionsKeepOwnDefaults = defineCheck({
  id: "collections-keep-own-defaults",
  area: "deletion",
  property: "A deletecollection gives each object its own default grace period.",
  requirements: ["deletion.collection-own-defaults"],
  features: ["pods"],
  cost: "slow",
  input: fc.array(fc.constantFrom(5, 30, 60, 120), { minLength: 2, maxLength: 4 }),
  examples: [[60, 5, 30]],
  async run(attempt, graces) {
    const pods = await attempt.target.collection("pods");
    for (const [index, grace] of graces.entries()) await createPlacedPod(attempt, pods, `p${index}`, grace);
    const answer = await pods.deleteCollection();
    attempt.expect(
      "deletion.collection-own-defaults",
      answer.status === 200,
      "200",
      `${answer.status} ${answer.text.slice(0, 300)}`,
    );
    for (const [index, grace] of graces.entries()) {
      const read = await pods.get(`p${index}`);
      if (read.status === 404) continue; // ended by somebody who plays the node
      const metadata = isApiObject(read.json) ? read.json.metadata : undefined;
      const given = metadata?.deletionGracePeriodSeconds;
      const shortened = given !== undefined && given < grace && given <= 1; // forced meanwhile by a cleaner of lost pods
      attempt.expect(
        "deletion.collection-own-defaults",
        given === grace || shortened,
        `${grace} s for p${index}, as its spec says`,
        String(given),
      );
    }
  },
});
