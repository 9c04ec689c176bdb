import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import { isJsonObject, versionOf } from "../../client/types.ts";
import { describeEvents, sameContent } from "../../model/history.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog } from "../../runner/story.ts";

const kinds = ["put", "merge-patch", "json-patch", "create"] as const;
type Kind = (typeof kinds)[number];

/**
 * Property: a write that must be refused (from an old version, or a create of a name that exists) is refused with 409,
 * and neither the object nor the history shows it.
 */
export const staleWritesLeaveNoTrace = defineCheck({
  id: "stale-writes-leave-no-trace",
  area: "writes",
  property: "A write from an old version, and a create of a taken name, are refused and leave no trace.",
  requirements: [
    "writes.stale-put",
    "writes.patch-conditional",
    "writes.already-exists",
    "writes.refused-no-trace",
    "objects.unique-name",
  ],
  features: ["configmaps", "watch"],
  input: fc.array(fc.constantFrom<Kind>(...kinds), { minLength: 1, maxLength: 5 }),
  examples: [[...kinds]],
  async run(attempt, tries) {
    const collection = await attempt.target.collection("configmaps");
    const first = objectOf(await collection.create(configMap("a", { data: { value: "first" } })));
    const current = objectOf(await collection.patch("a", "merge", { data: { value: "second" } }));
    const watch = await attempt.openWatch(collection, { resourceVersion: versionOf(current) });
    const stale = versionOf(first);
    const data = { value: "refused" };
    for (const kind of tries) {
      const answers: Record<Kind, () => Promise<Answer>> = {
        put: () => collection.put("a", configMap("a", { data, resourceVersion: stale })),
        "merge-patch": () => collection.patch("a", "merge", { metadata: { resourceVersion: stale }, data }),
        "json-patch": () =>
          collection.patch("a", "json", [
            { op: "replace", path: "/data", value: data },
            { op: "replace", path: "/metadata/resourceVersion", value: stale },
          ]),
        create: () => collection.create(configMap("a", { data })),
      };
      const answer = await answers[kind]();
      const actual = `${answer.status} ${answer.text.slice(0, 200)}`;
      if (kind === "create") {
        attempt.expect("objects.unique-name", answer.status >= 400, "a refusal, for the name is taken", actual);
        const reason = isJsonObject(answer.json) ? answer.json["reason"] : undefined;
        attempt.expect(
          "writes.already-exists",
          answer.status === 409 && reason === "AlreadyExists",
          "409 AlreadyExists",
          actual,
        );
      } else {
        const requirement = kind === "put" ? "writes.stale-put" : "writes.patch-conditional";
        attempt.expect(
          requirement,
          answer.status === 409,
          `409 for a ${kind} from version ${stale}, now ${versionOf(current)}`,
          actual,
        );
      }
      const read = objectOf(await collection.get("a"));
      const untouched = versionOf(read) === versionOf(current) && sameContent(read, current);
      attempt.expect("writes.refused-no-trace", untouched, JSON.stringify(current), JSON.stringify(read));
    }
    const log = ownLog(attempt, collection, await attempt.untilFence(watch, await attempt.fence(collection)));
    attempt.expect("writes.refused-no-trace", log.length === 0, "no event", describeEvents(log));
    // A client goes on from what it read: the refusals must not have moved the version on in secret.
    const after = await collection.put(
      "a",
      configMap("a", { data: { value: "third" }, resourceVersion: versionOf(current) }),
    );
    attempt.expect(
      "writes.refused-no-trace",
      after.status === 200,
      `200 for a PUT from version ${versionOf(current)}`,
      `${after.status} ${after.text.slice(0, 200)}`,
    );
  },
});
