import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { labelledBed, namesOf, pathOf, plainEncoder, Testbed, versionOf, type WatchLog } from "./reads.fixture.ts";
import type { ListResult } from "./types.ts";

const SECOND = 1_000_000;
const both = [svcProfile, kubernetesProfile];

describe("where a watch starts", () => {
  it("after the version, with nothing made up", () => {
    const bed = labelledBed();
    const watch = bed.watch("resourceVersion=2", "n");
    bed.put("n/a");
    bed.remove("n/b");
    expect(watch.lines).toEqual(["ADDED n/b 3", "MODIFIED n/a 4", "DELETED n/b 5"]);
    expect(bed.watch("resourceVersion=5", "n")).toMatchObject({ state: "open", lines: [] });
  });

  it("with the present state in the order of keys, when no version or 0 is given", () => {
    for (const query of ["", "resourceVersion=0"]) {
      const bed = labelledBed();
      bed.put("m/z");
      bed.put("n/a");
      const watch = bed.watch(query);
      bed.put("n/c");
      expect(watch.lines).toEqual(["ADDED m/z 4", "ADDED n/a 5", "ADDED n/b 3", "ADDED n/c 6"]);
    }
  });

  it("without a version: at the store's state or at the cache's, by profile", () => {
    for (const [profile, expected] of [
      [svcProfile, ["ADDED n/a 2", "ADDED n/b 3", "ADDED n/c 4", "MODIFIED n/c 5"]],
      [kubernetesProfile, ["ADDED n/a 2", "ADDED n/b 3"]],
    ] as const) {
      const bed = labelledBed({ profile });
      bed.context.frontEnd.setLag(SECOND);
      bed.put("n/c");
      const watch = bed.watch("", "n");
      bed.put("n/c");
      expect(watch.lines).toEqual(expected.slice(0, profile === svcProfile ? 3 : 2));
      bed.pass(SECOND);
      const all = profile === svcProfile ? expected : [...expected, "ADDED n/c 4", "MODIFIED n/c 5"];
      expect(watch.lines).toEqual(all);
    }
  });

  it("at 0: at whatever the cache has", () => {
    const bed = labelledBed();
    bed.context.frontEnd.setLag(SECOND);
    bed.remove("n/a");
    expect(bed.watch("resourceVersion=0", "n").lines).toEqual(["ADDED n/a 2", "ADDED n/b 3"]);
  });

  it("at a version that has yet to come: silence until it is past", () => {
    const bed = labelledBed();
    const watch = bed.watch("resourceVersion=5", "n");
    for (let count = 0; count < 3; count++) bed.put("n/a");
    expect(watch.lines).toEqual(["MODIFIED n/a 6"]);
  });

  it("is refused where history is gone, in the profile's way", () => {
    const bed = labelledBed({ historyWindowMicros: 10 });
    bed.pass(11);
    bed.put("n/a");
    const gone = bed.watch("resourceVersion=2", "n");
    expect(gone.state).toBe("failed");
    expect(gone.error).toMatchObject({ code: 410, message: "too old resource version: 2 (3)" });
    expect(bed.watch("resourceVersion=3", "n").lines).toEqual(["MODIFIED n/a 4"]);

    const observed = new Testbed({ profile: kubernetesProfile, beside: bed });
    const watch = observed.watch("resourceVersion=1", "n");
    expect(watch.state).toBe("closed");
    expect(watch.lines).toEqual(["ERROR 410"]);
    expect(watch.events[0]?.object).toMatchObject({ reason: "Expired", message: "too old resource version: 1 (4)" });
  });

  it("goes with the store's compaction where the window is the store's, and outlives it in a ring", () => {
    for (const [profile, state] of [
      [svcProfile, "failed"],
      [kubernetesProfile, "open"],
    ] as const) {
      const bed = labelledBed({ profile });
      bed.put("n/a");
      bed.store.compact(4);
      expect(bed.watch("resourceVersion=3", "n").state).toBe(state);
      expect(bed.watch("resourceVersion=4", "n").state).toBe("open");
    }
  });

  it("without a cache follows the store alone", () => {
    const bed = new Testbed({ profile: kubernetesProfile, lagMicros: SECOND });
    const events = bed.target("events");
    bed.put("n/a", {}, events);
    const unset = bed.watch("allowWatchBookmarks=true&timeoutSeconds=100", "n", events);
    bed.put("n/b", {}, events);
    expect(unset.lines).toEqual(["ADDED n/a 2", "ADDED n/b 3"]);
    bed.store.compact(3);
    const old = bed.watch("resourceVersion=2", "n", events);
    expect(old.events[0]?.object).toMatchObject({
      code: 410,
      message: "The resourceVersion for the provided watch is too old.",
    });
    bed.pass(200 * SECOND);
    expect(unset.lines).toHaveLength(2);
    expect(unset.state).toBe("closed");
  });

  it("refuses a version that is none", () => {
    const message = 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax';
    expect(labelledBed({ profile: kubernetesProfile }).watch("resourceVersion=abc").error).toMatchObject({
      code: 500,
      message,
    });
    expect(labelledBed().watch("resourceVersion=abc").error).toMatchObject({ code: 400 });
  });
});

