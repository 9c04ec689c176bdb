/** For tests: a server, an agent on its node and a scripted runtime, on virtual time. */
import { kubernetesProfile } from "../contract/profile.ts";
import type { ApiHandler, JsonObject, Payload } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { Kernel, type ProcessError } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import { noControllers } from "../control/controllers.ts";
import { TestBed } from "../apiserver/test-bed.fixture.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import { type AgentBugName, agentBugsOn } from "../planted/agent-bugs.ts";
import type { CredentialsReader } from "./runtime/image-pulls.ts";
import type { FilesReader } from "./sources/file-source.ts";
import { Agent } from "./agent.ts";
import type { AgentContext, AgentOptions, NodeSide } from "./ports.ts";
import { defaultAgentOptions } from "./agent-options.ts";
import { ScriptedRuntime } from "./scripted-runtime.fixture.ts";

export const pods = "/api/v1/namespaces/default/pods";

/** A node of two cores that registers itself and says no more. */
const plainNode =
  (more: Readonly<Record<string, string>>) =>
  ({ api, options, process }: AgentContext): NodeSide => {
    let node: JsonObject | undefined;
    return {
      node: () => node,
      admit: () => undefined,
      start() {
        const amounts = { cpu: "2", memory: "4Gi", pods: "110", "ephemeral-storage": "100Gi", ...more };
        const body = {
          apiVersion: "v1",
          kind: "Node",
          metadata: { name: options.nodeName },
          status: {
            capacity: amounts,
            allocatable: amounts,
            addresses: [{ type: "InternalIP", address: "192.168.0.1" }],
          },
        };
        if (api === undefined) {
          node = body;
          return;
        }
        api.call({ method: "POST", path: "/api/v1/nodes", body }, ({ object }) => {
          api.call(
            {
              method: "PUT",
              path: `/api/v1/nodes/${options.nodeName}/status`,
              body: { ...(object as JsonObject), status: body.status },
            },
            (answer) => {
              if (answer.status === 200) node = answer.object;
              else
                api.call(
                  { method: "GET", path: `/api/v1/nodes/${options.nodeName}` },
                  (read) => void (node = read.object),
                );
              process.trace("node");
            },
          );
        });
      },
    };
  };

export interface WorldMore {
  readonly bugs?: readonly AgentBugName[];
  readonly manifests?: Map<string, string>;
  /** Between the agent and its runtime. */
  readonly around?: (inner: CriRuntime, machine: Process) => CriRuntime;
  /** What is known of the registries of images. */
  readonly credentials?: CredentialsReader;
  /** The status that a request is refused with, while it is. */
  readonly refuses?: (path: string) => number | undefined;
  /** Is told of exceptions that end one piece of work alone; without it they end the run. */
  readonly caught?: (failure: ProcessError, what: string) => void;
  /** Of the node, beside what every node has. */
  readonly amounts?: Readonly<Record<string, string>>;
}

export class AgentWorld {
  readonly kernel: Kernel;
  readonly bed: TestBed;
  readonly machine: Process;
  readonly runtime: ScriptedRuntime;
  agent!: Agent;
  private readonly options: AgentOptions;
  private readonly firstRelistMicros: number;
  private awayUntilMicros = 0;
  private agentProcess: Process;

  /** What lies in the directory of manifests, by name; undefined: no such source. */
  readonly manifests: Map<string, string> | undefined;
  private readonly bugs: readonly AgentBugName[];
  private readonly more: WorldMore;
  /** Paths that agents have asked for. */
  readonly asked: string[] = [];
  /** Why agents could not go on. */
  readonly failures: string[] = [];

