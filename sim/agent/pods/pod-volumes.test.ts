import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { callRuntime, noDeadlineMicros } from "../../cri/cri-port.ts";
import type { AgentBugName } from "../../planted/agent-bugs.ts";
import { readFile } from "../../runtime/file-tree.ts";
import { SimulatedRuntime } from "../../runtime/runtime.ts";
import { defaultAgentOptions } from "../agent-options.ts";
import { AgentWorld, pods } from "../agent-world.fixture.ts";

const { rootDir, syncFrequencyMicros } = defaultAgentOptions("n1").pods;
/** After this long a pod has been looked at, whatever was drawn. */
const wholeSyncSeconds = (syncFrequencyMicros * 1.5) / 1_000_000 + 2;
const core = "/api/v1/namespaces/default";
const decoder = new TextDecoder();

/** An agent with a runtime that runs shells. */
class VolumeWorld {
  readonly agent: AgentWorld;
  private machine: SimulatedRuntime | undefined;

  constructor(bugs: readonly AgentBugName[] = []) {
    const images = [{ name: "box:1", present: true, shell: true }];
    this.agent = new AgentWorld({}, 700_000, {
      bugs,
      around: (_inner, process) => (this.machine ??= new SimulatedRuntime(process, { images })),
    });
    this.agent.run(3);
  }

  ask(what: string, body?: object): JsonObject {
    const patch = what.startsWith("PATCH") ? { headers: { "content-type": "application/merge-patch+json" } } : {};
    const answer = this.agent.bed.ask(what, { as: "admin", ...(body === undefined ? {} : { body }), ...patch });
    if (answer.status >= 300) throw new Error(`${what}: ${answer.text}`);
    return answer.body;
  }

  configMap(name: string, data: object, more: object = {}): void {
    this.ask(`POST ${core}/configmaps`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data, ...more });
  }

  /** A pod with this volume at `/v`. */
  create(volume: object, container: object = {}, metadata: object = {}): string {
    const made = this.agent.create(
      "p",
      {
        volumes: [{ name: "v", ...volume }],
        containers: [
          {
            name: "c",
            image: "box:1",
            imagePullPolicy: "IfNotPresent",
            command: ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 1; done"],
            volumeMounts: [{ name: "v", mountPath: "/v" }],
            ...container,
          },
        ],
      },
      metadata,
    );
    this.agent.run(5);
    return metadataOf(made).uid ?? "";
  }

  /** What a command in the pod's only container says. */
  says(script: string): string {
    const [{ containerID = "" }] = this.agent.status("p")["containerStatuses"] as [{ containerID?: string }];
    const { kernel } = this.agent;
    const process = kernel.process("caller");
    let said: string | undefined;
    kernel.enter(process, () =>
      callRuntime(
        process,
        this.machine as SimulatedRuntime,
        "ExecSync",
        { containerId: containerID.slice(containerID.lastIndexOf("/") + 1), cmd: ["sh", "-c", script] },
        noDeadlineMicros,
        (answer) => (said = answer.ok ? decoder.decode(answer.message.stdout) : answer.text),
      ),
    );
    this.agent.run(1);
    process.crash();
    return said ?? "no answer";
  }

  /** A file of the pod's volume as it is on the machine now. */
  file(uid: string, plugin: string, name: string): string | undefined {
    const node = this.machine?.state.machine.host.find(
      `${rootDir}/pods/${uid}/volumes/kubernetes.io~${plugin}/v/${name}`,
    );
    return node?.is === "file" ? decoder.decode(readFile(node, 0, 1000)) : undefined;
  }

  watches(path: string): number {
    return this.agent.asked.filter((asked) => asked === path).length;
  }
}

