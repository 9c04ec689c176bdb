import { describe, expect, it } from "vitest";
import { type CriAnswer, grpcCode } from "../../../wire/cri.ts";
import { dialects } from "../../../wire/dialect.ts";
import { readAgentCommand } from "../../configuration/agent/command-line.ts";
import type { CriRuntime } from "../../cri/cri-port.ts";
import type { Process } from "../../kernel/types.ts";
import { AgentWorld } from "../agent-world.fixture.ts";
import { agentOptionsOf } from "../options-of-settings.ts";
import type { AgentOptions } from "../ports.ts";

const gibibyte = 2 ** 30;
const cpuFile = "/var/lib/nodeagent/cpu_manager_state";
const memoryFile = "/var/lib/nodeagent/memory_manager_state";

function optionsOf(flags: readonly string[]): Partial<AgentOptions> {
  const files = { read: () => ({ error: "none" }), list: () => ({ error: "none" }), environment: {} };
  const command = readAgentCommand(["--eviction-hard=", ...flags], dialects.kubernetes, files);
  if (command.is !== "settings") throw new Error(JSON.stringify(command));
  const host = { hostname: "n1", addresses: [], hasManagerState: true };
  const { managers, node, eviction } = agentOptionsOf(command.settings, host);
  return { node, eviction, ...(managers === undefined ? {} : { managers }) };
}

interface Machine {
  readonly cpus?: number;
  readonly numaNodes?: number;
  readonly threadsPerCore?: number;
  readonly sockets?: number;
  readonly memoryBytes?: number;
}

class Bench {
  readonly files: Map<string, string>;
  readonly updates: string[] = [];
  readonly world: AgentWorld;

  constructor(flags: readonly string[], machine: Machine = {}, files: Readonly<Record<string, string>> = {}) {
    this.files = new Map(Object.entries(files));
    const amounts = { cpu: "64", memory: "64Gi" };
    this.world = new AgentWorld(optionsOf(flags), 100_000, {
      amounts,
      around: (inner, process) => this.around(inner, process, machine),
    });
    this.world.runtime.images.set("app:1", {});
    this.world.run(3);
  }

  private around(inner: CriRuntime, process: Process, { cpus = 8, numaNodes = 1, ...machine }: Machine): CriRuntime {
    const info = { memoryBytes: 16 * gibibyte, threadsPerCore: 1, sockets: 0, ...machine };
    const answers: Record<string, (message: never) => CriAnswer> = {
      MachineInfo: () => ({ ok: true, message: { milliCpu: cpus * 1000, numaNodes, ...info } }) as CriAnswer,
      ReadPath: ({ path }: { path: string }) => {
        const text = this.files.get(path);
        if (text === undefined) return { ok: false, code: grpcCode.notFound, text: path };
        const content = new TextEncoder().encode(text);
        return { ok: true, message: { size: content.length, content } } as CriAnswer;
      },
      WritePath: ({ path, content }: { path: string; content: Uint8Array }) => {
        this.files.set(path, new TextDecoder().decode(content));
        return { ok: true, message: {} } as CriAnswer;
      },
      UpdateContainerResources: ({ containerId, linux }: { containerId: string; linux: { cpusetCpus: string } }) => {
        const { config } = this.world.runtime.containers.get(containerId) ?? {};
        this.updates.push(`${config?.metadata?.name} ${linux.cpusetCpus}`);
        return { ok: true, message: {} } as CriAnswer;
      },
    };
    return {
      events: (...args) => inner.events(...args),
      start: (request, done, ...more) => {
        const answer = answers[request.method];
        if (answer === undefined) return inner.start(request, done, ...more);
        return process.clock.after(0, () => done(answer(request.message as never)));
      },
    };
  }