describe("what a selector shows", () => {
  it("is what enters, changes within and leaves it", () => {
    const bed = new Testbed();
    const watch = bed.watch("labelSelector=app%3Dx&resourceVersion=1", "n");
    for (const app of ["y", "x", "x", "y", "x"]) bed.label("n/t", { app });
    bed.remove("n/t");
    expect(watch.lines).toEqual(["ADDED n/t 3", "MODIFIED n/t 4", "DELETED n/t 5", "ADDED n/t 6", "DELETED n/t 7"]);
    const left = watch.events[2]?.object as JsonObject;
    expect(left["metadata"]).toMatchObject({ labels: { app: "x" }, resourceVersion: "5" });
    expect(Object.isFrozen(left) && Object.isFrozen(left["metadata"])).toBe(true);
  });

  it("by name, by node and by namespace, whichever index serves it", () => {
    const bed = new Testbed();
    const pods = bed.target("pods");
    const named = bed.watch("fieldSelector=metadata.name%3Dp&resourceVersion=1", "n", pods);
    const anywhere = bed.watch("fieldSelector=metadata.name%3Dp&resourceVersion=1", "", pods);
    const onNode = bed.watch("fieldSelector=spec.nodeName%3Dn1&resourceVersion=1", "", pods);
    const inNamespace = bed.watch("fieldSelector=metadata.namespace%3Dm&resourceVersion=1", "", pods);
    bed.put("n/p", { spec: {} }, pods);
    bed.put("n/p", { spec: { nodeName: "n1" } }, pods);
    bed.put("n/pp", { spec: { nodeName: "n1" } }, pods);
    bed.put("m/p", { spec: { nodeName: "n2" } }, pods);
    bed.put("n/p", { spec: { nodeName: "n2" } }, pods);
    expect(named.lines).toEqual(["ADDED n/p 2", "MODIFIED n/p 3", "MODIFIED n/p 6"]);
    expect(anywhere.lines).toEqual(["ADDED n/p 2", "MODIFIED n/p 3", "ADDED m/p 5", "MODIFIED n/p 6"]);
    expect(onNode.lines).toEqual(["ADDED n/p 3", "ADDED n/pp 4", "DELETED n/p 6"]);
    expect(inNamespace.lines).toEqual(["ADDED m/p 5"]);
  });

  it("is refused for a field that the type does not have", () => {
    const bed = new Testbed();
    const plain = '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"';
    expect(bed.watch("fieldSelector=data.k%3Dv").error).toMatchObject({ code: 400, message: plain });
    const pods = bed.target("pods");
    expect(bed.watch("fieldSelector=data.k%3Dv", "", pods).error?.message).toBe("field label not supported: data.k");
  });
});

