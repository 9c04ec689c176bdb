/**
 * An exception is one piece of work's. Whatever an agent asks of others throws once, at every call in turn of some minutes in the
 * life of a node, and so does whatever is answered; the agent goes on, every pod comes to what it should, the exception is counted,
 * and nothing is left behind.
 */
import { describe, expect, it } from "vitest";
import { TestBed } from "../apiserver/test-bed.fixture.ts";
import type { ApiHandler, JsonObject, Payload, Responder } from "../contract/http-message.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { noControllers } from "../control/controllers.ts";
import type { CriAnswer } from "../../wire/cri.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import { SimulatedRuntime } from "../runtime/runtime.ts";
import { Agent } from "./agent.ts";
import { defaultAgentOptions } from "./agent-options.ts";
import type { NodeView } from "./listener/agent-view.ts";
import { AgentListener, RequestCounts } from "./listener/agent-listener.ts";
import { agentNode } from "./node/agent-node.fixture.ts";
import { AgentNode } from "./node/node-side.ts";
import { Relist } from "./runtime/relist.ts";
import type { FilesReader } from "./sources/file-source.ts";

type Port = "runtime" | "runtime answer" | "server" | "server answer" | "timer" | "files" | "quiet";
const ports: readonly Port[] = ["runtime", "runtime answer", "server", "server answer", "timer", "files", "quiet"];

const planned = new Error("planned");
const pods = "/api/v1/namespaces/default/pods";
const configMaps = "/api/v1/namespaces/default/configmaps";

/** Calls of one port, of which one throws. */
class Saboteur {
  readonly port: Port | undefined;
  readonly throwsAt: number;
  readonly calls = new Map<Port, number>();
  /** Of timers: those of the start, which an exception ends. */
  firstTimer = 0;

  constructor(port?: Port, throwsAt = 0) {
    this.port = port;
    this.throwsAt = throwsAt;
  }

  isDue(port: Port): boolean {
    const count = (this.calls.get(port) ?? 0) + 1;
    this.calls.set(port, count);
    return port === this.port && count === this.throwsAt;
  }

  hit(port: Port): void {
    if (this.isDue(port)) throw planned;
  }
}

const unreadable = new Proxy(
  {},
  {
    get() {
      throw planned;
    },
  },
);

class World {
  readonly kernel: Kernel;
  readonly bed: TestBed;
  readonly agent: Agent;
  readonly told: string[] = [];
  readonly runtime: SimulatedRuntime;
  readonly process: Process;
  private files = new Map<string, string>();

  constructor(saboteur: Saboteur, isCaught = true) {
    const caught = (failure: Error, what: string, component = "event"): void => {
      const { cause } = failure;
      this.told.push(`${component}: ${what}${cause === planned ? "" : `: ${(cause as Error).stack}`}`);
    };
    this.kernel = new Kernel({ seed: "contained", ...(isCaught ? { caught } : {}) });
    this.bed = new TestBed({ profile: kubernetesProfile, controllers: noControllers }, this.kernel);
    const [machine, process] = [this.kernel.process("machine"), this.kernel.process("agent-n1")];
    const image = { name: "docker.io/local/box:1", shell: true, sizeBytes: 2_000_000 };
    this.runtime = this.kernel.enter(machine, () => new SimulatedRuntime(machine, { images: [image] }));
    this.process = process;
    const around = runtimeAround(this.runtime, saboteur);
    const own = processAround(process, saboteur);
    const readFiles: FilesReader = (_path, done) => {
      saboteur.hit("files");
      const files = [...this.files].map(([name, text]) => ({ name, content: new TextEncoder().encode(text) }));
      process.clock.after(0, () => done({ is: "directory", files }));
    };
    const standard = defaultAgentOptions("n1");
    this.agent = this.kernel.enter(
      process,
      () =>
        new Agent(
          {
            process: own,
            dialect: kubernetesProfile.dialect,
            server: serverAround(this.bed.server, saboteur),
            headers: { authorization: "Bearer admin", accept: "application/json" },
            runtime: around,
            firstRelistMicros: 450_000,
            readFiles,
            nodeSide: agentNode(around),
          },
          {
            ...standard,
            node: { ...standard.node, nodeIps: ["192.168.0.1"] },
            pods: { ...standard.pods, logBytesMax: 200, logFilesMax: 2 },
            sources: { ...standard.sources, manifestPath: "/manifests", fileCheckMicros: 20_000_000 },
          },
        ),
    );
    this.kernel.enter(process, () => this.agent.start());
    saboteur.firstTimer = saboteur.calls.get("timer") ?? 0;
  }

