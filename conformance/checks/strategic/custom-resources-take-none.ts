import { objectOf } from "../../client/collection.ts";
import { versionOf } from "../../client/types.ts";
import { withDefinition } from "../../runner/custom-definition.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Nobody has said how the lists of a custom resource are merged. One run says all. */
export const customResourcesTakeNone = defineCheck({
  id: "custom-resources-take-none",
  area: "strategic",
  property: "A strategic merge patch of a custom resource is refused.",
  requirements: ["strategic.custom"],
  features: ["namespaces"],
  async run(attempt) {
    const { unservedPatchStatuses: statuses, dialect } = attempt.profile;
    const { extensionPrefix } = dialect;
    const schema = { type: "object", [`${extensionPrefix}preserve-unknown-fields`]: true };
    await withDefinition(attempt, schema, async ({ widgets, widget }) => {
      const before = objectOf(await widgets.create(widget("a", { spec: { size: 1 } })));
      const answer = await widgets.patch("a", "strategic", { spec: { size: 2 } });
      const after = objectOf(await widgets.get("a"));
      const untouched = versionOf(after) === versionOf(before);
      const actual = `${answer.status} ${answer.text.slice(0, 200)}, ${JSON.stringify(after["spec"])}`;
      attempt.expect(
        "strategic.custom",
        statuses.includes(answer.status) && untouched,
        `${statuses.join(" or ")}, and nothing changed`,
        actual,
      );
      const merged = objectOf(await widgets.patch("a", "merge", { spec: { size: 2 } }));
      attempt.expect(
        "strategic.custom",
        versionOf(merged) !== versionOf(before),
        "a merge patch taken",
        JSON.stringify(merged),
      );
    });
  },
});
