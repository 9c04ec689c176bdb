import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeBase64 } from "../../../wire/base64.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { RuntimeBench } from "../../runtime/runtime.fixture.ts";
import { SimulatedRuntime } from "../../runtime/runtime.ts";
import { defaultAgentOptions } from "../agent-options.ts";
import { AgentWorld, pods } from "../agent-world.fixture.ts";
import type { ApiCaller } from "../ports.ts";
import { run } from "../task.ts";
import { CriCaller } from "./cri-caller.ts";
import { mountVolumes } from "./volumes.ts";

const { kernel, rootDir, logsDir, volumePluginDir } = defaultAgentOptions("n1").pods;
const decoder = new TextDecoder();

/** What is in a pod's volume `v` once it is there; a string: why it is not. */
function mounted(
  volume: JsonObject,
  objects: Readonly<Record<string, JsonObject>> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const bench = new RuntimeBench();
  for (const [path, text] of Object.entries(files)) {
    bench.ask("MakePath", { path: path.slice(0, path.lastIndexOf("/")) });
    bench.ask("WritePath", { path, content: new TextEncoder().encode(text) });
  }
  const process = bench.kernel.process("agent-n1");
  const api = {
    call: ({ path }: { path: string }, done: (answer: object) => void) => {
      const object = objects[path.split("/").slice(-2).join("/")];
      process.clock.after(0, () => done(object === undefined ? { status: 404 } : { status: 200, object }));
    },
  } as unknown as ApiCaller;
  const pod = {
    metadata: { name: "p", namespace: "default", uid: "u" },
    spec: {
      containers: [
        { name: "a", resources: { limits: { cpu: "1500m", memory: "64Mi" }, requests: { cpu: "200m" } } },
        { name: "b", resources: {} },
      ],
      volumes: [{ name: "v", ...volume }],
    },
  } as unknown as JsonObject;
  const node = { rootDir, logsDir, volumePluginDir, clusterDns: [], clusterDomain: "", memoryCapacityBytes: 1, kernel };
  const context = {
    api,
    clock: process.clock,
    cri: new CriCaller(process, bench.runtime, 10_000_000),
    node,
    nodeName: "n1",
    podIps: [],
    hostIps: [],
    allocatable: { cpu: "4", memory: "8Gi" },
  };
  let failure: string | undefined;
  bench.kernel.enter(process, () =>
    run(
      mountVolumes(context, pod, new Map(), (message) => (failure ??= message)),
      () => {},
    ),
  );
  bench.pass(1);
  const kind = { downwardAPI: "downward-api", configMap: "configmap", secret: "secret", projected: "projected" };
  const plugin = kind[Object.keys(volume)[0] as keyof typeof kind];
  return {
    failure,
    entries: (path: string) => bench.ask("ListPath", { path }).entries.map(({ name }) => name),
    bytes: (path: string): Uint8Array =>
      bench.ask("ReadPath", { path: `${rootDir}/pods/u/volumes/kubernetes.io~${plugin}/v/${path}` }).content,
  };
}

describe("volumes of objects", () => {
  it("hold data of config maps and secrets byte for byte", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (binary, text) => {
        const encoded = encodeBase64(binary);
        const objects = {
          "configmaps/c": { data: { text }, binaryData: { binary: encoded } },
          "secrets/s": { data: { binary: encoded } },
        };
        const ofMap = mounted({ configMap: { name: "c" } }, objects);
        expect([ofMap.bytes("binary"), decoder.decode(ofMap.bytes("text"))]).toEqual([
          binary,
          decoder.decode(new TextEncoder().encode(text)),
        ]);
        expect(mounted({ secret: { secretName: "s" } }, objects).bytes("binary")).toEqual(binary);
        const items = [{ key: "binary", path: "deep/er/file" }];
        const sources = [{ configMap: { name: "c", items } }, { secret: { name: "s" } }];
        const both = mounted({ projected: { sources } }, objects);
        expect([both.bytes("deep/er/file"), both.bytes("binary")]).toEqual([binary, binary]);
      }),
      { numRuns: 30 },
    );
  });

  it("tell containers' resources, of the node where they have none of their own", () => {
    const item = (path: string, containerName: string, resource: string, divisor?: string) => ({
      path,
      resourceFieldRef: { containerName, resource, ...(divisor === undefined ? {} : { divisor }) },
    });
    const items = [
      item("limit", "a", "limits.cpu"),
      item("milli", "a", "limits.cpu", "1m"),
      item("request", "a", "requests.cpu", "1m"),
      item("memory", "a", "limits.memory", "1Mi"),
      item("node", "b", "limits.cpu"),
      item("none", "b", "requests.memory"),
    ];
    const { bytes } = mounted({ downwardAPI: { items } });
    expect(items.map(({ path }) => decoder.decode(bytes(path)))).toEqual(["2", "1500", "200", "64", "4", "0"]);
    const { failure } = mounted({ downwardAPI: { items: [item("x", "no", "limits.cpu")] } });
    expect(failure).toContain("container no not found");
  });
});

describe("volumes of plugins of others", () => {
  const volume = { flexVolume: { driver: "example.com/disk" } };
  const place = `${volumePluginDir}example.com~disk/disk`;

  it("are there where the plugin is in its folder", () => {
    const { failure, entries } = mounted(volume, {}, { [place]: "#!/bin/sh" });
    expect([failure, entries(`${rootDir}/pods/u/volumes`)]).toEqual([undefined, ["example.com~disk"]]);
  });

  it("fail where it is not", () => {
    for (const files of [
      {},
      { [`${volumePluginDir}disk`]: "#!/bin/sh" },
      { [`/elsewhere/example.com~disk/disk`]: "" },
    ]) {
      expect(mounted(volume, {}, files as Record<string, string>).failure).toContain("no volume plugin matched");
    }
  });
});

describe("a pod's directory", () => {
  it("keeps the last words of its containers, and goes with the pod; hosts are named in it", () => {
    const images = [{ name: "serves:1", present: true, shell: true }];
    let machine: SimulatedRuntime | undefined;
    const w = new AgentWorld({}, 700_000, {
      around: (_inner, process) => (machine ??= new SimulatedRuntime(process, { images })),
    });
    w.run(3);
    const command = ["sh", "-c", "grep -c a /etc/hosts > /dev/null && echo done > /dev/termination-log; exit 3"];
    const container = { name: "c", image: "serves:1", imagePullPolicy: "IfNotPresent", command };
    const { metadata } = w.create("a", { restartPolicy: "Never", containers: [container] }) as unknown as {
      metadata: { uid: string };
    };
    w.run(20);
    const ended = { state: { terminated: { exitCode: 3, message: "done\n" } } };
    expect(w.status("a")["containerStatuses"]).toMatchObject([ended]);
    const directory = () => machine?.state.machine.host.find(`${rootDir}/pods/${metadata.uid}`);
    expect(directory()).toBeDefined();
    w.bed.ask(`DELETE ${pods}/a`, { as: "admin", body: { gracePeriodSeconds: 1 } });
    w.run(20);
    expect(directory()).toBeUndefined();
  });
});