  constructor(options: Partial<AgentOptions> = {}, firstRelistMicros = 700_000, more: WorldMore = {}) {
    this.manifests = more.manifests;
    this.bugs = more.bugs ?? [];
    this.more = more;
    this.kernel = new Kernel({ seed: "agent", ...(more.caught === undefined ? {} : { caught: more.caught }) });
    this.machine = this.kernel.process("machine");
    this.agentProcess = this.kernel.process("agent-n1");
    this.bed = new TestBed({ profile: kubernetesProfile, controllers: noControllers }, this.kernel);
    this.runtime = this.kernel.enter(this.machine, () => new ScriptedRuntime(this.machine));
    const standard = defaultAgentOptions("n1");
    this.options = { ...standard, pods: { ...standard.pods, clusterDns: ["10.96.0.10"] }, ...options };
    this.firstRelistMicros = firstRelistMicros;
    this.boot();
  }

  private boot(): void {
    this.kernel.enter(this.agentProcess, () => {
      this.agent = new Agent(
        {
          process: this.agentProcess,
          dialect: kubernetesProfile.dialect,
          server: this.reachedBy(this.agentProcess),
          headers: { authorization: "Bearer admin", accept: "application/json" },
          runtime: this.more.around?.(this.runtime, this.machine) ?? this.runtime,
          bugs: agentBugsOn(this.bugs),
          ...(this.manifests === undefined ? {} : { readFiles: this.readFiles }),
          ...(this.more.credentials === undefined ? {} : { credentials: this.more.credentials }),
          nodeSide: plainNode(this.more.amounts ?? {}),
          fail: (why) => this.failures.push(why),
          firstRelistMicros: this.firstRelistMicros,
        },
        this.options,
      );
      this.agent.start();
    });
  }

  private readonly readFiles: FilesReader = (_path, done) => {
    const files = [...(this.manifests ?? [])].map(([name, text]) => ({
      name,
      content: new TextEncoder().encode(text),
    }));
    this.agentProcess.clock.after(1000, () => done({ is: "directory", files }));
  };

  /** The agent dies, and begins anew after a while; the server may not answer it before another while. */
  restart(afterSeconds: number, awaySeconds = 0, meanwhile: () => void = () => {}): void {
    this.agentProcess.crash();
    meanwhile();
    this.run(afterSeconds);
    this.agentProcess = this.kernel.process("agent-n1");
    this.awayUntilMicros = this.kernel.nowMicros() + awaySeconds * 1_000_000;
    this.boot();
  }

  /** While the server is away, what is asked is heard when it is back. */
  private reachedBy(process: Process): ApiHandler {
    return {
      start: (request, responder) => {
        this.asked.push(request.path);
        const refusal = this.more.refuses?.(request.path);
        if (refusal !== undefined) {
          return process.clock.after(0, () => responder.respond(refusal, {}, { object: {} } as Payload));
        }
        const waitMicros = this.awayUntilMicros - this.kernel.nowMicros();
        if (waitMicros <= 0) return this.bed.server.start(request, responder);
        let cancel = process.clock.after(waitMicros, () => (cancel = this.bed.server.start(request, responder)));
        return () => cancel();
      },
    };
  }

  /** As an event of the agent. */
  enter(work: () => void): void {
    this.kernel.enter(this.agentProcess, work);
  }

  run(seconds: number): void {
    this.kernel.run(this.kernel.nowMicros() + Math.round(seconds * 1_000_000));
  }

  create(name: string, spec: object, metadata: object = {}): JsonObject {
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name, ...metadata }, spec: { nodeName: "n1", ...spec } };
    const answer = this.bed.ask(`POST ${pods}`, { as: "admin", body });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body;
  }

  get(name: string): JsonObject {
    return this.bed.ask(`GET ${pods}/${name}`, { as: "admin" }).body;
  }

  status(name: string): Record<string, unknown> {
    return (this.get(name)["status"] ?? {}) as Record<string, unknown>;
  }

  events(name: string): readonly string[] {
    const list = this.bed.ask("GET /api/v1/namespaces/default/events", { as: "admin" }).body["items"] as JsonObject[];
    return list
      .filter((event) => metadataOf({ metadata: event["involvedObject"] ?? {} }).name === name)
      .map((event) => `${String(event["reason"])} ${String(event["message"])} ${String(event["count"])}`);
  }
}
