import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ServerBugName } from "../../planted/server-bugs.ts";
import { ApiError } from "../../contract/errors.ts";
import { kubernetesProfile, type Profile, svcProfile } from "../../contract/profile.ts";
import { namesOf, Testbed, type TestbedOptions } from "./reads.fixture.ts";
import type { ListResult } from "./types.ts";

const SECOND = 1_000_000;
const both = [svcProfile, kubernetesProfile];

/** `n/c00` … in namespace `n`. */
function filled(count: number, options: TestbedOptions = {}): Testbed {
  const bed = new Testbed(options);
  for (let index = 0; index < count; index++) {
    bed.label(`n/c${String(index).padStart(2, "0")}`, { app: index < 5 ? "x" : "y" });
  }
  return bed;
}

const faulty = (count: number, bug: ServerBugName, profile: Profile = svcProfile): Testbed =>
  filled(count, { bugs: [bug], profile });

function failure(answer: unknown): { code: number; message: string; retry: number | undefined } {
  if (!(answer instanceof ApiError)) throw new Error(`no error: ${JSON.stringify(answer)}`);
  return { code: answer.code, message: answer.message, retry: answer.retryAfterSeconds };
}

const token = (text: string): string => Buffer.from(text).toString("base64url");
const read = (text: string): unknown => JSON.parse(Buffer.from(text, "base64url").toString());

