/**
 * Plays a recorded pod scenario on a simulated node, and writes down what could be seen of it, in the recording's form.
 * What the recording does not tell (when the agent's ticks fell) is fitted by the caller.
 */
import { defaultAgentOptions } from "../agent-options.ts";
import { Agent } from "../agent.ts";
import { agentNode } from "../node/agent-node.fixture.ts";
import { TestBed } from "../../apiserver/test-bed.fixture.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { noControllers } from "../../control/controllers.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { SimulatedRuntime } from "../../runtime/runtime.ts";
import type { FilesRead } from "../sources/file-source.ts";
import { box, CallRows, eventText, recordedPod, type Scenario, type Seen, statusText } from "./observed.fixture.ts";

export interface History {
  readonly statuses: readonly Seen[];
  readonly events: readonly Seen[];
  readonly calls: readonly Seen[];
}

const pods = "/api/v1/namespaces/default/pods";
/** The recorded node. */
const options = { ...defaultAgentOptions("n1"), eviction: {} };

type Action = (world: World, at: number) => void;

const remove: Action = (world) => world.ask("DELETE", `${pods}/${world.pod}`, {});
const force: Action = (world) => world.ask("DELETE", `${pods}/${world.pod}`, { gracePeriodSeconds: 0 });

/** What the driver did at a scenario's steps; where it is not named, it deleted the pod. */
const actions: Readonly<Record<string, readonly Action[]>> = {
  "configmap-missing": [
    (world) =>
      world.ask("POST", "/api/v1/namespaces/default/configmaps", {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "late" },
        data: { k: "v" },
      }),
  ],
  "deleted-by-force": [force],
  "image-changes": [
    (world) =>
      world.ask("PATCH", `${pods}/${world.pod}`, { spec: { containers: [{ name: "c", image: "local/pause:1" }] } }),
  ],
  "static-pod": [remove, (world) => world.write("changed"), (world) => world.write(undefined)],
};

/** `phase` is where within the second the agent looks at its runtime; `seed` draws its jitter. */
export function play(scenario: Scenario, untilSeconds: number, phase: number, seed: string): History {
  const world = new World(scenario, phase, seed);
  world.begin();
  scenario.steps.forEach((at, index) => {
    world.runTo(at);
    (actions[scenario.name]?.[index] ?? remove)(world, at);
  });
  world.runTo(untilSeconds);
  return world.history();
}

class World {
  pod: string;
  private readonly kernel: Kernel;
  private readonly bed: TestBed;
  private readonly scenario: Scenario;
  private readonly calls = new CallRows(() => (this.began === 0 ? undefined : this.at()));
  private readonly statuses: Seen[] = [];
  private readonly events: Seen[] = [];
  private files: readonly { readonly name: string; readonly content: Uint8Array }[] = [];
  private began = 0;

  constructor(scenario: Scenario, phase: number, seed: string) {
    this.scenario = scenario;
    this.kernel = new Kernel({ seed });
    this.bed = new TestBed({ profile: kubernetesProfile, controllers: noControllers }, this.kernel);
    const isStatic = scenario.name.startsWith("static");
    this.pod = isStatic ? `${scenario.name}-n1` : scenario.name;
    const machine = this.kernel.process("machine");
    const process = this.kernel.process("agent-n1");
    const images = [
      { name: box, present: true, shell: true, sizeBytes: 1_997_430 },
      { name: "docker.io/local/pause:1", present: true, shell: true, sizeBytes: 1_997_433 },
      {
        name: "127.0.0.1:1/none:1",
        pullError:
          'failed to do request: Head "http://127.0.0.1:1/v2/none/manifests/1": dial tcp 127.0.0.1:1: connect: connection refused',
      },
    ];
    const runtime = this.kernel.enter(
      machine,
      () => new SimulatedRuntime(machine, { images, machine: { milliCpu: 2000 } }),
    );
    const watched = this.calls.watched(runtime);
    this.kernel.enter(process, () => {
      const agent = new Agent(
        {
          process,
          dialect: kubernetesProfile.dialect,
          server: this.bed.server,
          headers: { authorization: "Bearer admin", accept: "application/json" },
          runtime: watched,
          firstRelistMicros: Math.round(phase * 1_000_000),
          readFiles: (_path, done) => process.clock.after(0, () => done(this.read())),
          nodeSide: agentNode(watched),
        },
        isStatic
          ? { ...options, sources: { ...options.sources, manifestPath: "/manifests", fileCheckMicros: 400_000 } }
          : options,
      );
      agent.start();
    });
  }

  begin(): void {
    this.kernel.run(70_000_000);
    this.began = this.kernel.nowMicros();
    this.watch();
    if (this.scenario.name.startsWith("static")) this.write("first");
    else this.ask("POST", pods, recordedPod(this.scenario));
  }

  runTo(seconds: number): void {
    this.kernel.run(this.began + Math.round(seconds * 1_000_000));
  }

  ask(method: string, path: string, body: object): void {
    const headers = method === "PATCH" ? { "content-type": "application/strategic-merge-patch+json" } : {};
    const answer = this.bed.ask(`${method} ${path}`, { as: "admin", body, headers });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  }

  /** The manifest of a static pod; another text is another pod. */
  write(text: string | undefined): void {
    if (text === undefined) {
      this.files = [];
      return;
    }
    const object = recordedPod(this.scenario);
    const content = JSON.stringify({ ...object, metadata: { ...(object["metadata"] as object), labels: { text } } });
    this.files = [{ name: "static-pod.yaml", content: new TextEncoder().encode(content) }];
  }

  history(): History {
    return { statuses: this.statuses, events: this.events, calls: this.calls.rows };
  }

  private read(): FilesRead {
    return { is: "directory", files: this.files };
  }

  private at(): number {
    return Math.round((this.kernel.nowMicros() - this.began) / 100_000) / 10;
  }

  private watch(): void {
    const start = (path: string, hear: (type: string, object: JsonObject) => void): void => {
      this.kernel.enter(this.bed.process, () =>
        this.bed.server.start(
          {
            method: "GET",
            path,
            query: "watch=true",
            headers: { authorization: "Bearer admin", accept: "application/json" },
          },
          {
            respond: () => {},
            open: () => {},
            frame: ({ object }) => {
              hear(object?.["type"] as string, object?.["object"] as JsonObject);
              return 0;
            },
            close: () => {},
          },
        ),
      );
    };
    start(pods, (type, object) => {
      const text = statusText(type, object, this.pod === this.scenario.name ? "" : this.pod);
      // A change that shows nothing new is none.
      if (type === "MODIFIED" && this.statuses.at(-1)?.text.replace(/^\w+/, "") === text.replace(/^\w+/, "")) return;
      this.statuses.push({ at: this.at(), text });
    });
    start("/api/v1/namespaces/default/events", (type, object) => {
      const about = (object["involvedObject"] as JsonObject)["kind"];
      if (type !== "DELETED" && about === "Pod") this.events.push({ at: this.at(), text: eventText(object) });
    });
  }
}
