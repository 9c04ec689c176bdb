import { describe, expect, it } from "vitest";
import { isSameCode, withoutGenerated } from "./dry-answers.ts";

const dry = {
  kind: "ConfigMap",
  metadata: { name: "named-x1", namespace: "a", uid: "1", creationTimestamp: "2030-01-01T00:00:00Z", labels: {} },
};
const real = {
  kind: "ConfigMap",
  metadata: {
    name: "named-y2",
    namespace: "b",
    uid: "2",
    resourceVersion: "7",
    creationTimestamp: "2030-01-01T00:00:09Z",
  },
};

describe("an answer without what is generated", () => {
  it("is the same dry and real", () => {
    expect(withoutGenerated(dry, "named-")).toEqual(withoutGenerated(real, "named-"));
  });

  it.each([
    ["another name", { ...dry, metadata: { ...dry.metadata, name: "other" } }],
    ["a label more", { ...dry, metadata: { ...dry.metadata, labels: { a: "b" } } }],
    ["no time", { ...dry, metadata: { ...dry.metadata, creationTimestamp: null } }],
    ["a field more", { ...dry, data: { a: "b" } }],
    ["a manager", { ...dry, metadata: { ...dry.metadata, managedFields: [{ manager: "m", operation: "Update" }] } }],
  ])("tells %s", (_, other) => {
    expect(withoutGenerated(other, "named-")).not.toEqual(withoutGenerated(real, "named-"));
  });

  it("is the same whichever manager's time comes first", () => {
    const entries = ["a", "b"].map((manager) => ({ manager, operation: "Update", time: "2030-01-01T00:00:00Z" }));
    const [one, two] = [entries, entries.toReversed()].map((managedFields) =>
      withoutGenerated({ ...dry, metadata: { ...dry.metadata, managedFields } }),
    );
    expect(one).toEqual(two);
  });

  it("keeps a name that was given", () => {
    expect(withoutGenerated(dry)).not.toEqual(withoutGenerated(real));
  });
});

it.each([
  [200, 201, true],
  [201, 201, true],
  [200, 202, false],
  [409, 409, true],
  [409, 422, false],
])("a dry %s is as good as a real %s: %s", (left, right, isSame) => {
  expect(isSameCode(left, right)).toBe(isSame);
});