describe("which state a list shows, under a cache that lags", () => {
  // The cache is at 4; the store is at 6 and has /n/d and a new /n/a.
  const lagging = (profile: Profile): Testbed => {
    const bed = new Testbed({ profile });
    for (const name of ["a", "b", "c"]) bed.put(`n/${name}`);
    bed.context.frontEnd.setLag(SECOND);
    bed.put("n/a");
    bed.put("n/d");
    return bed;
  };
  const stale = { names: ["n/a", "n/b", "n/c"], version: "4" };
  const fresh = { names: ["n/a", "n/b", "n/c", "n/d"], version: "6" };
  const exactly = { names: ["n/a", "n/b", "n/c"], version: "5" };

  const rows: [query: string, now: typeof stale | "waits", later?: typeof stale][] = [
    ["", "waits", fresh],
    ["resourceVersion=0", stale],
    ["resourceVersion=3", stale],
    ["resourceVersion=6", "waits", fresh],
    ["resourceVersion=0&resourceVersionMatch=NotOlderThan", stale],
    ["resourceVersion=4&resourceVersionMatch=NotOlderThan", stale],
    ["resourceVersion=5&resourceVersionMatch=NotOlderThan", "waits", exactly],
    ["resourceVersion=5&resourceVersionMatch=Exact", exactly],
    ["resourceVersion=5&limit=50", exactly],
    ["resourceVersion=5&resourceVersionMatch=Exact&limit=50", exactly],
    ["limit=50", "waits", fresh],
  ];
  for (const profile of both) {
    it.each(rows)(`${profile.name}: %s`, (query, now, later) => {
      const bed = lagging(profile);
      let answer: unknown;
      const got = bed.list(query, "n", bed.target(), (late) => (answer = late));
      const summary = (list: ListResult): unknown => ({ names: namesOf(list), version: list.resourceVersion });
      if (now !== "waits") {
        expect(summary(got as ListResult)).toEqual(now);
        return;
      }
      expect(got).toBeUndefined();
      bed.pass(SECOND);
      expect(summary(answer as ListResult)).toEqual(later);
    });
  }

  it("falls back to the store when the cache does not catch up with a consistent list", () => {
    const bed = lagging(kubernetesProfile);
    bed.context.frontEnd.setLag(Infinity);
    let answer: ListResult | undefined;
    bed.list("limit=2", "n", bed.target(), (late) => (answer = late as ListResult));
    bed.pass(3 * SECOND - 1);
    expect(answer).toBeUndefined();
    bed.pass(1);
    expect(namesOf(answer)).toEqual(["n/a", "n/b"]);
    expect(answer?.resourceVersion).toBe("6");
    expect(read(answer?.continue as string)).toEqual({ v: "meta.k8s.io/v1", rv: 6, start: "b\0" });
  });

  it("waits three seconds for a version that nobody has reached, then says when to come again", () => {
    for (const profile of both) {
      const bed = filled(1, { profile });
      let answer: unknown;
      expect(bed.list("resourceVersion=99", "n", bed.target(), (late) => (answer = late))).toBeUndefined();
      bed.pass(3 * SECOND);
      expect(failure(answer)).toEqual({
        code: 504,
        message: "Timeout: Too large resource version: 99, current: 2",
        retry: 1,
      });
    }
  });

  it("does not wait where there is no cache, and names no time", () => {
    const bed = new Testbed({ profile: kubernetesProfile });
    const answer = bed.list("resourceVersion=99", "n", bed.target("events"));
    expect(failure(answer)).toEqual({
      code: 504,
      message: "Timeout: Too large resource version: 99, current: 1",
      retry: undefined,
    });
  });

  it("answers an exact future version as the profile says", () => {
    const observed = filled(1, { profile: kubernetesProfile });
    for (const query of ["resourceVersion=99&resourceVersionMatch=Exact", "resourceVersion=99&limit=1"]) {
      const message = "etcdserver: mvcc: required revision is a future revision";
      expect(failure(observed.list(query, "n"))).toMatchObject({ code: 500, message });
    }
    const bed = filled(1);
    let answer: unknown;
    bed.list("resourceVersion=3&resourceVersionMatch=Exact", "n", bed.target(), (late) => (answer = late));
    bed.put("n/z");
    bed.put("n/zz");
    expect(namesOf(answer as ListResult)).toEqual(["n/c00", "n/z"]);
  });

  it("lets timeoutSeconds bound a list that waits, where the profile does", () => {
    const bed = filled(1);
    let answer: unknown;
    bed.list("resourceVersion=99&timeoutSeconds=1", "n", bed.target(), (late) => (answer = late));
    bed.pass(SECOND);
    expect(failure(answer)).toMatchObject({ code: 504 });
    expect((answer as ApiError).message).toContain("did not complete within requested timeout");
  });

  it("forgets a list whose client went away", () => {
    const bed = filled(1, { lagMicros: 10 });
    const heard: unknown[] = [];
    bed.list("", "n", bed.target(), (late) => heard.push(late));
    bed.context.process.crash();
    bed.kernel.run();
    expect(heard).toEqual([]);
  });
});