  /** A pod of the class Guaranteed, but where `requests` has less. */
  pod(name: string, amounts: Record<string, string>, more: { init?: string; burstable?: boolean } = {}): void {
    const resources = more.burstable === true ? { requests: amounts } : { limits: amounts, requests: amounts };
    const init = more.init === undefined ? {} : { ...amounts, cpu: more.init };
    this.world.create(name, {
      terminationGracePeriodSeconds: 1,
      containers: [{ name, image: "app:1", imagePullPolicy: "Never", resources }],
      ...(more.init === undefined
        ? {}
        : {
            initContainers: [
              {
                name: `${name}-init`,
                image: "done:1",
                imagePullPolicy: "Never",
                resources: { limits: init, requests: init },
              },
            ],
          }),
    });
    this.world.run(8);
  }

  resources(name: string) {
    const made = [...this.world.runtime.containers.values()].filter(({ config }) => config.metadata?.name === name);
    return made.at(-1)?.config.linux?.resources;
  }

  refusal(name: string): string | undefined {
    const { phase, reason, message } = this.world.status(name);
    return phase === "Failed" ? `${String(reason)}: ${String(message)}` : undefined;
  }

  state(path: string) {
    return JSON.parse(this.files.get(path) ?? "null");
  }
}

const small = { cpu: "2", memory: "1Gi" };
const statically = ["--cpu-manager-policy=static", "--system-reserved=cpu=500m", "--svc-reserved=cpu=500m"];

describe("the static policy of processors", () => {
  it("gives whole ones to containers of the class Guaranteed; the others share the rest, and learn of it", () => {
    const bench = new Bench(statically);
    bench.pod("shares", { cpu: "1" }, { burstable: true });
    expect(bench.resources("shares")).toMatchObject({ cpusetCpus: "0-7" });
    bench.pod("own", small);
    expect(bench.resources("own")).toMatchObject({ cpusetCpus: "1-2" });
    expect(bench.resources("own")).not.toHaveProperty("cpuQuota");
    bench.pod("part", { cpu: "1500m", memory: "1Gi" });
    expect(bench.resources("part")).toMatchObject({ cpusetCpus: "0,3-7", cpuQuota: 150_000 });
    bench.world.run(12);
    expect(bench.updates).toContain("shares 0,3-7");
    expect(bench.state(cpuFile)).toMatchObject({ policyName: "static", defaultCpuSet: "0,3-7" });
  });

  it("gives back what a pod had that has gone", () => {
    const bench = new Bench([...statically, "--cpu-manager-reconcile-period=1s"]);
    bench.pod("own", small);
    bench.world.bed.ask("DELETE /api/v1/namespaces/default/pods/own", { as: "admin" });
    bench.world.run(40);
    expect(bench.state(cpuFile)).toEqual({ policyName: "static", defaultCpuSet: "0-7", checksum: expect.any(Number) });
    bench.pod("other", { cpu: "7", memory: "1Gi" });
    expect(bench.resources("other")).toMatchObject({ cpusetCpus: "1-7" });
  });

  it("lets containers have again what init containers had", () => {
    const bench = new Bench(statically);
    bench.world.runtime.images.set("done:1", { endsAfterMicros: 100_000, exitCode: 0 });
    bench.pod("own", { cpu: "4", memory: "1Gi" }, { init: "6" });
    expect(bench.resources("own-init")).toMatchObject({ cpusetCpus: "1-6" });
    expect(bench.resources("own")).toMatchObject({ cpusetCpus: "1-4" });
  });

  it("keeps the processors that --reserved-cpus names; strictly, from everybody", () => {
    const flags = ["--cpu-manager-policy=static", "--reserved-cpus=1,6"];
    const bench = new Bench(flags);
    bench.pod("own", { cpu: "6", memory: "1Gi" });
    expect(bench.resources("own")).toMatchObject({ cpusetCpus: "0,2-5,7" });
    const strict = new Bench([...flags, "--cpu-manager-policy-options=strict-cpu-reservation=true"]);
    strict.pod("shares", { cpu: "1" }, { burstable: true });
    expect(strict.resources("shares")).toMatchObject({ cpusetCpus: "0,2-5,7" });
  });

  it("refuses pods for which there are not enough, and those that would share a core", () => {
    const bench = new Bench(statically);
    bench.pod("many", { cpu: "8", memory: "1Gi" });
    expect(bench.refusal("many")).toBe(
      "UnexpectedAdmissionError: Pod was rejected: Allocate failed due to not enough cpus available to satisfy request: requested=8, available=7, which is unexpected",
    );
    const whole = new Bench([...statically, "--cpu-manager-policy-options=full-pcpus-only=true"], {
      threadsPerCore: 2,
    });
    whole.pod("odd", { cpu: "3", memory: "1Gi" });
    expect(whole.refusal("odd")).toBe(
      "SMTAlignmentError: Pod was rejected: SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
    );
    whole.pod("even", small);
    expect(whole.resources("even")).toMatchObject({ cpusetCpus: "1,5" });
    whole.pod("all", { cpu: "6", memory: "1Gi" });
    expect(whole.refusal("all")).toContain("available physical CPUs = 4, requested CPUs = 6");
  });

  it.each([
    ["full-pcpus-only=true,distribute-cpus-across-numa=true", "0-2,4-6,8-10,12-14", 12],
    ["distribute-cpus-across-cores=true", "4-6", 3],
    ["prefer-align-cpus-by-uncorecache=true", "0-3,8-10", 7],
  ])("has the option %s", (options, cpus, count) => {
    const gate = "--feature-gates=CPUManagerPolicyAlphaOptions=true";
    const flags = [gate, "--cpu-manager-policy=static", "--reserved-cpus=7,15"];
    const machine = { cpus: 16, numaNodes: 2, threadsPerCore: 2 };
    const bench = new Bench([...flags, `--cpu-manager-policy-options=${options}`], machine);
    bench.pod("own", { cpu: String(count), memory: "1Gi" });
    expect([bench.refusal("own"), bench.resources("own")?.cpusetCpus]).toEqual([undefined, cpus]);
  });
});