  ask(line: string, body?: object) {
    return this.bed.ask(line, { as: "admin", ...(body === undefined ? {} : { body }) }).body;
  }

  run(seconds: number): void {
    this.kernel.run(this.kernel.nowMicros() + seconds * 1_000_000);
  }

  pod(name: string, script: string, spec: object = {}, container: object = {}): void {
    const own = { name: "c", image: "local/box:1", command: ["sh", "-c", script], ...container };
    const body = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: { nodeName: "n1", containers: [own], ...spec },
    };
    const made = this.ask(`POST ${pods}`, body);
    if (made["kind"] !== "Pod") throw new Error(JSON.stringify(made));
  }

  map(value: string): void {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" }, data: { key: value } };
    this.ask(value === "old" ? `POST ${configMaps}` : `PUT ${configMaps}/m`, body);
  }

  /** Some minutes: pods of a server and of a file, volumes, probes, restarts, logs, an end, deletions. */
  play(): void {
    this.files.set(
      "s.json",
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "s" },
        spec: { containers: [{ name: "c", image: "local/box:1", command: ["sh", "-c", "sleep 100000"] }] },
      }),
    );
    this.map("old");
    this.run(40);
    const readinessProbe = { exec: { command: ["true"] }, periodSeconds: 5 };
    const volumes = [{ name: "v", configMap: { name: "m" } }];
    const volumeMounts = [{ name: "v", mountPath: "/v" }];
    this.pod(
      "web",
      "while true; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; sleep 4; done",
      { volumes },
      { readinessProbe, volumeMounts },
    );
    this.pod("ends", "sleep 5", { restartPolicy: "Never" });
    this.pod("falls", "sleep 3; exit 1");
    this.pod("goes", "sleep 100000", { terminationGracePeriodSeconds: 2 });
    this.run(30);
    this.map("new");
    this.ask(`DELETE ${pods}/goes`);
    this.run(200);
    this.pod("late", "sleep 100000", { terminationGracePeriodSeconds: 2 });
    this.run(40);
    this.ask(`DELETE ${pods}/late`);
    this.run(60);
  }

  problems(): readonly string[] {
    const found: string[] = [];
    const check = (is: boolean, what: string): void => {
      if (!is) found.push(what);
    };
    const phase = (name: string): string =>
      String((this.ask(`GET ${pods}/${name}`)["status"] as JsonObject)?.["phase"] ?? "gone");
    const { conditions = [] } = this.ask(`GET ${pods}/web`)["status"] as {
      conditions?: { type: string; status: string }[];
    };
    const isWebReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
    check(phase("web") === "Running" && isWebReady, `web is ${phase("web")}, ready: ${isWebReady}`);
    check(phase("ends") === "Succeeded", `ends is ${phase("ends")}`);
    check(phase("falls") === "Running", `falls is ${phase("falls")}`);
    check(phase("s-n1") === "Running", `the mirror is ${phase("s-n1")}`);
    for (const name of ["goes", "late"])
      check(phase(name) === "Failed" || phase(name) === "gone", `${name} is ${phase(name)}`);
    for (const name of ["goes", "late"])
      check(this.ask(`GET ${pods}/${name}`)["kind"] === "Status", `${name} is still there`);
    const names = [...this.agent.pods.held.values()].map(({ name }) => name).sort();
    check(names.join() === "ends,falls,s-n1,web", `held: ${names.join()}`);
    for (const held of this.agent.pods.held.values()) {
      check(!held.isPushing && held.pushedVersion === held.statusVersion, `status of ${held.name} is not told`);
      check(held.mounting === undefined || held.mounting.isDone, `volumes of ${held.name}`);
    }
    const inside = this.agent as unknown as {
      events: { isSending: boolean; queue: unknown[] };
      garbage: { isRunning: boolean; isRemoving: boolean; queue: Map<string, unknown> };
      pods: {
        untaken: Map<string, unknown>;
        coming: Map<string, unknown>;
        killing: Set<string>;
        makingRoomFor: number;
      };
      workers: { options: { sync: { context: { images: { pulls: number; queue: unknown[] } } } } };
    };
    check(!inside.events.isSending && inside.events.queue.length === 0, "events wait");
    check(!inside.garbage.isRunning && !inside.garbage.isRemoving && inside.garbage.queue.size === 0, "garbage waits");
    check(
      inside.pods.untaken.size + inside.pods.coming.size + inside.pods.killing.size + inside.pods.makingRoomFor === 0,
      "pods wait",
    );
    const { images } = inside.workers.options.sync.context;
    check(images.pulls === 0 && images.queue.length === 0, "a turn to pull is kept");
    const nowMillis = this.kernel.epochUnixMillis + this.kernel.nowMicros() / 1000;
    const lease = this.ask("GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1")["spec"] as
      | JsonObject
      | undefined;
    check(nowMillis - Date.parse(String(lease?.["renewTime"])) < 15_000, "the lease is not renewed");
    const node = this.ask("GET /api/v1/nodes/n1")["status"] as {
      conditions: { type: string; status: string; lastHeartbeatTime: string }[];
    };
    const isReady = node.conditions.find(({ type }) => type === "Ready");
    check(isReady?.status === "True", "the node is not ready");
    check(nowMillis - Date.parse(String(isReady?.lastHeartbeatTime)) < 310_000, "the node's status is not told");
    return found;
  }
}