describe("pages", () => {
  it("go on where the last one ended, at the state of the first", () => {
    for (const profile of both) {
      const bed = filled(10, { profile });
      const first = bed.listed("limit=4", "n");
      bed.put("n/c055");
      bed.remove("n/c06");
      expect(namesOf(first)).toEqual(["n/c00", "n/c01", "n/c02", "n/c03"]);
      const v = profile === svcProfile ? "meta.svc.io/v1" : "meta.k8s.io/v1";
      expect(read(first.continue)).toEqual({ v, rv: 11, start: "/c03\0" });
      expect(first.remainingItemCount).toBe(6);
      const second = bed.listed(`limit=4&resourceVersion=0&continue=${first.continue}`, "n");
      expect(namesOf(second)).toEqual(["n/c04", "n/c05", "n/c06", "n/c07"]);
      expect(read(second.continue)).toEqual({ v, rv: 11, start: "c07\0" });
      expect(second).toMatchObject({ resourceVersion: "11", remainingItemCount: 2 });
      const last = bed.listed(`limit=4&continue=${second.continue}`, "n");
      expect(last).toMatchObject({ resourceVersion: "11", continue: "", remainingItemCount: undefined });
      expect(namesOf(bed.listed(`continue=${first.continue}`, "n"))).toHaveLength(6);
    }
  });

  it("ignore the limit with version 0 on cached types, in the profile that does", () => {
    expect(namesOf(filled(3, { profile: kubernetesProfile }).listed("resourceVersion=0&limit=1"))).toHaveLength(3);
    expect(namesOf(filled(3).listed("resourceVersion=0&limit=1"))).toHaveLength(1);
    const bed = new Testbed({ profile: kubernetesProfile });
    const events = bed.target("events");
    for (const name of ["a", "b"]) bed.put(`n/${name}`, {}, events);
    const page = bed.listed("resourceVersion=0&limit=1", "n", events);
    expect(read(page.continue)).toMatchObject({ start: "a\0" });
  });

  it("with a selector say that more may follow before they know, and count nothing", () => {
    const bed = filled(10);
    const page = bed.listed("limit=5&labelSelector=app%3Dx", "n");
    expect(namesOf(page)).toHaveLength(5);
    expect(page.continue).not.toBe("");
    expect(page.remainingItemCount).toBeUndefined();
    const rest = bed.listed(`limit=5&labelSelector=app%3Dx&continue=${page.continue}`, "n");
    expect(rest).toMatchObject({ items: [], continue: "" });
    const scattered = bed.pages("limit=2&fieldSelector=metadata.name%21%3Dc00", "n");
    expect(scattered.map((it) => namesOf(it).length)).toEqual([2, 2, 2, 2, 1]);
  });

  it("are not cut when a name selects the one object", () => {
    const page = filled(10).listed("limit=1&fieldSelector=metadata.name%3Dc03", "n");
    expect(namesOf(page)).toEqual(["n/c03"]);
    expect(page.continue).toBe("");
  });

  it("expire with the history, and leave a token to go on at the latest state", () => {
    const bed = filled(5, { profile: kubernetesProfile });
    const first = bed.listed("limit=2", "n");
    bed.put("n/c015");
    bed.remove("n/c02");
    bed.put("n/c99");
    bed.store.compact(bed.store.revision);
    const answer = bed.list(`limit=2&continue=${first.continue}`, "n");
    expect(failure(answer)).toMatchObject({ code: 410, retry: undefined });
    const { reason, metadata } = (answer as ApiError).status as { reason: string; metadata: { continue: string } };
    expect(reason).toBe("Expired");
    expect(read(metadata.continue)).toMatchObject({ rv: -1, start: "c01\0" });
    const second = bed.listed(`limit=2&continue=${metadata.continue}`, "n");
    expect(namesOf(second)).toEqual(["n/c015", "n/c03"]);
    expect(read(second.continue)).toMatchObject({ rv: 9, start: "c03\0" });
    expect(second.resourceVersion).toBe("9");
    for (const query of ["resourceVersion=5&limit=2", "resourceVersion=5&resourceVersionMatch=Exact"]) {
      const message = "The resourceVersion for the provided list is too old.";
      expect(failure(bed.list(query, "n"))).toMatchObject({ code: 410, message });
    }
    expect(bed.listed("resourceVersion=5&resourceVersionMatch=NotOlderThan&limit=2", "n").resourceVersion).toBe("9");
  });

  it("read a token of another resource as a position in their own", () => {
    const bed = filled(10, { profile: kubernetesProfile });
    const first = bed.listed("limit=4", "n");
    bed.put("n/x", {}, bed.target("secrets"));
    expect(bed.listed(`continue=${first.continue}`, "n", bed.target("secrets"))).toMatchObject({
      items: [],
      resourceVersion: "11",
    });
  });

  it.each([
    ["eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4vLi4vZXZpbCJ9", ": ../../evil"],
    [
      token('{"v":"meta.k8s.io/v1","rv":0,"start":"a"}'),
      ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    ],
    [token('{"v":"meta.k8s.io/v1","rv":1,"start":""}'), ": encoded start key empty (version meta.k8s.io/v1)"],
    [token('{"v":"v2","rv":1,"start":"a"}'), ": server does not recognize this encoded version v2"],
    [token('{"v":"meta.k8s.io/v1","rv":1,"start":"a//b"}'), ": a//b"],
    ["%21", ": illegal base64 data at input byte 0"],
    ["abcde", ": illegal base64 data at input byte 4"],
    ["garbage", ""],
    [token("[]"), ""],
    [token('{"v":"meta.k8s.io/v1","rv":"1","start":"a"}'), ""],
  ])("refuse the token %s", (text, why) => {
    const { code, message } = failure(filled(1, { profile: kubernetesProfile }).list(`continue=${text}`, "n"));
    expect(code).toBe(400);
    expect(message).toContain(`invalid continue token: continue key is not valid${why}`);
  });

  it("refuse a version beside a token", () => {
    const bed = filled(10);
    const { continue: next } = bed.listed("limit=4", "n");
    const message = "specifying resource version is not allowed when using continue";
    expect(failure(bed.list(`limit=4&resourceVersion=11&continue=${next}`, "n"))).toMatchObject({ code: 400, message });
  });
});

