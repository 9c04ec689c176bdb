import { describe, expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { mirrorsEqual, oneInstance } from "./agent-checkers.ts";
import { History } from "./history.fixture.ts";
import type { Fact } from "./judge.ts";

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