function runtimeAround(inner: SimulatedRuntime, saboteur: Saboteur): CriRuntime {
  return {
    start(request, done, fail) {
      saboteur.hit("runtime");
      return inner.start(
        request,
        (answer) => {
          if (!saboteur.isDue("runtime answer")) return done(answer);
          done(unreadable as CriAnswer);
        },
        fail,
      );
    },
    events: (reader, sink) => inner.events(reader, sink),
    quiet(woken) {
      saboteur.hit("quiet");
      return inner.quiet(woken);
    },
  };
}

function serverAround(inner: ApiHandler, saboteur: Saboteur): ApiHandler {
  return {
    start(request, responder) {
      saboteur.hit("server");
      const payloadOf = (payload: Payload): Payload =>
        saboteur.isDue("server answer") ? (unreadable as Payload) : payload;
      const around: Responder = {
        respond: (status, headers, payload) => responder.respond(status, headers, payloadOf(payload)),
        open: (status, headers) => responder.open(status, headers),
        frame: (payload) => responder.frame(payloadOf(payload)),
        close: () => responder.close(),
        failed: (failure) => responder.failed?.(failure),
      };
      return inner.start(request, around);
    },
  };
}

function processAround(process: Process, saboteur: Saboteur): Process {
  const { clock } = process;
  const timers = {
    nowMicros: () => clock.nowMicros(),
    epochUnixMillis: clock.epochUnixMillis,
    after: (micros: number, fire: () => void) => {
      saboteur.hit("timer");
      return clock.after(micros, fire);
    },
  };
  return Object.create(process, { clock: { value: timers }, call: { value: process.call.bind(process) } }) as Process;
}

/** Nobody looks at some answers; and a server in the same process tells too of what it met as it answered at once. */
function isToldOnce(port: Port, { told }: World): boolean {
  const own = told.filter((line) => !line.startsWith("event: request "));
  return own.length === 1 || (port === "runtime answer" && own.length === 0);
}

function played(port: Port, at: number): World {
  const world = new World(new Saboteur(port, at));
  world.play();
  return world;
}

const calls = new Saboteur();
const whole = new World(calls);
whole.play();

it("the story comes to its end", () => {
  expect(whole.problems()).toEqual([]);
  expect(whole.told).toEqual([]);
});

