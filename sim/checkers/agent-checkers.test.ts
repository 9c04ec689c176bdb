import { describe, expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { evictionsDue, mirrorsEqual, oneInstance, pressureTold } from "./agent-checkers.ts";
import { History } from "./history.fixture.ts";
import type { Fact } from "./judge.ts";

const looked = (
  atMicros: number,
  available: number,
  ...conditions: readonly string[]
): Fact & { kind: "usage-seen" } => ({
  kind: "usage-seen",
  client: "node-1",
  atMicros,
  signals: [{ signal: "memory.available", condition: "MemoryPressure", available, threshold: 100, reclaim: 20 }],
  conditions,
  transitionMicros: 30,
});

describe("containers.one-instance", () => {
  const started = (client: string, uid: string, others: readonly string[] = []): Fact => ({
    kind: "container-started",
    client,
    pod: "n/web",
    uid,
    container: "main",
    others,
  });

  it("accepts a container that starts again, and a pod of the same name elsewhere", () => {
    const history = new History(oneInstance).tell(started("node-1", "a")).tell(started("node-1", "a"));
    expect(history.tell(started("node-2", "b")).broken).toBeUndefined();
  });

  it("rejects a second instance beside the first, and the same pod on two nodes", () => {
    expect(new History(oneInstance).tell(started("node-1", "a", ["c1"])).broken).toBe("containers.one-instance");
    const moved = new History(oneInstance).tell(started("node-1", "a")).tell(started("node-2", "a"));
    expect(moved.broken).toBe("containers.one-instance");
  });
});

describe("mirrors.equal", () => {
  const mark = "svc.io/config.mirror";
  const pods = "/registry/pods/n/";
  const spec = {
    containers: [
      { name: "main", image: "a:1" },
      { name: "side", image: "b:1" },
    ],
  };
  const manifest = { metadata: { name: "web", namespace: "n", labels: { tier: "x" } }, spec } as JsonObject;
  const history = (): History => new History((bench) => mirrorsEqual(bench, mark, [{ node: "node-1", manifest }]));
  const shown = (name: string, changed: object = {}, labels: object = { tier: "x", more: "y" }): History => {
    const one = history();
    const whole = { nodeName: "node-1", containers: spec.containers.map((each) => ({ ...each, ttl: 1 })), ...changed };
    one.commit(name, { annotations: { [mark]: "h" }, labels }, { spec: whole } as JsonObject, pods);
    return one;
  };

  it("accepts what the manifest says with the server's own fields, and pods that are no mirrors", () => {
    expect(shown("web-node-1").broken).toBeUndefined();
    const plain = history();
    plain.commit("web", {}, { spec: {} }, pods);
    expect(plain.broken).toBeUndefined();
  });

  it.each([
    ["an image of its own", { containers: [{ name: "main", image: "a:2" }, spec.containers[1]] }],
    ["a container too few", { containers: [spec.containers[0]] }],
    ["another node", { nodeName: "node-2" }],
  ])("rejects %s", (_what, changed) => {
    expect(shown("web-node-1", changed).broken).toBe("mirrors.equal");
  });

  it("rejects a mirror without its labels, and one of which there is no manifest", () => {
    expect(shown("web-node-1", {}, {}).broken).toBe("mirrors.equal");
    expect(shown("other-node-1").broken).toBe("mirrors.equal");
  });
});

describe("evictions.due", () => {
  const seen = (available: number, client = "node-1"): Fact => ({
    ...looked(0, available),
    client,
  });
  const evicted = (signal: string | undefined, ...exempt: readonly boolean[]): Fact => ({
    kind: "evicted",
    client: "node-1",
    signal,
    pods: exempt.map((isExempt, index) => ({ pod: `n/p${index}`, isExempt })),
  });
  const after = (...facts: readonly Fact[]) => {
    const history = new History(evictionsDue);
    for (const fact of facts) history.tell(fact);
    return history.broken;
  };

  it("accepts one below the threshold, one on the way back, and one for a limit of its own", () => {
    const memory = evicted("memory.available", false);
    expect(after(seen(99), memory, seen(119), memory)).toBeUndefined();
    expect(after(seen(500), evicted(undefined, false, false))).toBeUndefined();
  });

  it.each([
    ["above the threshold, never driven to it", [seen(100), evicted("memory.available", false)]],
    ["after so much more is there again", [seen(99), seen(120), seen(110), evicted("memory.available", false)]],
    ["for what another node saw", [seen(99, "node-2"), evicted("memory.available", false)]],
    ["of two pods at once", [seen(99), evicted("memory.available", false, false)]],
    ["of an exempt pod", [seen(99), evicted("memory.available", true)]],
  ])("rejects one %s", (_what, facts) => {
    expect(after(...facts)).toBe("evictions.due");
  });

  it("takes nothing over a crash: the next agent begins with its own look", () => {
    const history = new History(evictionsDue).tell(seen(99)).happen({ kind: "crash", place: "node-1" });
    expect(history.tell(evicted("memory.available", false)).broken).toBe("evictions.due");
  });
});

describe("pressure.told", () => {
  const memory = "MemoryPressure";
  const after = (...facts: readonly Fact[]) => {
    const history = new History(pressureTold);
    for (const fact of facts) history.tell(fact);
    return history.broken;
  };

  it("accepts it from the crossing until the period after the last look below", () => {
    const story = [
      looked(0, 100),
      looked(10, 99, memory),
      looked(20, 50, memory),
      looked(49, 500, memory),
      looked(50, 500),
    ];
    expect(after(...story)).toBeUndefined();
    // While more is still to be reclaimed, either may be told.
    expect(after(looked(0, 99, memory), looked(40, 110, memory), looked(60, 110))).toBeUndefined();
  });

  it.each([
    ["untold at the crossing", [looked(0, 99)]],
    ["told without a crossing", [looked(0, 500, memory)]],
    ["gone before the period is over", [looked(0, 99, memory), looked(29, 500)]],
    ["counted from the first look below", [looked(0, 99, memory), looked(20, 99, memory), looked(40, 500)]],
    ["there after the period", [looked(0, 99, memory), looked(30, 500, memory)]],
  ])("rejects one that is %s", (_what, facts) => {
    expect(after(...facts)).toBe("pressure.told");
  });
});
