import fc from "fast-check";
import { objectOf, succeeded } from "../../client/collection.ts";
import type { JsonObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: metadata.generation rises by one with a change of the spec, by one when a deletion begins, and with nothing else.
 * Suspended cron jobs are used: they have a generation and a status of their own, and no controller writes them.
 */
export const generationCountsTheSpec = defineCheck({
  id: "generation-counts-the-spec",
  area: "objects",
  property: "generation counts changes of the spec, and the beginning of a deletion.",
  requirements: ["objects.generation", "deletion.generation"],
  features: ["cronjobs"],
  input: fc.array(fc.constantFrom("spec", "labels", "annotations", "status", "nothing"), {
    minLength: 1,
    maxLength: 6,
  }),
  examples: [["labels", "status", "spec"]],
  async run(attempt, changes) {
    const cronJobs = await attempt.target.collection("cronjobs", "", "/apis/batch/v1");
    const created = objectOf(await cronJobs.create(suspendedCronJob("a")));
    let expected = 1;
    attempt.expect(
      "objects.generation",
      created.metadata.generation === 1,
      "generation 1 on create",
      String(created.metadata.generation),
    );
    for (const [index, change] of changes.entries()) {
      const value = `v${index + 1}`;
      const patches: Readonly<Record<string, JsonObject>> = {
        spec: { spec: { startingDeadlineSeconds: 100 + index } },
        labels: { metadata: { labels: { value } } },
        annotations: { metadata: { annotations: { value } } },
        status: { status: { lastScheduleTime: `2024-01-01T00:00:0${index}Z` } },
        nothing: {},
      };
      if (change === "spec") expected += 1;
      const answer = await cronJobs.patch(change === "status" ? "a/status" : "a", "merge", patches[change] ?? {});
      const { generation } = objectOf(answer).metadata;
      attempt.expect(
        "objects.generation",
        generation === expected,
        `generation ${expected} after a change of ${change}`,
        String(generation),
      );
    }
    // What is held can be seen to be deleted; that it is asked for again says nothing new.
    objectOf(await cronJobs.patch("a", "merge", { metadata: { finalizers: ["example.com/hold"] } }));
    for (const count of ["first", "second"]) {
      succeeded(await cronJobs.delete("a"));
      const { generation } = objectOf(await cronJobs.get("a")).metadata;
      attempt.expect(
        "deletion.generation",
        generation === expected + 1,
        `generation ${expected + 1} after the ${count} deletion`,
        String(generation),
      );
    }
  },
});

function suspendedCronJob(name: string): JsonObject {
  const containers = [{ name: "main", image: "example.com/none:1" }];
  const template = { spec: { restartPolicy: "Never", containers } };
  const spec = { schedule: "0 0 1 1 *", suspend: true, jobTemplate: { spec: { template } } };
  return { apiVersion: "batch/v1", kind: "CronJob", metadata: { name }, spec };
}
