import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { versionOf } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: patches without a version, sent at once on different fields, all succeed and all take effect; of patches
 * with one version at most one does.
 */
export const patchesUnderContention = defineCheck({
  id: "patches-under-contention",
  area: "writes",
  property: "Concurrent patches of different fields neither conflict nor undo one another.",
  requirements: ["writes.patch-unconditional", "writes.patch-no-lost-update", "writes.patch-conditional"],
  features: ["configmaps"],
  input: fc.record({
    kinds: fc.array(fc.constantFrom("merge", "json"), { minLength: 2, maxLength: 4 }),
    rounds: fc.integer({ min: 1, max: 3 }),
  }),
  async run(attempt, { kinds, rounds }) {
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("a", { data: { base: "x" }, labels: { base: "x" } })));
    const expected: Record<string, string> = { base: "x" };
    const versions = new Set<string>();
    for (let round = 0; round < rounds; round += 1) {
      const answers = await Promise.all(
        kinds.map((kind, writer) => {
          const field = `w${writer}`;
          const value = `r${round}`;
          expected[field] = value;
          return kind === "merge"
            ? collection.patch("a", "merge", { data: { [field]: value } })
            : collection.patch("a", "json", [{ op: "add", path: `/data/${field}`, value }]);
        }),
      );
      for (const answer of answers) {
        attempt.expect(
          "writes.patch-unconditional",
          answer.status === 200,
          "200 for a patch that names no version",
          `${answer.status} ${answer.text.slice(0, 200)}`,
        );
        versions.add(versionOf(objectOf(answer)));
      }
      const read = objectOf(await collection.get("a"));
      const data = read["data"] as Record<string, string>;
      const lost = Object.keys(expected).filter((field) => data[field] !== expected[field]);
      attempt.expect("writes.patch-no-lost-update", lost.length === 0, JSON.stringify(expected), JSON.stringify(data));

      const resourceVersion = versionOf(read);
      const conditional = await Promise.all(
        kinds.map((_kind, writer) =>
          collection.patch("a", "merge", {
            metadata: { resourceVersion },
            data: { conditional: `${round}-${writer}` },
          }),
        ),
      );
      const statuses = conditional.map((answer) => answer.status);
      const lawful =
        statuses.filter((status) => status === 200).length <= 1 &&
        statuses.every((status) => status === 200 || status === 409);
      attempt.expect(
        "writes.patch-conditional",
        lawful,
        `at most one 200 from version ${resourceVersion}, else 409`,
        statuses.join(", "),
      );
    }
    const count = kinds.length * rounds;
    attempt.expect(
      "writes.patch-no-lost-update",
      versions.size === count,
      `${count} versions for ${count} patches`,
      [...versions].join(", "),
    );
  },
});