describe("the topology manager", () => {
  const flags = (policy: string, ...more: readonly string[]) => [
    "--cpu-manager-policy=static",
    "--reserved-cpus=0",
    `--topology-manager-policy=${policy}`,
    ...more,
  ];
  const refused = "TopologyAffinityError: Pod was rejected: Resources cannot be allocated with Topology locality";
  const two = { cpus: 8, numaNodes: 2 };

  it.each([
    ["best-effort", "5", "1,4-7"],
    ["restricted", "5", "1,4-7"],
    ["single-numa-node", "5", undefined],
    ["best-effort", "4", "4-7"],
    ["restricted", "4", "4-7"],
    ["single-numa-node", "4", "4-7"],
    ["single-numa-node", "3", "1-3"],
  ])("%s: %s processors", (policy, cpu, cpus) => {
    const bench = new Bench(flags(policy), two);
    bench.pod("own", { cpu, memory: "1Gi" });
    expect(bench.refusal("own")).toBe(cpus === undefined ? refused : undefined);
    if (cpus !== undefined) expect(bench.resources("own")?.cpusetCpus).toBe(cpus);
  });

  it("restricted refuses what only fits on more nodes than it needs; best-effort does not", () => {
    for (const [policy, why] of [
      ["restricted", refused],
      ["best-effort", undefined],
    ] as const) {
      const bench = new Bench(flags(policy), two);
      bench.pod("one", small);
      bench.pod("two", { cpu: "3", memory: "1Gi" });
      expect([bench.resources("one")?.cpusetCpus, bench.resources("two")?.cpusetCpus]).toEqual(["1-2", "4-6"]);
      bench.pod("three", small);
      expect(bench.refusal("three")).toBe(why);
    }
  });

  it("looks at a pod as a whole, if it is told to", () => {
    const containers = ["a", "b"].map((name) => {
      const resources = { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "2", memory: "1Gi" } };
      return { name, image: "app:1", imagePullPolicy: "Never", resources };
    });
    const placed = (scope: string) => {
      const bench = new Bench(flags("single-numa-node", `--topology-manager-scope=${scope}`), two);
      bench.world.create("both", { containers });
      bench.world.run(8);
      return [bench.resources("a")?.cpusetCpus, bench.resources("b")?.cpusetCpus];
    };
    expect(placed("container")).toEqual(["1-2", "4-5"]);
    expect(placed("pod")).toEqual(["4-5", "6-7"]);
  });

  it("takes nodes that are close to each other, if it is told to", () => {
    const machine = { cpus: 8, numaNodes: 4, sockets: 2 };
    const placed = (...more: readonly string[]) => {
      const bench = new Bench(flags("best-effort", ...more), machine);
      bench.pod("one", { cpu: "1", memory: "1Gi" });
      bench.pod("two", { cpu: "4", memory: "1Gi" });
      return bench.resources("two")?.cpusetCpus;
    };
    expect(placed()).toBe("2-5");
    expect(placed("--topology-manager-policy-options=prefer-closest-numa-nodes=true")).toBe("4-7");
  });

  it("does not start on more nodes than it may", () => {
    const machine = { cpus: 20, numaNodes: 10 };
    expect(new Bench(flags("restricted"), machine).world.failures).toEqual([
      "unsupported on machines with more than 8 NUMA Nodes",
    ]);
    const more = "--topology-manager-policy-options=max-allowable-numa-nodes=10";
    expect(new Bench(flags("restricted", more), machine).world.failures).toEqual([]);
  });
});