describe("how a watch ends", () => {
  it("at its timeout, or somewhere between half an hour and an hour", () => {
    const bed = labelledBed();
    const short = bed.watch("timeoutSeconds=2");
    const long = bed.watch();
    bed.pass(2 * SECOND);
    expect(short.state).toBe("closed");
    bed.pass(1797 * SECOND);
    expect(long.state).toBe("open");
    bed.pass(1801 * SECOND);
    expect(long.state).toBe("closed");
  });

  it("when its reader does not read", () => {
    const bed = labelledBed();
    let unread = 0;
    const encoder = { event: () => ({ object: undefined, contentType: "", bytes: () => new Uint8Array(600) }) };
    const calls: string[] = [];
    const sink = {
      open: () => void calls.push("open"),
      event: () => (unread += 600),
      close: () => void calls.push("close"),
      failed: () => void calls.push("failed"),
    };
    bed.watchWith("resourceVersion=3", { encoder, sink, backlogBytesMax: 1000 });
    bed.put("n/a");
    expect(calls).toEqual(["open"]);
    bed.put("n/a");
    bed.put("n/a");
    expect(calls).toEqual(["open", "close"]);
    expect(unread).toBe(1200);
  });

  it("when its reader has taken nothing for a minute, or has read so slowly that its next event is forgotten", () => {
    for (const profile of both) {
      const bed = labelledBed({ profile, historyWindowMicros: 100 * SECOND });
      const gone = pacedWatch(bed);
      const late = pacedWatch(bed);
      for (let at = 0; at < 3; at++) bed.put("n/a");
      expect([gone.told, late.told]).toEqual([
        ["open", "MODIFIED"],
        ["open", "MODIFIED"],
      ]);
      bed.pass(50 * SECOND);
      late.take();
      bed.pass(10 * SECOND);
      expect([gone.told.at(-1), late.told.at(-1)]).toEqual(["close", "MODIFIED"]);
    }
  });

  it("when its client goes away, or its server dies", () => {
    const bed = labelledBed();
    const left = bed.watch("resourceVersion=3");
    const died = bed.watch("resourceVersion=3&timeoutSeconds=1");
    left.cancel();
    bed.put("n/a");
    bed.context.process.crash();
    bed.put("n/a");
    bed.kernel.run();
    expect(left).toMatchObject({ state: "open", lines: [] });
    expect(died).toMatchObject({ state: "open", lines: ["MODIFIED n/a 4"] });
  });
});

/** A watch whose every event fills what may be unread, until `take`. */
function pacedWatch(bed: Testbed) {
  const told: string[] = [];
  let resume: (() => void) | undefined;
  const encoder = {
    event: (type: string) => {
      told.push(type);
      return { object: undefined, contentType: "", bytes: () => new Uint8Array() };
    },
  };
  const sink = {
    open: () => void told.push("open"),
    event: () => 1 << 20,
    whenTaken: (given: () => void) => {
      resume = given;
    },
    close: () => void told.push("close"),
    failed: () => void told.push("failed"),
  };
  bed.watchWith("resourceVersion=3&allowWatchBookmarks=true", { encoder, sink });
  const take = (): void => {
    const given = resume;
    resume = undefined;
    given?.();
  };
  return { told, take };
}

/** Watches of some forms, each of which writes so many bytes of an event; what they were told, and how often a form was made. */
function watchesOfForms(bed: Testbed, formCount: number, bytes: number, isPaced: boolean, query = "resourceVersion=3") {
  const told: string[] = [];
  const made: string[] = [];
  const ends: (() => void)[] = [];
  for (let form = 0; form < formCount; form++) {
    const encoder = {
      event: (type: string, object: JsonObject) => {
        const text = `${type} ${(object["metadata"] as JsonObject)["resourceVersion"] as string} as ${form}`;
        made.push(text);
        return { object: undefined, contentType: text, sizeBytes: bytes, bytes: () => new Uint8Array() };
      },
    };
    for (const reader of ["a", "b"]) {
      const sink = {
        open: () => {},
        event: ({ contentType }: Payload) => {
          told.push(`${contentType} to ${reader}`);
          return 0;
        },
        ...(isPaced ? { whenTaken: (resume: () => void) => resume() } : {}),
        close: () => void told.push("close"),
        failed: () => void told.push("failed"),
      };
      ends.push(bed.watchWith(query, { encoder, sink }));
    }
  }
  return { told, made, ends };
}

