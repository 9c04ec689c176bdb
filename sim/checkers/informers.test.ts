import { describe, expect, it } from "vitest";
import type { WatchRecord } from "../client/informer.ts";
import {
  expiredWatchesAreGone,
  type NamedInformer,
  type StoreHistory,
  watchesAreOrdered,
  watchesAreReliable,
} from "./informers.ts";

const path = "/api/v1/namespaces/n/configmaps";
const watch = (fromVersion: number, events: string, outcome: WatchRecord["outcome"] = "served"): WatchRecord => ({
  fromVersion: String(fromVersion),
  startedMicros: 100,
  outcome,
  outcomeMicros: 110,
  events:
    events === ""
      ? []
      : events
          .split(" ")
          .map((word) => ({ type: word.startsWith("b") ? "BOOKMARK" : "MODIFIED", version: word.replace("b", "") })),
});

const informer = (watches: WatchRecord[]): NamedInformer => ({
  name: "informer-1",
  informer: { path, watches, objects: new Map() },
});

/** Changes 5, 6 and 8 are of the informer's collection, 7 is not; everything below 6 is compacted at 50. */
const history: StoreHistory = {
  changes: [
    { key: "/registry/configmaps/n/a", revision: 5 },
    { key: "/registry/configmaps/n/b", revision: 6 },
    { key: "/registry/configmaps/nn/b", revision: 7 },
    { key: "/registry/configmaps/n/a", revision: 8 },
  ],
  compactions: [{ atMicros: 50, revision: 6 }],
};

describe("expiredWatchesAreGone", () => {
  it("accepts a watch that is told 410", () => {
    expect(expiredWatchesAreGone([informer([watch(4, "", "gone")])], history).status).toBe("passed");
  });
  it("rejects one that is served with a gap", () => {
    expect(expiredWatchesAreGone([informer([watch(4, "6 8")])], history)).toMatchObject({
      status: "failed",
      actual: expect.stringContaining("version 5"),
    });
  });
  it("has no opinion on one that a cache could still serve whole, or on versions that are retained", () => {
    expect(expiredWatchesAreGone([informer([watch(4, "5 6 8")])], history).status).toBe("inconclusive");
    expect(expiredWatchesAreGone([informer([watch(6, "", "gone")])], history).status).toBe("inconclusive");
    const asItBegan = { ...history, compactions: [{ atMicros: 100, revision: 6 }] };
    expect(expiredWatchesAreGone([informer([watch(4, "6 8")])], asItBegan).status).toBe("inconclusive");
  });
});

describe("watchesAreReliable", () => {
  it("accepts every change of the collection up to the last event, bookmarks among them", () => {
    expect(watchesAreReliable([informer([watch(4, "5 6 b7 8"), watch(5, "6 b6")])], history).status).toBe("passed");
  });
  it("says nothing without events", () => {
    expect(watchesAreReliable([informer([watch(4, "")])], history).status).toBe("inconclusive");
  });
  it.each(["5 8", "6", "5 b8", "5 b6 8", "5 6 b8"])("rejects %s", (events) => {
    expect(watchesAreReliable([informer([watch(4, events)])], history).status).toBe("failed");
  });
});

describe("watchesAreOrdered", () => {
  it("accepts versions that rise, and a bookmark at the last one", () => {
    expect(watchesAreOrdered([informer([watch(4, "5 6 b6 8")])]).status).toBe("passed");
  });
  it.each(["6 5", "5 5", "4", "8 b6"])("rejects %s", (events) => {
    expect(watchesAreOrdered([informer([watch(4, events)])]).status).toBe("failed");
  });
  it("says nothing without events", () => {
    expect(watchesAreOrdered([informer([watch(4, "")])]).status).toBe("inconclusive");
  });
});
