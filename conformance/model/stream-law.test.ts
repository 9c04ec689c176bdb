import { describe, expect, it } from "vitest";
import type { WatchEvent } from "../client/types.ts";
import { event, log, object } from "./hand-written.fixture.ts";
import type { LogEvent } from "./history.ts";
import {
  judgeDeletedStates,
  judgeDeletedVersions,
  judgeEnvelopes,
  judgeFates,
  judgeKinds,
  judgeLifeCycle,
  judgeUnique,
} from "./stream-law.ts";

const bookmark: WatchEvent = { type: "BOOKMARK", object: { metadata: { resourceVersion: "5" } } };
const added: WatchEvent = { type: "ADDED", object: object("a@1") };

describe("envelopes", () => {
  it("Envelopes - changes, and a bookmark that was asked for - accepts", () => {
    expect(judgeEnvelopes([added, bookmark], true)).toBeUndefined();
  });
  it("Envelopes - a bookmark that nobody asked for - rejects", () => {
    expect(judgeEnvelopes([added, bookmark], false)?.expected).toContain("no BOOKMARK");
  });
  it("Envelopes - an error, an unknown type, a change without an object - rejects", () => {
    for (const type of ["ERROR", "malformed", "CHANGED"]) {
      expect(judgeEnvelopes([{ type, object: object("a@1") }], true)).toBeDefined();
    }
    expect(judgeEnvelopes([{ type: "ADDED", object: { kind: "ConfigMap" } }], true)).toBeDefined();
  });
});

describe("unique", () => {
  it("Unique - two lives of one name, versions of their own - accepts", () => {
    expect(judgeUnique(log("+a@1", "~a@2", "-a@3", "+a@4#2"))).toBeUndefined();
  });
  it("Unique - two objects that share a version - accepts", () => {
    expect(judgeUnique(log("+a@1", "+b@1"))).toBeUndefined();
  });
  it("Unique - one state twice - rejects", () => {
    expect(judgeUnique(log("+a@1", "~a@2", "~a@2"))?.actual).toContain("MODIFIED n/a");
  });
});

describe("life cycle", () => {
  it("Life cycle - born, changed, deleted, born again with a new uid - accepts", () => {
    expect(judgeLifeCycle(log("+a@1", "~a@2", "-a@3", "+a@4#2", "-a@5#2"))).toBeUndefined();
  });
  it("Life cycle - an object from before the stream changes - accepts", () => {
    expect(judgeLifeCycle(log("~a@2"), new Map([["n/a", "a-1"]]))).toBeUndefined();
  });
  const unlawful: readonly [situation: string, ...events: string[]][] = [
    ["changed before it was added", "~a@1"],
    ["added twice", "+a@1", "+a@2"],
    ["deleted twice", "+a@1", "-a@2", "-a@3"],
    ["changed under another uid", "+a@1", "~a@2#2"],
    ["back with the uid that was deleted", "+a@1", "-a@2", "+a@3"],
  ];
  for (const [situation, ...events] of unlawful) {
    it(`Life cycle - ${situation} - rejects`, () => expect(judgeLifeCycle(log(...events))).toBeDefined());
  }
});

describe("fates", () => {
  const deleting = { deletionTimestamp: "t9" };
  it("Fates - being deleted until it is deleted - accepts", () => {
    expect(
      judgeFates([event("+a@1"), event("~a@2", deleting), event("~a@3", deleting), event("-a@4", deleting)]),
    ).toBeUndefined();
  });
  it("Fates - no longer being deleted - rejects", () => {
    expect(judgeFates([event("+a@1"), event("~a@2", deleting), event("~a@3")])?.expected).toContain(
      "deletionTimestamp",
    );
  });
  it("Fates - created at another time than before - rejects", () => {
    expect(judgeFates([event("+a@1"), event("~a@2", { creationTimestamp: "t2" })])?.expected).toContain(
      "creationTimestamp",
    );
  });
});

describe("versions of deletions", () => {
  it("Deleted versions - the deletion's own - accepts", () => {
    expect(judgeDeletedVersions(log("+a@1", "~a@2", "-a@3"))).toBeUndefined();
  });
  it("Deleted versions - that of the last update - rejects", () => {
    expect(judgeDeletedVersions(log("+a@1", "~a@2", "-a@2"))?.actual).toContain("DELETED n/a");
  });
});