describe("an event that is watched in many forms, or by many", () => {
  const large = 300_000;
  const turns = (bed: Testbed, count: number): void => {
    for (let turn = 0; turn < count; turn++) bed.pass(1);
  };

  it("is written in one form a turn where it is large, once for all who want it, and told in the order of events", () => {
    const bed = labelledBed();
    const { told, made } = watchesOfForms(bed, 3, large, true);
    bed.put("n/a");
    bed.put("n/a");
    expect(made).toEqual(["MODIFIED 4 as 0"]);
    bed.pass(1);
    expect(made.length).toBe(2);
    turns(bed, 10);
    const forms = [4, 5].flatMap((revision) => [0, 1, 2].map((form) => `MODIFIED ${revision} as ${form}`));
    expect(made.toSorted()).toEqual(forms);
    expect(told.toSorted()).toEqual(forms.flatMap((text) => [`${text} to a`, `${text} to b`]).toSorted());
    for (const reader of ["a", "b"])
      for (const form of [0, 1, 2]) {
        const own = told.filter((text) => text.endsWith(`as ${form} to ${reader}`));
        expect(own).toEqual(own.toSorted());
      }
    bed.pass(1);
    bed.put("n/a");
    turns(bed, 5);
    expect(told.length).toBe(18);
  });

  it("is told at once where it is small, and to readers that are none of a socket", () => {
    for (const [bytes, isPaced] of [
      [1_000, true],
      [large, false],
    ] as const) {
      const bed = labelledBed();
      const { told } = watchesOfForms(bed, 5, bytes, isPaced);
      bed.put("n/a");
      expect(told.length).toBe(10);
    }
  });

  it("is told to some hundred of many in a turn, and to fewer where they have long selectors", () => {
    const selector = Array.from({ length: 1_000 }, (_, at) => `v${at}`).join();
    for (const [query, most] of [
      ["resourceVersion=3", 513],
      [`resourceVersion=3&labelSelector=a notin (${selector})`, 75],
    ] as const) {
      const bed = labelledBed();
      const { told } = watchesOfForms(bed, 600, 10, true, query);
      bed.put("n/a");
      let turnCount = 0;
      for (let before = 0; told.length > before; turnCount++) {
        expect(told.length - before).toBeLessThanOrEqual(most);
        before = told.length;
        bed.pass(1);
      }
      expect(told.length).toBe(1_200);
      expect(turnCount).toBeLessThan(1_200 / most + 2);
    }
  });

  it("is not told to who has gone meanwhile", () => {
    const bed = labelledBed();
    const { told, ends } = watchesOfForms(bed, 3, large, true);
    bed.put("n/a");
    ends[2]?.();
    turns(bed, 5);
    expect(told.toSorted()).toEqual(
      ["0 to a", "0 to b", "1 to b", "2 to a", "2 to b"].map((who) => `MODIFIED 4 as ${who}`),
    );
  });
});

describe("a reader's pace", () => {
  it("decides when it is told what, and costs no event", () => {
    const bed = labelledBed();
    const watch = pacedWatch(bed);
    for (let at = 0; at < 4; at++) bed.put("n/a");
    bed.remove("n/a");
    expect(watch.told).toEqual(["open", "MODIFIED"]);
    watch.take();
    expect(watch.told).toEqual(["open", "MODIFIED"]); // many readers may take what they were sent at one moment: each goes on in its turn
    bed.pass(1);
    expect(watch.told).toEqual(["open", "MODIFIED", "MODIFIED"]);
    for (let at = 0; at < 3; at++) {
      watch.take();
      bed.pass(1);
    }
    expect(watch.told).toEqual(["open", "MODIFIED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"]);
    watch.take();
    bed.pass(1);
    bed.put("n/c");
    expect(watch.told.at(-1)).toBe("ADDED");
  });

  it("is no reason for a bookmark that says more than was told", () => {
    const bed = labelledBed();
    const watch = pacedWatch(bed);
    for (let at = 0; at < 3; at++) bed.put("n/a");
    bed.pass(59 * SECOND);
    watch.take();
    bed.pass(59 * SECOND);
    expect(watch.told).toEqual(["open", "MODIFIED", "MODIFIED"]);
  });
});

describe("many watches", () => {
  it("share one encoding of an event, and one object of a deletion", () => {
    const bed = labelledBed();
    let made = 0;
    const encoder = {
      event: (...event: Parameters<typeof plainEncoder.event>) => (made++, plainEncoder.event(...event)),
    };
    const watches = Array.from({ length: 50 }, () => bed.watch("resourceVersion=3", "n", bed.target(), encoder));
    bed.put("n/a");
    bed.remove("n/a");
    expect(made).toBe(2);
    expect(new Set(watches.map(({ events }) => events[1]?.object)).size).toBe(1);
  });

  it("see the same order, though one of their readers writes and opens another", () => {
    const bed = labelledBed();
    const inner: WatchLog[] = [];
    const eager = bed.watch("resourceVersion=3", "n", bed.target(), {
      event: (type, object) => {
        if (versionOf(object) < 6) {
          bed.put(`n/w${versionOf(object)}`);
          inner.push(bed.watch("resourceVersion=3", "n"));
        }
        return plainEncoder.event(type, object);
      },
    });
    const other = bed.watch("resourceVersion=3", "n");
    bed.put("n/a");
    expect(other.lines).toEqual(["MODIFIED n/a 4", "ADDED n/w4 5", "ADDED n/w5 6"]);
    for (const { lines } of [eager, ...inner]) expect(lines).toEqual(other.lines);
  });
});