describe("pages, whatever is written meanwhile", () => {
  const anyWrite = fc.record({
    path: fc.constantFrom("a/x", "a/y", "a/z", "a-b/x", "ab/x", "b/q", "b/qq"),
    gone: fc.boolean(),
  });

  it("add up to one state", () => {
    fc.assert(
      fc.property(
        fc.array(anyWrite, { maxLength: 30 }),
        fc.array(fc.array(anyWrite, { maxLength: 4 }), { maxLength: 8 }),
        fc.constantFrom("", "a", "ab", "b"),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(...both),
        (before, between, namespace, limit, profile) => {
          const bed = new Testbed({ profile });
          const write = ({ path, gone }: { path: string; gone: boolean }): void =>
            void (gone ? bed.remove(path) : bed.put(path));
          before.forEach(write);
          const whole = bed.listed("", namespace);
          const items: unknown[] = [];
          let page = bed.listed(`limit=${limit}`, namespace);
          for (let round = 0; ; round++) {
            items.push(...(page.items ?? []));
            expect(page.resourceVersion).toBe(whole.resourceVersion);
            expect(page.remainingItemCount ?? 0).toBe(namesOf(whole).length - items.length);
            if (page.continue === "") break;
            between[round]?.forEach(write);
            page = bed.listed(`limit=${limit}&continue=${page.continue}`, namespace);
          }
          expect(items).toEqual(whole.items);
        },
      ),
      { seed: 2, numRuns: 300 },
    );
  });
});

describe("order and scope", () => {
  it("is that of keys, and a namespace is not a prefix", () => {
    const bed = new Testbed();
    for (const path of ["ab/x", "a/x", "a-b/x", "a/X"]) bed.put(path);
    expect(namesOf(bed.list())).toEqual(["a-b/x", "a/X", "a/x", "ab/x"]);
    expect(namesOf(bed.list("", "a"))).toEqual(["a/X", "a/x"]);
    expect(bed.listed("", "nobody")).toMatchObject({ items: [], resourceVersion: "5" });
  });

  it("gives the same array to equal lists while nothing changes", () => {
    const bed = filled(3);
    const first = bed.listed("", "n").items;
    bed.put("n/other", {}, bed.target("secrets"));
    expect(bed.listed("resourceVersion=0", "n").items).toBe(first);
    bed.put("n/c00");
    expect(bed.listed("", "n").items).not.toBe(first);
  });
});

