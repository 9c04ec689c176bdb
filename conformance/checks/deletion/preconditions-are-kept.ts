import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { versionOf } from "../../client/types.ts";
import { sameContent } from "../../model/history.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: a deletion with preconditions happens only if they hold; if not it is answered 409 and changes nothing.
 * Method: the object may have been deleted and made again under the same name, so that the old uid is a real one.
 */
export const preconditionsAreKept = defineCheck({
  id: "preconditions-are-kept",
  area: "deletion",
  property: "A deletion happens only if its preconditions hold.",
  requirements: ["deletion.preconditions", "deletion.preconditions-hold"],
  features: ["configmaps"],
  input: fc.record({
    uid: fc.constantFrom("right", "old", "none"),
    version: fc.constantFrom("right", "old", "none"),
    held: fc.boolean(),
  }),
  examples: [
    { uid: "old", version: "none", held: false },
    { uid: "none", version: "old", held: false },
    { uid: "right", version: "right", held: true },
  ],
  async run(attempt, { uid, version, held }) {
    const collection = await attempt.target.collection("configmaps");
    const first = objectOf(await collection.create(configMap("a")));
    await collection.delete("a");
    const finalizers = held ? ["example.com/hold"] : [];
    const second = objectOf(await collection.create(configMap("a", { finalizers })));
    const object = objectOf(await collection.patch("a", "merge", { data: { value: "newer" } }));
    const preconditions = {
      ...(uid === "none" ? {} : { uid: (uid === "right" ? object : first).metadata.uid as string }),
      ...(version === "none" ? {} : { resourceVersion: versionOf(version === "right" ? object : second) }),
    };
    const answer = await collection.delete("a", { preconditions });
    const actual = `${answer.status} ${answer.text.slice(0, 300)}`;
    const read = await collection.get("a");
    if (uid === "old" || version === "old") {
      attempt.expect(
        "deletion.preconditions",
        answer.status === 409,
        `409 for ${JSON.stringify(preconditions)}`,
        actual,
      );
      const untouched =
        read.status === 200 && versionOf(objectOf(read)) === versionOf(object) && sameContent(objectOf(read), object);
      attempt.expect("deletion.preconditions", untouched, JSON.stringify(object), read.text.slice(0, 400));
      return;
    }
    attempt.expect(
      "deletion.preconditions-hold",
      answer.status < 300,
      `the deletion with ${JSON.stringify(preconditions)}`,
      actual,
    );
    const state =
      read.status === 404 ? "gone" : objectOf(read).metadata.deletionTimestamp ? "being deleted" : "untouched";
    attempt.expect(
      "deletion.preconditions-hold",
      state === (held ? "being deleted" : "gone"),
      held ? "being deleted" : "gone",
      state,
    );
  },
});