describe("the static policy of memory", () => {
  const two = { cpus: 8, numaNodes: 2 };
  const flags = [
    "--memory-manager-policy=Static",
    "--system-reserved=memory=2Gi",
    "--reserved-memory=0:memory=1Gi;1:memory=1Gi",
  ];

  it("gives memory of one node, or of as few as will do", () => {
    const bench = new Bench(flags, two);
    bench.pod("one", { cpu: "500m", memory: "4Gi" });
    bench.pod("two", { cpu: "500m", memory: "4Gi" });
    bench.pod("shares", { cpu: "1" }, { burstable: true });
    expect([bench.resources("one")?.cpusetMems, bench.resources("two")?.cpusetMems]).toEqual(["0", "1"]);
    expect(bench.resources("shares")).not.toHaveProperty("cpusetMems");
    bench.pod("three", { cpu: "500m", memory: "8Gi" });
    expect(bench.refusal("three")).toBe(
      "UnexpectedAdmissionError: Pod was rejected: Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected",
    );
    const { machineState } = bench.state(memoryFile);
    const table = { total: 8 * gibibyte, systemReserved: gibibyte, allocatable: 7 * gibibyte };
    expect(machineState["0"]).toEqual({
      numberOfAssignments: 1,
      memoryMap: { memory: { ...table, reserved: 4 * gibibyte, free: 3 * gibibyte } },
      cells: [0],
    });
    const both = new Bench(flags, two);
    both.pod("wide", { cpu: "500m", memory: "9Gi" });
    expect(both.resources("wide")?.cpusetMems).toBe("0-1");
  });

  it("goes with processors where the topology manager wants it", () => {
    const more = ["--cpu-manager-policy=static", "--svc-reserved=cpu=1", "--topology-manager-policy=single-numa-node"];
    const bench = new Bench([...flags, ...more], two);
    bench.pod("big", { cpu: "4", memory: "4Gi" });
    expect(bench.resources("big")).toMatchObject({ cpusetCpus: "4-7", cpusetMems: "1" });
  });

  it.each([
    [["--reserved-memory=0:memory=1Gi"], 'the total amount "1Gi" of type "memory" is not equal to the value "2Gi"'],
    [["--reserved-memory=0:memory=1Gi;2:memory=1Gi"], "references a NUMA node 2 that does not exist"],
  ])("needs what is reserved to be what pods cannot have: %s", (reserved, why) => {
    const bench = new Bench([...flags.slice(0, 2), ...reserved], two);
    expect(bench.world.failures).toEqual([expect.stringContaining(why)]);
  });
});

