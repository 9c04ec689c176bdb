import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { create, endpoint, testPrng, update } from "./objects.fixture.ts";
import { generateName, randomUid } from "./system-fields.ts";
import { metadataOf } from "../contract/objects.ts";
import { validateUpdate } from "./validation.ts";

const configMaps = endpoint("v1/configmaps");
const deployments = endpoint("apps/v1/deployments");
const nodes = endpoint("v1/nodes");

describe("a creation", () => {
  const claimed = {
    metadata: {
      name: "a",
      uid: "my-own",
      selfLink: "/x",
      creationTimestamp: "2001-01-01T00:00:00Z",
      deletionTimestamp: "2001-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 3,
      generation: 7,
    },
  };

  it("forgets what only the server says, but for a generation that nobody counts", () => {
    const metadata = metadataOf(create(claimed, configMaps));
    expect(metadata).toMatchObject({ generation: 7, creationTimestamp: "2026-01-01T00:00:00Z", resourceVersion: "1" });
    expect(metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Object.keys(metadata)).toEqual([
      "name",
      "namespace",
      "uid",
      "resourceVersion",
      "generation",
      "creationTimestamp",
    ]);
  });

  it("starts the count at 1 where there is one, and status empty", () => {
    const made = create({ ...deployment(2), status: { replicas: 9 } }, deployments);
    expect(metadataOf(made).generation).toBe(1);
    expect(made["status"]).toEqual({});
  });
});

function deployment(replicas: number, labels: JsonObject = { a: "b" }): JsonObject {
  return {
    metadata: { name: "d", labels },
    spec: {
      replicas,
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
    },
  };
}

describe("an update", () => {
  const live = create(deployment(1), deployments);
  const withStatus = update({ ...deployment(1), status: { replicas: 3 } }, live, deployments, {
    subresource: "status",
  });

  it("counts changes of the desired state alone", () => {
    expect(metadataOf(update(deployment(1), live, deployments)).generation).toBe(1);
    expect(metadataOf(update(deployment(1, { a: "c" }), live, deployments)).generation).toBe(1);
    expect(metadataOf(withStatus).generation).toBe(1);
    expect(metadataOf(update(deployment(2), live, deployments)).generation).toBe(2);
  });

  it("of the object keeps status, of status keeps the rest", () => {
    expect(update({ ...deployment(1), status: { replicas: 8 } }, withStatus, deployments)["status"]).toEqual({
      replicas: 3,
    });
    const through = update({ ...deployment(9, { a: "c" }), status: { replicas: 4 } }, live, deployments, {
      subresource: "status",
    });
    expect(through["spec"]).toEqual(live["spec"]);
    expect(metadataOf(through).labels).toEqual({ a: "b" }); // deployments lock labels here
    expect(through["status"]).toEqual({ replicas: 4 });
    const node = create({ metadata: { name: "n" } }, nodes);
    const labelled = update({ metadata: { name: "n", labels: { x: "y" } } }, node, nodes, { subresource: "status" });
    expect(metadataOf(labelled).labels).toEqual({ x: "y" }); // and nodes do not
  });

  it("fills in what the client left out, and passes over its times", () => {
    const map = create({ metadata: { name: "a" } }, configMaps);
    const after = update(
      { metadata: { name: "a", namespace: "ns", creationTimestamp: "2001-01-01T00:00:00Z", generation: 9 } },
      map,
      configMaps,
    );
    expect(metadataOf(after)).toMatchObject({
      uid: metadataOf(map).uid,
      creationTimestamp: metadataOf(map).creationTimestamp,
    });
    expect(metadataOf(after).generation).toBeUndefined();
  });

  it("cannot take back or set a deletion", () => {
    const map = create({ metadata: { name: "a", namespace: "ns" } }, configMaps);
    const wish = {
      metadata: { name: "a", namespace: "ns", resourceVersion: "1", deletionTimestamp: "2001-01-01T00:00:00Z" },
    };
    const causes = validateUpdate(update(wish, map, configMaps), map, configMaps.strategy);
    expect(new Set(causes.map(({ field }) => field))).toEqual(new Set(["metadata.deletionTimestamp"]));
    const deleting = {
      ...map,
      metadata: {
        ...(map["metadata"] as JsonObject),
        deletionTimestamp: "2026-01-03T00:00:00Z",
        deletionGracePeriodSeconds: 0,
      },
    };
    expect(metadataOf(update({ metadata: { name: "a" } }, deleting, configMaps))).toMatchObject({
      deletionTimestamp: "2026-01-03T00:00:00Z",
      deletionGracePeriodSeconds: 0,
    });
  });

  it("reports a changed uid twice, as observed", () => {
    const map = create({ metadata: { name: "a", namespace: "ns" } }, configMaps);
    const after = update(
      { metadata: { name: "a", namespace: "ns", uid: "00000000-0000-0000-0000-000000000000" } },
      map,
      configMaps,
    );
    expect(validateUpdate(after, map, configMaps.strategy).map(({ field }) => field)).toEqual([
      "metadata.uid",
      "metadata.uid",
    ]);
  });
});

describe("drawn values", () => {
  it("a name is its base, cut, and five characters of the alphabet", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.nat(), (base, seed) => {
        const name = generateName(base, testPrng(seed));
        expect(name.slice(0, -5)).toBe(base.slice(0, 58));
        expect(name.slice(-5)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      }),
      { seed: 21, numRuns: 200 },
    );
    expect(generateName("a-", testPrng(3))).toBe(generateName("a-", testPrng(3)));
  });

  it("a uid is of version 4, and another each time", () => {
    const prng = testPrng();
    const uids = Array.from({ length: 1000 }, () => randomUid(prng));
    expect(new Set(uids).size).toBe(1000);
    for (const uid of uids)
      expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
