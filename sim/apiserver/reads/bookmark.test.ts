import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { labelledBed, withWatchList } from "./reads.fixture.ts";

const SECOND = 1_000_000;
const both = [svcProfile, kubernetesProfile];

describe("bookmarks", () => {
  it("come once a minute and just before the end, when there is news", () => {
    for (const profile of both) {
      const bed = labelledBed({ profile });
      const asked = bed.watch("resourceVersion=3&allowWatchBookmarks=true&timeoutSeconds=100", "n");
      const notAsked = bed.watch("resourceVersion=3&timeoutSeconds=100", "n");
      bed.pass(60 * SECOND);
      expect(asked.lines).toEqual([]);
      bed.put("other/x");
      bed.pass(38 * SECOND);
      expect(asked.lines).toEqual(["BOOKMARK 4"]);
      bed.pass(2 * SECOND);
      expect(asked.state).toBe("closed");
      expect(notAsked.lines).toEqual([]);
    }
  });

  it("never run ahead of what the cache has", () => {
    const bed = labelledBed();
    const watch = bed.watch("resourceVersion=3&allowWatchBookmarks=true", "n");
    bed.put("n/a");
    bed.context.frontEnd.setLag(Infinity);
    bed.put("n/a");
    bed.pass(60 * SECOND);
    expect(watch.lines).toEqual(["MODIFIED n/a 4", "BOOKMARK 4"]);
  });

  it("carry a version, and in one profile what an empty object carries", () => {
    const type = { kind: "Namespace", apiVersion: "v1" };
    for (const profile of both) {
      const bed = labelledBed({ profile });
      const watch = bed.watch("resourceVersion=1&allowWatchBookmarks=true", "", bed.target("namespaces"));
      bed.put("n/a");
      bed.pass(60 * SECOND);
      const plain = { ...type, metadata: { resourceVersion: "4" } };
      const zero = { ...type, metadata: { resourceVersion: "4", creationTimestamp: null }, spec: {}, status: {} };
      expect(watch.events[0]?.object).toEqual(profile === svcProfile ? plain : zero);
    }
  });
});

describe("sendInitialEvents", () => {
  const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

  it("gives the state, says when it is over, and goes on", () => {
    for (const profile of both.map(withWatchList)) {
      const bed = labelledBed({ profile });
      const watch = bed.watch(query, "n");
      bed.put("n/c");
      expect(watch.lines).toEqual(["ADDED n/a 2", "ADDED n/b 3", "BOOKMARK 3", "ADDED n/c 4"]);
      const { initialEventsEnd, initialEventsBlueprint } = profile.dialect;
      const annotations = (watch.events[2]?.object["metadata"] as JsonObject | undefined)?.["annotations"];
      const blueprint =
        "eyJraW5kIjoiQ29uZmlnTWFwTGlzdCIsImFwaVZlcnNpb24iOiJ2MSIsIm1ldGFkYXRhIjp7fSwiaXRlbXMiOm51bGx9Cg==";
      expect(annotations).toEqual({ [initialEventsEnd]: "true", [initialEventsBlueprint]: blueprint });
      expect(bed.watch(query.replace("&allowWatchBookmarks=true", ""), "n").lines).toHaveLength(3);
    }
  });

  it("waits for a state as new as asked, or as the store", () => {
    for (const [version, lines] of [
      ["", ["ADDED n/a 4", "ADDED n/b 3", "BOOKMARK 4"]],
      ["&resourceVersion=4", ["ADDED n/a 4", "ADDED n/b 3", "BOOKMARK 4"]],
      ["&resourceVersion=0", ["ADDED n/a 2", "ADDED n/b 3", "BOOKMARK 3", "MODIFIED n/a 4"]],
    ] as const) {
      const bed = labelledBed({ profile: withWatchList(kubernetesProfile) });
      bed.context.frontEnd.setLag(SECOND);
      bed.put("n/a");
      const watch = bed.watch(query + version, "n");
      expect(watch.state).toBe(version === "&resourceVersion=0" ? "open" : "waiting");
      bed.pass(SECOND);
      expect(watch.lines).toEqual(lines);
    }
  });

  it("gives up after three seconds", () => {
    const bed = labelledBed({ profile: withWatchList(kubernetesProfile) });
    const watch = bed.watch(`${query}&resourceVersion=99`, "n");
    bed.pass(3 * SECOND);
    expect(watch).toMatchObject({ state: "closed", lines: ["ERROR 504"] });
    const other = labelledBed({ profile: withWatchList(svcProfile) });
    const failed = other.watch(`${query}&resourceVersion=99`, "n");
    other.pass(3 * SECOND);
    expect(failed.error).toMatchObject({ code: 504 });
  });

  it("false: changes only", () => {
    const bed = labelledBed({ profile: withWatchList(kubernetesProfile) });
    const none = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    const watches = ["", "&resourceVersion=0", "&resourceVersion=2"].map((version) => bed.watch(none + version, "n"));
    bed.put("n/c");
    expect(watches.map(({ lines }) => lines)).toEqual([
      ["ADDED n/c 4"],
      ["ADDED n/c 4"],
      ["ADDED n/b 3", "ADDED n/c 4"],
    ]);
  });

  it("is the default of a watch without a version while the gate is on", () => {
    const bed = labelledBed({ profile: withWatchList(kubernetesProfile) });
    expect(bed.watch("allowWatchBookmarks=true", "n").lines.at(-1)).toBe("BOOKMARK 3");
  });
});