const stride = process.env["STRIDE"] === undefined ? undefined : Number(process.env["STRIDE"]);
const samples = 12;

describe.each(ports)("the port %s", (port) => {
  const count = calls.calls.get(port) ?? 0;
  const first = port === "timer" ? calls.firstTimer : 0;
  const step = stride ?? Math.ceil((count - first) / samples);
  const all = Array.from({ length: count - first }, (_, at) => first + at + 1).filter(
    (at) => (at - first) % step === 0,
  );
  it(`throws once: the agent goes on (${count} calls)`, { timeout: 600_000 }, () => {
    const wrong: string[] = [];
    for (const at of all) {
      const world = played(port, at);
      const problems = [...world.problems(), ...(isToldOnce(port, world) ? [] : [`told ${world.told.length} times`])];
      if (problems.length > 0) wrong.push(`${at}: ${problems.join("; ")} (${world.told.join(" | ")})`);
    }
    expect(wrong).toEqual([]);
  });
});

it("of what begins once the runtime has answered, an exception has nothing begin twice, and nothing left out", () => {
  const [nodeStart, relistStart] = [AgentNode.prototype.start, Relist.prototype.start];
  const begun = { node: 0, relist: 0 };
  Relist.prototype.start = function (this: Relist) {
    begun.relist++;
    relistStart.call(this);
  };
  AgentNode.prototype.start = function (this: AgentNode) {
    if (++begun.node === 1) throw planned;
    nodeStart.call(this);
  };
  try {
    const world = new World(new Saboteur());
    world.play();
    expect([begun, world.problems(), world.told.length]).toEqual([{ node: 2, relist: 1 }, [], 1]);
  } finally {
    AgentNode.prototype.start = nodeStart;
    Relist.prototype.start = relistStart;
  }
});

it.each(ports)("in a simulation an exception at the port %s ends the run", (port) => {
  const count = calls.calls.get(port) ?? 0;
  const world = new World(new Saboteur(port, Math.min(count, calls.firstTimer + 5)), false);
  expect(() => world.play()).toThrow(/process "(agent-n1|machine|apiserver.*)" threw .*planned/);
});

/** What a request is answered by a listener of the agent. */
function answered(world: World, path: string, node: NodeView, counts: ReadonlyMap<string, number>) {
  const { view } = world.agent;
  const listener = new AgentListener({
    kind: "readOnly",
    agent: view,
    node,
    configz: () => ({}),
    hasDebugging: true,
    idleMillisMax: 0,
    syncFrequencyMicros: 60_000_000,
    counts: new RequestCounts(),
    exceptions: () => counts,
  });
  const seen: { status: number; text: string }[] = [];
  const responder: Responder = {
    respond: (status, _headers, payload) => void seen.push({ status, text: new TextDecoder().decode(payload.bytes()) }),
    open: () => {},
    frame: () => 0,
    close: () => {},
  };
  const request = { method: "GET", path, query: "", headers: {}, body: undefined };
  world.kernel.enter(world.process, () => listener.start(request, responder));
  world.run(1);
  return seen;
}

it("an exception in a request is answered with 500 and the id of the log's line, at once or later, and is counted", () => {
  const world = new World(new Saboteur());
  world.run(30);
  const broken: NodeView = {
    summary: () => {
      throw planned;
    },
    readings: (done) =>
      void world.agent.view.process.clock.after(10, () => {
        done(unreadable as never, []);
      }),
  };
  const at = (path: string) => answered(world, path, broken, new Map([["http-server", world.told.length]]));
  const text = "an exception in the agent ended this request; its log has it as request 1\n";
  expect(at("/stats/summary")).toEqual([{ status: 500, text }]);
  expect(at("/metrics/resource")).toEqual([{ status: 500, text }]);
  expect(world.told).toEqual([
    "http-server: request 1 GET /stats/summary",
    "http-server: request 1 GET /metrics/resource",
  ]);
  expect(at("/metrics")[0]?.text).toContain('\ntouchstone_exceptions_total{component="http-server"} 2\n');
});
