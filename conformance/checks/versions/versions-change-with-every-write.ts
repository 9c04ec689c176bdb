import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { type ApiObject, versionOf } from "../../client/types.ts";
import { describeEvents, sameContent } from "../../model/history.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog } from "../../runner/story.ts";

const anyWrite = fc.record({
  do: fc.constantFrom("put" as const, "merge" as const, "json" as const),
  changes: fc.boolean(),
});

/**
 * Property: an object's version changes with every write that changes the object, with no other, and every answer and
 * read carries it.
 */
export const versionsChangeWithEveryWrite = defineCheck({
  id: "versions-change-with-every-write",
  area: "versions",
  property: "Every effective write gives a new version; a write that changes nothing keeps it.",
  requirements: ["versions.last-modification", "versions.no-op", "objects.read-back", "objects.fields"],
  features: ["configmaps", "watch"],
  input: fc.array(anyWrite, { minLength: 1, maxLength: 6 }),
  async run(attempt, writes) {
    const collection = await attempt.target.collection("configmaps");
    const { resourceVersion } = await collection.readList();
    const watch = await attempt.openWatch(collection, { resourceVersion });
    let current = objectOf(await collection.create(configMap("a", { data: { value: "v" } })));
    const versions = [versionOf(current)];
    attempt.expect(
      "objects.fields",
      hasFields(current),
      "kind, apiVersion, namespace, uid, resourceVersion and creationTimestamp",
      JSON.stringify(current),
    );
    for (const [index, write] of writes.entries()) {
      const value = write.changes ? `v${index}` : (current["data"] as Record<string, string>)["value"];
      const data = { value: value as string };
      const { managedFields: _managed, ...metadata } = current.metadata;
      const answer =
        write.do === "put"
          ? await collection.put("a", { ...current, metadata, data })
          : write.do === "merge"
            ? await collection.patch("a", "merge", { data })
            : await collection.patch("a", "json", [{ op: "replace", path: "/data/value", value: data.value }]);
      const written = objectOf(answer);
      attempt.expect("objects.fields", hasFields(written), `all fields in the answer to a ${write.do}`, answer.text);
      if (write.changes) {
        const known = versions.includes(versionOf(written)) || versionOf(written) === "";
        attempt.expect(
          "versions.last-modification",
          !known,
          `a version other than ${versions.join(", ")}`,
          JSON.stringify(written.metadata.resourceVersion),
        );
        versions.push(versionOf(written));
      } else {
        attempt.expect(
          "versions.no-op",
          versionOf(written) === versionOf(current),
          `version ${versionOf(current)}, for the ${write.do} changed nothing`,
          JSON.stringify(written.metadata.resourceVersion),
        );
      }
      const read = objectOf(await collection.get("a"));
      attempt.expect(
        "versions.last-modification",
        versionOf(read) === versionOf(written),
        `version ${versionOf(written)} on a read`,
        versionOf(read),
      );
      attempt.expect("objects.read-back", sameContent(read, written), JSON.stringify(written), JSON.stringify(read));
      current = read;
    }
    const log = ownLog(attempt, collection, await attempt.untilFence(watch, await attempt.fence(collection)));
    attempt.expect(
      "versions.no-op",
      log.length === versions.length,
      `${versions.length} events, one a change`,
      describeEvents(log),
    );
  },
});

function hasFields({ kind, apiVersion, metadata }: ApiObject): boolean {
  const { namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const texts = [kind, apiVersion, namespace, uid, resourceVersion, creationTimestamp];
  return texts.every((text) => typeof text === "string" && text !== "");
}
