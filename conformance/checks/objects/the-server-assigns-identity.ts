import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

const foreignUid = "11111111-2222-4333-8444-555555555555";
const longAgo = "2001-02-03T04:05:06Z";

/**
 * Property: uid, creation time and generated names are the server's: unique, set at creation, kept for life, and not
 * for a client to choose.
 */
export const theServerAssignsIdentity = defineCheck({
  id: "the-server-assigns-identity",
  area: "objects",
  property: "Uids, creation times and generated names are given by the server and unique.",
  requirements: [
    "objects.uid",
    "objects.generate-name",
    "objects.version-of-new",
    "objects.creation-time",
    "objects.server-assigned",
  ],
  features: ["configmaps"],
  input: fc.record({
    prefixes: fc.array(fc.constantFrom("a-", "a", "long-enough-to-be-a-prefix-", "x.y-"), {
      minLength: 1,
      maxLength: 5,
    }),
    forged: fc.boolean(),
    change: fc.constantFrom("put", "merge", "none"),
  }),
  async run(attempt, { prefixes, forged, change }) {
    const collection = await attempt.target.collection("configmaps");
    const made: ApiObject[] = [];
    const forgery = forged ? { uid: foreignUid, creationTimestamp: longAgo } : {};
    for (const generateName of prefixes) {
      const { metadata: _metadata, ...rest } = configMap("");
      made.push(
        objectOf(await collection.create({ ...rest, metadata: { generateName, ...forgery } }), "objects.generate-name"),
      );
    }
    for (const [index, object] of made.entries()) {
      const { name, uid, creationTimestamp } = object.metadata;
      const prefix = prefixes[index] as string;
      attempt.expect(
        "objects.generate-name",
        name.startsWith(prefix) && name.length > prefix.length,
        `a name that begins with ${prefix}`,
        name,
      );
      attempt.expect("objects.uid", typeof uid === "string" && uid !== "", "a uid", JSON.stringify(uid));
      attempt.expect(
        "objects.creation-time",
        isTime(creationTimestamp),
        "an RFC 3339 creationTimestamp",
        String(creationTimestamp),
      );
      if (forged) {
        const own = uid !== foreignUid && creationTimestamp !== longAgo;
        attempt.expect(
          "objects.server-assigned",
          own,
          "uid and creationTimestamp of the server's own",
          JSON.stringify(object.metadata),
        );
      }
    }
    const names = new Set(made.map((object) => object.metadata.name));
    attempt.expect(
      "objects.generate-name",
      names.size === made.length,
      "a name of its own for each",
      [...names].join(", "),
    );
    const uids = new Set(made.map((object) => object.metadata.uid));
    attempt.expect("objects.uid", uids.size === made.length, "a uid of its own for each", [...uids].join(", "));

    const [first] = made as [ApiObject];
    const { name, uid, creationTimestamp } = first.metadata;
    const { metadata, ...body } = configMap(name, { data: { changed: "yes" } });
    const sent = { ...body, metadata: { ...(metadata as object), creationTimestamp: longAgo } };
    if (change === "put") await collection.put(name, sent);
    if (change === "merge") await collection.patch(name, "merge", { metadata: { creationTimestamp: longAgo } });
    const after = objectOf(await collection.get(name)).metadata;
    attempt.expect(
      "objects.creation-time",
      after.creationTimestamp === creationTimestamp,
      String(creationTimestamp),
      String(after.creationTimestamp),
    );
    attempt.expect("objects.uid", after.uid === uid, `uid ${uid} for life`, String(after.uid));

    const versioned = await collection.create(
      configMap("versioned", { resourceVersion: after.resourceVersion ?? "1" }),
    );
    const isNew = (await collection.get("versioned")).status === 404;
    attempt.expect(
      "objects.version-of-new",
      versioned.status >= 400 && isNew,
      "a refusal of a POST that names a version, and nothing created",
      `${versioned.status} ${versioned.text.slice(0, 300)}`,
    );

    const wrongUid = await collection.put(name, configMap(name, { uid: foreignUid }));
    attempt.expect(
      "objects.server-assigned",
      wrongUid.status >= 400,
      "a refusal of a PUT with another uid",
      String(wrongUid.status),
    );
  },
});

function isTime(value: string | null | undefined): boolean {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value);
}