describe("volumes", () => {
  it("follow their config map, whose variables and parts by subPath stay", () => {
    const w = new VolumeWorld();
    w.configMap("k", { a: "1", gone: "x" });
    w.create(
      { configMap: { name: "k" } },
      {
        env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "k", key: "a" } } }],
        volumeMounts: [
          { name: "v", mountPath: "/v" },
          { name: "v", mountPath: "/part/a", subPath: "a" },
        ],
      },
    );
    const all = "ls /v; cat /v/a /part/a; echo $A; touch /v/new 2>/dev/null || echo closed";
    expect(w.says(all)).toBe("a\ngone\n111\nclosed\n");
    w.ask(`PATCH ${core}/configmaps/k`, { data: { a: "2", gone: null, b: "3" } });
    w.agent.run(wholeSyncSeconds);
    expect(w.says(all)).toBe("a\nb\n211\nclosed\n");
    expect(w.agent.status("p")["containerStatuses"]).toMatchObject([{ restartCount: 0 }]);
  });

  it("do not with the bug volumes-stay-as-mounted", () => {
    const w = new VolumeWorld(["volumes-stay-as-mounted"]);
    w.configMap("k", { a: "1" });
    w.create({ configMap: { name: "k" } });
    w.ask(`PATCH ${core}/configmaps/k`, { data: { a: "2" } });
    w.agent.run(3 * wholeSyncSeconds);
    expect(w.says("cat /v/a")).toBe("1");
  });

  it.each<[what: string, bugs: AgentBugName[], mixed: boolean]>([
    ["change all files at once", [], false],
    ["do not with the bug volumes-change-in-pieces", ["volumes-change-in-pieces"], true],
  ])("%s", (_what, bugs, mixed) => {
    const w = new VolumeWorld(bugs);
    const data = (text: string) => Object.fromEntries(["a", "b", "c"].map((key) => [key, text]));
    w.configMap("k", data("old"));
    const uid = w.create({ configMap: { name: "k" } });
    w.ask(`PATCH ${core}/configmaps/k`, { data: data("new") });
    const seen = new Set<string>();
    const { kernel } = w.agent;
    const until = kernel.nowMicros() + wholeSyncSeconds * 1_000_000;
    for (let next = kernel.nextEventMicros; next !== undefined && next <= until; next = kernel.nextEventMicros) {
      kernel.step();
      seen.add(["a", "b", "c"].map((name) => w.file(uid, "configmap", name) ?? "none").join(" "));
    }
    expect(seen.has("new new new")).toBe(true);
    expect([...seen].some((each) => each !== "old old old" && each !== "new new new")).toBe(mixed);
  });

  it("have what was missing and optional once it is there, and keep what has gone", () => {
    const w = new VolumeWorld();
    const sources = [{ configMap: { name: "late", optional: true } }, { secret: { name: "s" } }];
    w.ask(`POST ${core}/secrets`, { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { k: "YQ==" } });
    const uid = w.create({ projected: { sources } });
    const files = () => [w.file(uid, "projected", "a"), w.file(uid, "projected", "k")];
    expect(files()).toEqual([undefined, "a"]);
    w.configMap("late", { a: "1" });
    w.agent.run(wholeSyncSeconds);
    expect(files()).toEqual(["1", "a"]);
    w.ask(`DELETE ${core}/secrets/s`);
    w.agent.run(wholeSyncSeconds);
    expect(files()).toEqual(["1", "a"]);
    expect(w.agent.events("p").join("\n")).toContain('MountVolume.SetUp failed for volume "v" : secret "s" not found');
    w.ask(`POST ${core}/secrets`, { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { k: "Yg==" } });
    w.agent.run(2 * wholeSyncSeconds);
    expect(files()).toEqual(["1", "b"]);
  });

  it("follow the pod's own labels", () => {
    const w = new VolumeWorld();
    const items = [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }];
    const uid = w.create({ downwardAPI: { items } }, {}, { labels: { app: "one" } });
    expect(w.file(uid, "downward-api", "labels")).toBe('app="one"');
    w.ask(`PATCH ${pods}/p`, { metadata: { labels: { app: "two" } } });
    w.agent.run(5);
    expect(w.file(uid, "downward-api", "labels")).toBe('app="two"');
  });

  it("have a new token before the old one ends", () => {
    const w = new VolumeWorld();
    w.ask(`POST ${core}/serviceaccounts`, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "own" } });
    const sources = [{ serviceAccountToken: { path: "token", expirationSeconds: 600 } }];
    const uid = metadataOf(
      w.agent.create("p", {
        serviceAccountName: "own",
        volumes: [{ name: "v", projected: { sources } }],
        containers: [{ name: "c", image: "box:1", imagePullPolicy: "IfNotPresent", command: ["sleep", "10000"] }],
      }),
    ).uid as string;
    w.agent.run(5);
    const first = w.file(uid, "projected", "token");
    expect(first).toBeDefined();
    w.agent.run(470);
    expect(w.file(uid, "projected", "token")).toBe(first);
    w.agent.run(20);
    const second = w.file(uid, "projected", "token");
    expect(second).not.toBe(first);
    w.agent.run(485);
    expect(w.file(uid, "projected", "token")).not.toBe(second);
  });

  it("are watched one by one while somebody has them, and not at all where nothing can change", () => {
    const w = new VolumeWorld();
    w.configMap("k", { a: "1" });
    w.configMap("fixed", { a: "1" }, { immutable: true });
    const sources = [{ configMap: { name: "k" } }, { configMap: { name: "fixed", items: [{ key: "a", path: "b" }] } }];
    const uid = w.create({ projected: { sources } });
    // A list and a watch, of one of the two.
    expect(w.watches(`${core}/configmaps`)).toBe(2);
    w.agent.run(100);
    expect([w.file(uid, "projected", "a"), w.file(uid, "projected", "b")]).toEqual(["1", "1"]);
    expect(w.watches(`${core}/configmaps/k`)).toBe(1);
    w.ask(`DELETE ${pods}/p`, { gracePeriodSeconds: 1 });
    w.agent.run(10);
    const before = w.agent.asked.length;
    w.ask(`PATCH ${core}/configmaps/k`, { data: { a: "2" } });
    w.agent.run(700);
    expect(w.agent.asked.slice(before).filter((path) => path.includes("configmaps"))).toEqual([]);
  });

  it("are as their objects after an agent has died and come back", () => {
    const w = new VolumeWorld();
    w.configMap("k", { a: "1", gone: "x" });
    const uid = w.create({ configMap: { name: "k" } });
    w.agent.restart(1, 0, () => w.ask(`PATCH ${core}/configmaps/k`, { data: { a: "2", gone: null } }));
    w.agent.run(10);
    expect([w.file(uid, "configmap", "a"), w.file(uid, "configmap", "gone")]).toEqual(["2", undefined]);
    expect(w.agent.status("p")["containerStatuses"]).toMatchObject([{ restartCount: 0 }]);
    w.ask(`PATCH ${core}/configmaps/k`, { data: { a: "3" } });
    w.agent.run(wholeSyncSeconds);
    expect(w.file(uid, "configmap", "a")).toBe("3");
  });
});