describe("bugs in lists", () => {
  it("list-page-buffer-drops-items", () => {
    const query = "limit=2&labelSelector=app%3Dy";
    expect(bedNames(filled(10).pages(query, "n"))).toHaveLength(5);
    expect(bedNames(faulty(10, "list-page-buffer-drops-items").pages(query, "n")).length).toBeLessThan(5);
  });

  it("list-limit-rv-stuck-header", () => {
    const query = "limit=2&resourceVersion=3&resourceVersionMatch=NotOlderThan";
    expect(filled(10).listed(query, "n").resourceVersion).toBe("11");
    expect(faulty(10, "list-limit-rv-stuck-header").listed(query, "n").resourceVersion).toBe("3");
  });

  it("list-empty-wrong-rv and list-null-items", () => {
    expect(faulty(1, "list-empty-wrong-rv").listed("", "m")).toMatchObject({ items: [], resourceVersion: "0" });
    expect(faulty(1, "list-null-items").listed("", "m").items).toBeNull();
    expect(faulty(1, "list-null-items").listed("", "n").items).toHaveLength(1);
  });

  it("list-version-of-newest-item", () => {
    expect(faulty(3, "list-version-of-newest-item").listed("limit=1", "n").resourceVersion).toBe("2");
    expect(filled(3).listed("limit=1", "n").resourceVersion).not.toBe("2");
  });

  it("list-cache-unsorted and list-order-by-revision", () => {
    for (const bug of ["list-cache-unsorted", "list-order-by-revision"] as const) {
      const bed = new Testbed({ bugs: [bug] });
      for (const path of ["n/c", "n/a", "n/b"]) bed.put(path);
      expect(bedNames(bed.pages("limit=2", "n"))).not.toEqual(["n/a", "n/b", "n/c"]);
      const whole = namesOf(bed.list("", "n"));
      expect(whole).toEqual(bug === "list-cache-unsorted" ? ["n/c", "n/a", "n/b"] : ["n/a", "n/b", "n/c"]);
    }
  });

  it("continue-boundary-off-by-one", () => {
    const bed = new Testbed({ bugs: ["continue-boundary-off-by-one"] });
    for (const path of ["n/a", "n/a-1", "n/b"]) bed.put(path);
    expect(bedNames(bed.pages("limit=1", "n"))).toEqual(["n/a", "n/b"]);
  });

  it("continue-token-when-complete", () => {
    expect(faulty(2, "continue-token-when-complete").listed("limit=5", "n").continue).not.toBe("");
  });

  it("continue-token-cross-scope", () => {
    const bed = new Testbed({ bugs: ["continue-token-cross-scope"] });
    for (const path of ["a/x", "b/y"]) bed.put(path);
    const edited = token('{"v":"meta.svc.io/v1","rv":-1,"start":"../b/"}');
    expect(namesOf(bed.list(`continue=${edited}`, "a"))).toEqual(["b/y"]);
    expect(failure(filled(1).list(`continue=${edited}`, "a")).code).toBe(400);
  });

  it("remaining-count-is-limit-plus-one and remaining-count-at-head-not-at-rv", () => {
    expect(faulty(10, "remaining-count-is-limit-plus-one").listed("limit=2", "n").remainingItemCount).toBe(1);
    const bed = faulty(10, "remaining-count-at-head-not-at-rv");
    const first = bed.listed("limit=2", "n");
    bed.remove("n/c09");
    expect(bed.listed(`limit=2&continue=${first.continue}`, "n").remainingItemCount).toBe(5);
  });

  it("list-prefix-bleed", () => {
    const bed = new Testbed({ bugs: ["list-prefix-bleed"] });
    for (const path of ["a/x", "ab/x"]) bed.put(path);
    expect(namesOf(bed.list("", "a"))).toEqual(["a/x", "ab/x"]);
  });

  it("list-future-rv-wrong-error", () => {
    for (const profile of both) {
      for (const query of ["resourceVersion=99", "resourceVersion=99&resourceVersionMatch=Exact"]) {
        expect(faulty(2, "list-future-rv-wrong-error", profile).listed(query, "n").resourceVersion).toBe("3");
      }
    }
  });
});

const bedNames = (pages: readonly ListResult[]): readonly string[] => pages.flatMap((page) => namesOf(page));
