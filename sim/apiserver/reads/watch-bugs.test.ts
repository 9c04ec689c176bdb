import { describe, expect, it } from "vitest";
import type { ServerBugName } from "../../planted/server-bugs.ts";
import { svcProfile } from "../../contract/profile.ts";
import { labelledBed, withWatchList } from "./reads.fixture.ts";

describe("bugs in watches", () => {
  const lines = (bug: ServerBugName, query: string, namespace = "n"): readonly string[] => {
    const bed = labelledBed({ bugs: [bug], profile: withWatchList(svcProfile) });
    const watch = bed.watch(query, namespace);
    bed.label("n/a", { app: "y" });
    bed.remove("n/b");
    bed.put("m/a");
    bed.pass(60_000_000);
    return watch.lines;
  };

  it.each([
    ["watch-deleted-event-old-rv", "resourceVersion=3", ["MODIFIED n/a 4", "DELETED n/b 3"]],
    ["watch-leave-selector-old-rv", "resourceVersion=3&labelSelector=app%3Dx", ["DELETED n/a 2"]],
    ["watch-selector-exit-missing", "resourceVersion=3&labelSelector=app%3Dx", []],
    ["watch-start-inclusive", "resourceVersion=3", ["ADDED n/b 3", "MODIFIED n/a 4", "DELETED n/b 5"]],
    ["bookmark-rv-zero", "resourceVersion=5&allowWatchBookmarks=true", ["BOOKMARK 0"]],
    ["bookmark-below-requested-rv", "resourceVersion=5&allowWatchBookmarks=true", ["BOOKMARK 4"]],
  ] as const)("%s", (bug, query, expected) => {
    expect(lines(bug, query)).toEqual(expected);
  });

  it("watch-name-selector-crosses-namespaces", () => {
    const query =
      "resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3Da";
    expect(lines("watch-name-selector-crosses-namespaces", query, "")).toEqual(["MODIFIED n/a 4"]);
    expect(lines("bookmark-rv-zero", query, "")).toEqual(["MODIFIED n/a 4", "ADDED m/a 6"]);
  });

  it("initial-events-end-missing", () => {
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const bed = labelledBed({ bugs: ["initial-events-end-missing"], profile: withWatchList(svcProfile) });
    expect(bed.watch(query, "n").lines).toEqual(["ADDED n/a 2", "ADDED n/b 3"]);
  });

  it("initial-events-end-unasked", () => {
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    const bed = labelledBed({ bugs: ["initial-events-end-unasked"], profile: withWatchList(svcProfile) });
    expect(bed.watch(query, "n").lines).toEqual(["ADDED n/a 2", "ADDED n/b 3", expect.stringContaining("BOOKMARK")]);
  });

  it("initial-events-before-version", () => {
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=999";
    const lawful = labelledBed({ profile: withWatchList(svcProfile) });
    expect(lawful.watch(query, "n").lines).toEqual([]);
    const bed = labelledBed({ bugs: ["initial-events-before-version"], profile: withWatchList(svcProfile) });
    expect(bed.watch(query, "n").lines).toEqual(["ADDED n/a 2", "ADDED n/b 3"]);
  });
});