describe("states of deletions", () => {
  const [born, changed, deleted] = log("+a@1", "~a@2", "-a@3") as [LogEvent, LogEvent, LogEvent];
  const showing = (shown: LogEvent, metadata: object): LogEvent => ({
    ...deleted,
    object: { ...shown.object, metadata: { ...shown.object.metadata, resourceVersion: "3", ...metadata } },
  });
  it("Deleted states - the last state, with what the deletion wrote - accepts", () => {
    const written = { deletionTimestamp: "t9", deletionGracePeriodSeconds: 0, finalizers: [] };
    expect(judgeDeletedStates([born, changed, showing(changed, written)])).toBeUndefined();
    expect(judgeDeletedStates([deleted])).toBeUndefined(); // nothing is known of what was there
  });
  it("Deleted states - an earlier state - rejects", () => {
    expect(judgeDeletedStates([born, changed, showing(born, {})])?.expected).toContain("the last state");
  });
  it("Deleted states - the name alone, or other labels - rejects", () => {
    const { data: _data, ...bare } = showing(changed, {}).object;
    expect(judgeDeletedStates([born, changed, { ...deleted, object: bare }])).toBeDefined();
    expect(judgeDeletedStates([born, changed, showing(changed, { labels: { team: "red" } })])).toBeDefined();
  });
});

describe("what else streams show", () => {
  it("Life cycle - says what would have been lawful", () => {
    expect(judgeLifeCycle(log("~a@1"))).toMatchObject({
      expected: "ADDED, for the object is absent",
      actual: expect.stringContaining("n/a is absent"),
    });
    expect(judgeLifeCycle(log("+a@1", "+a@2"))).toMatchObject({
      expected: "MODIFIED or DELETED of uid a-1",
      actual: expect.stringContaining("n/a exists with uid a-1"),
    });
    expect(judgeLifeCycle(log("+a@1", "-a@2", "+a@3"))?.expected).toBe("no event of a uid that was deleted");
  });
  it("Life cycle - through a selector what has left comes back - accepts, and nothing twice", () => {
    expect(judgeLifeCycle(log("+a@1", "-a@2", "+a@3"), new Map(), "selected")).toBeUndefined();
    expect(judgeLifeCycle(log("+a@1", "-a@2", "-a@3"), new Map(), "selected")).toBeDefined();
    expect(judgeLifeCycle(log("+a@1", "+a@2"), new Map(), "selected")).toBeDefined();
  });
  it("Envelopes - a bookmark without an object - rejects", () => {
    expect(judgeEnvelopes([{ type: "BOOKMARK", object: "5" as never }], true)).toBeDefined();
  });
  it("Fates - the end of what was being deleted shows an earlier state - accepts", () => {
    const [born, , gone] = log("+a@1", "~a@2", "-a@3") as [LogEvent, LogEvent, LogEvent];
    const { metadata } = born.object;
    const pending = { ...born, object: { ...born.object, metadata: { ...metadata, deletionTimestamp: "t2" } } };
    expect(judgeFates([pending, gone])).toBeUndefined();
    expect(judgeFates([pending, { ...gone, type: "MODIFIED" }])).toBeDefined();
  });
  it("Deleted versions - other events of one version are another law's matter - accepts", () => {
    expect(judgeDeletedVersions(log("+a@1", "~a@1", "-a@2"))).toBeUndefined();
  });
});

describe("kinds", () => {
  const wanted = { apiVersion: "v1", kind: "ConfigMap" };
  it("Kinds - that of the collection - accepts", () => {
    expect(judgeKinds(log("+a@1", "-a@2"), wanted)).toBeUndefined();
  });
  it("Kinds - another, or none - rejects", () => {
    expect(judgeKinds(log("+a@1"), { ...wanted, kind: "Secret" })?.actual).toBe("ConfigMap of v1");
    expect(judgeKinds(log("+a@1"), { ...wanted, apiVersion: "v2" })).toBeDefined();
    const [added] = log("+a@1") as [LogEvent];
    const { kind: _kind, ...unnamed } = added.object;
    expect(judgeKinds([{ ...added, object: unnamed }], wanted)?.actual).toBe("undefined of v1");
  });
});