describe("what is written down", () => {
  it("is taken up by the next life: containers keep what they have", () => {
    const bench = new Bench(statically);
    bench.pod("first", small);
    bench.pod("own", small);
    const before = bench.files.get(cpuFile);
    bench.world.restart(5);
    bench.world.run(30);
    expect([bench.refusal("own"), bench.files.get(cpuFile)]).toEqual([undefined, before]);
    bench.pod("next", small);
    expect(bench.resources("next")).toMatchObject({ cpusetCpus: "5-6" });
  });

  it.each<[what: string, text: string, why: string, path?: string]>([
    [
      "of another policy",
      '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
      'configured policy "static" differs from state checkpoint policy "none"',
    ],
    ["with a wrong checksum", '{"policyName":"static","defaultCpuSet":"0-7","checksum":1}', "checkpoint is corrupted"],
    ["of other fields", '{"policyName":"static","defaultCpuSet":7,"checksum":0}', "checkpoint is corrupted"],
    ["that is no JSON", "{", "unexpected end of JSON input"],
    [
      "of another machine",
      '{"policyName":"static","defaultCpuSet":"0-11","checksum":0}',
      `current set of available CPUs "0-7" doesn't match with CPUs in state "0-11"`,
    ],
    [
      "without what is reserved now",
      '{"policyName":"static","defaultCpuSet":"1-7","entries":{"a":{"b":"0"}},"checksum":0}',
      'not all reserved cpus: "0" are present in defaultCpuSet: "1-7"',
    ],
    [
      "that gives one twice",
      '{"policyName":"static","defaultCpuSet":"0-7","entries":{"a":{"b":"7"}},"checksum":0}',
      'pod: a, container: b cpuset: "7" overlaps with default cpuset "0-7"',
    ],
    [
      "with a wrong list",
      '{"policyName":"static","defaultCpuSet":"0-7","entries":{"a":{"b":"x"}},"checksum":0}',
      'could not parse cpuset "x" for container "b" in pod "a"',
    ],
    [
      "of memory, of another policy",
      '{"policyName":"Static","machineState":{},"checksum":0}',
      '[memorymanager] configured policy "None" differs from state checkpoint policy "Static"',
      memoryFile,
    ],
  ])("and is refused %s", (_what, text, why, path = cpuFile) => {
    const { failures } = new Bench(statically, {}, { [path]: text }).world;
    expect(failures).toEqual([expect.stringContaining(why)]);
    expect(failures[0]).toContain(
      `delete the ${path === cpuFile ? "cpu" : "memory"} manager checkpoint file "${path}"`,
    );
  });

  it("is looked at once the machine answers; without a policy no pod waits for that", () => {
    const around = (inner: CriRuntime): CriRuntime => ({
      events: (...args) => inner.events(...args),
      start: (request, done, ...more) => {
        if (request.method !== "ReadPath") return inner.start(request, done, ...more);
        done({ ok: false, code: grpcCode.unavailable, text: "away" });
        return () => {};
      },
    });
    const running = (flags: readonly string[]): number => {
      const world = new AgentWorld(optionsOf(flags), 100_000, { amounts: { cpu: "64" }, around });
      world.runtime.images.set("app:1", {});
      world.run(3);
      world.create("p", { containers: [{ name: "c", image: "app:1", imagePullPolicy: "Never" }] });
      world.run(8);
      return world.runtime.running("p");
    };
    expect(running([])).toBe(1);
    expect(running(["--topology-manager-policy=best-effort"])).toBe(0);
  });

  it("has the checksum of a live agent without a policy", () => {
    const bench = new Bench([]);
    expect(bench.files.get(cpuFile)).toBe('{"policyName":"none","defaultCpuSet":"","checksum":1353318690}');
  });
});