describe("a list and the watch after it", () => {
  const anyStep = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        path: fc.constantFrom("a/x", "a/y", "b/x", "ab/x"),
        app: fc.constantFrom("x", "y", "gone"),
      }),
    },
    { weight: 2, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 30 }) }) },
    { weight: 1, arbitrary: fc.record({ lag: fc.constantFrom(0, 5, 20) }) },
    { weight: 1, arbitrary: fc.record({ compact: fc.nat(5) }) },
  );
  const queries = ["", "labelSelector=app%3Dx", "fieldSelector=metadata.name%3Dx"];

  it("give any later list, under random writes, lags and compactions, at either of two front-ends", () => {
    fc.assert(
      fc.property(
        fc.array(anyStep, { maxLength: 30 }),
        fc.array(anyStep, { minLength: 1, maxLength: 30 }),
        fc.constantFrom(...queries),
        fc.constantFrom("", "a"),
        fc.constantFrom(...both),
        (before, after, query, namespace, profile) => {
          const bed = new Testbed({ profile });
          const lagging = new Testbed({ profile, beside: bed, lagMicros: 10 });
          before.forEach((step) => take(bed, lagging, step));
          const list = lagging.listed(`resourceVersion=0&${query}`, namespace);
          const watches = [
            lagging.watch(`resourceVersion=${list.resourceVersion}&${query}&allowWatchBookmarks=true`, namespace),
            lagging.watch(query, namespace),
            lagging.watch(`resourceVersion=0&${query}`, namespace),
            bed.watch(`resourceVersion=${list.resourceVersion}&${query}`, namespace),
          ];
          after.forEach((step) => take(bed, lagging, step));
          lagging.context.frontEnd.setLag(0);
          bed.context.frontEnd.setLag(0);
          lagging.pass(61 * SECOND);
          const whole = lagging.listed(query, namespace);
          expect(lagging.listed(`${query}&resourceVersion=0`, namespace).items).toEqual(whole.items);
          watches.forEach((watch, index) => {
            if (watch.state === "failed" || watch.lines[0] === "ERROR 410") return; // its history was compacted
            expect(fold(index === 1 || index === 2 ? undefined : list, watch)).toEqual(whole.items);
          });
        },
      ),
      { seed: 3, numRuns: 400 },
    );
  });

  type Step = { path?: string; app?: string; pass?: number; lag?: number; compact?: number };
  function take(bed: Testbed, lagging: Testbed, step: Step): void {
    if (step.path !== undefined) {
      if (step.app === "gone") bed.remove(step.path);
      else bed.label(step.path, { app: step.app as string });
    } else if (step.pass !== undefined) bed.pass(step.pass);
    else if (step.lag !== undefined)
      lagging.context.frontEnd.setLag(step.lag, bed.store.revision % 2 === 0 ? undefined : bed.target().prefix);
    else bed.store.compact(Math.max(bed.store.compactedRevision, bed.store.revision - (step.compact as number)));
  }

  /** The list's items after the watch's events, which must rise in version and never say what cannot be. */
  function fold(list: ListResult | undefined, watch: WatchLog): readonly JsonObject[] {
    const state = new Map((list?.items ?? []).map((item) => [pathOf(item), item]));
    let last = Number(list?.resourceVersion ?? 0);
    for (const { type, object } of watch.events) {
      const version = versionOf(object);
      if (type === "BOOKMARK") {
        expect(version).toBeGreaterThanOrEqual(last);
        continue;
      }
      if (list !== undefined) {
        expect(version).toBeGreaterThan(last); // without a list the first events are in the order of keys
        last = version;
      }
      expect(state.has(pathOf(object))).toBe(type !== "ADDED");
      if (type === "DELETED") state.delete(pathOf(object));
      else state.set(pathOf(object), object);
    }
    const sorted = new Testbed({});
    for (const path of state.keys()) sorted.put(path);
    return namesOf(sorted.listed()).map((path) => state.get(path) as JsonObject);
  }
});
