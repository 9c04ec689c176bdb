import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { defineCheck } from "../../runner/define-check.ts";

const forged = "2001-02-03T04:05:06Z";

/** Property: no create, update or patch sets, moves or clears deletionTimestamp. Ignoring it and refusing it are one. */
export const deletionTimesAreTheServers = defineCheck({
  id: "deletion-times-are-the-servers",
  area: "deletion",
  property: "A client's write neither sets nor clears deletionTimestamp.",
  requirements: ["deletion.timestamp-server-only"],
  features: ["configmaps"],
  input: fc.record({
    way: fc.constantFrom("create", "put", "merge", "json"),
    value: fc.constantFrom(forged, null),
    deleting: fc.boolean(),
  }),
  async run(attempt, { way, value, deleting }) {
    const collection = await attempt.target.collection("configmaps");
    const { metadata, ...body } = configMap("a", { finalizers: ["example.com/hold"], data: { touched: "yes" } });
    const forgedMetadata = { ...(metadata as object), deletionTimestamp: value, deletionGracePeriodSeconds: 5 };
    if (way === "create") await collection.create({ ...body, metadata: forgedMetadata });
    const exists = (await collection.get("a")).status === 200;
    if (!exists) objectOf(await collection.create(configMap("a", { finalizers: ["example.com/hold"] })));
    if (deleting) await collection.delete("a");
    const before = objectOf(await collection.get("a")).metadata;
    if (way === "put") await collection.put("a", { ...body, metadata: forgedMetadata });
    if (way === "merge") await collection.patch("a", "merge", { metadata: { deletionTimestamp: value } });
    if (way === "json") {
      const patch =
        value === null
          ? { op: "remove", path: "/metadata/deletionTimestamp" }
          : { op: "add", path: "/metadata/deletionTimestamp", value };
      await collection.patch("a", "json", [patch]);
    }
    const after = await collection.get("a");
    const expected = deleting ? (before.deletionTimestamp ?? undefined) : undefined;
    const stamp =
      after.status === 200 ? (objectOf(after).metadata.deletionTimestamp ?? undefined) : "the object is gone";
    attempt.expect(
      "deletion.timestamp-server-only",
      stamp === expected && stamp !== forged,
      `deletionTimestamp ${expected ?? "absent"}`,
      String(stamp),
    );
  },
});
