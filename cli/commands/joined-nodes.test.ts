import { describe, expect, it } from "vitest";
import { mebibyte } from "../../conformance/arbitraries/node-scenarios.ts";
import { Client } from "../../conformance/client/client.ts";
import { Recorder } from "../../conformance/client/recorder.ts";
import { type ApiObject, type JsonObject, objectsIn } from "../../conformance/client/types.ts";
import { traitsOf } from "../../conformance/model/eviction/observed.ts";
import { runSuite } from "../../conformance/run-suite.ts";
import {
  type EvictorFault,
  NaiveEvictor,
  type Runner,
  runnerOf,
} from "../../conformance/testing/naive-evictor.fixture.ts";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";
import { type GuestBook, noting } from "./good-guest.fixture.ts";
import { dialects } from "../../wire/dialect.ts";
import type { JoinedNode, NodeDeclaration, NodeHost, PodUsage } from "../../wire/node-host.ts";
import type { SuiteClock, Transport } from "../../wire/ports.ts";

/** The port's two sides meet over the embedded server: the suite's, and a naive agent that only speaks to the API. */
describe.each(["svc", "kubernetes"] as const)("nodes joined to the embedded server, %s", (profile) => {
  it("are judged in every requirement of evictions, and are its own alone, as all else that the suite changes", async () => {
    const book: GuestBook = { asked: 0, others: new Set() };
    const around = (transport: Transport): Transport =>
      noting(book, "joined-nodes-evict-lawfully", "joined", transport);
    const report = await judge(profile, undefined, around);
    const wrong = report.requirements.filter(({ outcome }) => outcome.status !== "passed");
    expect(wrong.map(({ id, outcome }) => `${id}: ${JSON.stringify(outcome)}`)).toEqual([]);
    expect(report.leftovers).toEqual([]);
    expect([...book.others]).toEqual([]);
    expect(book.asked).toBeGreaterThan(20);
  }, 120_000);

  it.each<[fault: EvictorFault, requirement: string]>([
    ["drops conditions at once", "transition"],
    ["reclaims no minimum", "minimum-reclaim"],
    ["gives another reason", "status"],
  ])(
    "show an agent that %s",
    async (fault, requirement) => {
      const { failure } = (await judge(profile, fault)).checks[0] ?? {};
      expect(failure?.requirement).toBe(`agent-eviction.${requirement}`);
    },
    120_000,
  );
});

/** `around`: what the suite itself asks goes through it; the naive agent's requests do not. */
function judge(
  profile: "svc" | "kubernetes",
  fault?: EvictorFault,
  around = (transport: Transport): Transport => transport,
): Promise<SuiteReport> {
  return withEmbeddedServer({ seed: "joined-nodes", profile: profiles[profile] }, (ports) =>
    runSuite({
      ...ports,
      transport: around(ports.transport),
      runId: "joined",
      profile,
      targetKind: "embedded",
      only: ["joined-nodes-evict-lawfully"],
      runs: 2,
      nodes: naiveHost(ports, profile, fault),
    }),
  );
}

function naiveHost(
  { transport, clock }: { readonly transport: Transport; readonly clock: SuiteClock },
  profile: "svc" | "kubernetes",
  fault: EvictorFault | undefined,
): NodeHost {
  const client = new Client(transport, clock, new Recorder(clock), "naive-agent/1");
  return {
    async join(declaration) {
      const agent = new NaiveAgent(client, declaration, profile, fault);
      await agent.register();
      return agent;
    },
    async close() {},
  };
}

const merge = "application/merge-patch+json";

/** Every second: pods of the node are learned, the evictor plays it, and what changed is written. */
class NaiveAgent implements JoinedNode {
  readonly name: string;
  private readonly client: Client;
  private readonly declaration: NodeDeclaration;
  private readonly profile: "svc" | "kubernetes";
  private readonly evictor: NaiveEvictor;
  private readonly usages = new Map<string, PodUsage | undefined>();
  private readonly written = new Map<string, string>();
  private readonly startMillis: number;
  private seconds = 0;
  private left = false;

  constructor(
    client: Client,
    declaration: NodeDeclaration,
    profile: "svc" | "kubernetes",
    fault: EvictorFault | undefined,
  ) {
    this.name = declaration.name;
    this.client = client;
    this.declaration = declaration;
    this.profile = profile;
    this.evictor = new NaiveEvictor(declaration, fault);
    this.evictor.use(declaration.usage);
    this.startMillis = client.clock.nowMillis();
  }

  async register(): Promise<void> {
    const { name, labels, taints } = this.declaration;
    const body = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels },
      spec: { taints },
    } as unknown as JsonObject;
    const answer = await this.client.request("POST", "/api/v1/nodes", { body });
    if (answer.status !== 201) throw new Error(answer.text);
    void this.live();
  }

  use(usage: Parameters<JoinedNode["use"]>[0]): void {
    this.evictor.use(usage);
  }

  usePod(pod: string, usage: PodUsage | undefined): void {
    this.usages.set(pod, usage);
  }

  readings(): ReturnType<JoinedNode["readings"]> {
    return this.evictor.readings.map((at) => ({
      ...at,
      atMillis: at.atMillis + this.startMillis,
      takenMillis: at.takenMillis + this.startMillis,
    }));
  }

  restart(away: () => Promise<void>): Promise<void> {
    return away();
  }

  async leave(): Promise<void> {
    this.left = true;
    await this.client.request("DELETE", `/api/v1/nodes/${this.name}`);
  }

  private async live(): Promise<void> {
    while (!this.left) {
      await this.learnPods();
      this.evictor.tick(this.seconds * 1000);
      await this.writeNode();
      for (const runner of this.evictor.runners) await this.writePod(runner);
      this.seconds += 1;
      await this.client.clock.sleep(
        Math.max(1, this.startMillis + this.seconds * 1000 - this.client.clock.nowMillis()),
      );
    }
  }

  private async learnPods(): Promise<void> {
    const query = { fieldSelector: `spec.nodeName=${this.name}` };
    const list = await this.client.request("GET", "/api/v1/pods", { query });
    for (const pod of objectsIn(list.json, "items") as unknown as ApiObject[]) {
      const { name, priority, requests, graceSeconds } = traitsOf(pod, dialects[this.profile]);
      if (this.evictor.runners.some((runner) => runner.pod.name === name)) continue;
      const requested = { memoryMi: requests.memoryBytes / mebibyte, diskMi: requests.diskBytes / mebibyte };
      const startMillis = this.seconds * 1000;
      const usage = this.usages.get(name);
      this.evictor.runners.push(
        runnerOf({ name, priority, static: false, requests: requested, graceSeconds, startMillis, usage }),
      );
    }
  }

  private async writeNode(): Promise<void> {
    const { conditions, taints } = this.evictor.sighting(0);
    const status = { conditions: Object.entries(conditions).map(([type, value]) => ({ type, status: value })) };
    await this.write(`/api/v1/nodes/${this.name}/status`, { status });
    const label = dialects[this.profile].labelSuffix;
    const keys = { MemoryPressure: "memory-pressure", DiskPressure: "disk-pressure", PIDPressure: "pid-pressure" };
    const pressure = [...taints].map((type) => ({ key: `node.${label}/${keys[type]}`, effect: "NoSchedule" }));
    const spec = { taints: [...this.declaration.taints, ...pressure] } as unknown as JsonObject;
    await this.write(`/api/v1/nodes/${this.name}`, { spec });
  }

  private async writePod({ pod, statuses, eviction }: Runner): Promise<void> {
    const [namespace, name] = pod.name.split("/");
    const { phase, reason } = statuses.at(-1) ?? { phase: "Pending", reason: "" };
    const disrupted = eviction?.disruptionTarget;
    const conditions = disrupted === undefined ? [] : [{ type: "DisruptionTarget", ...disrupted }];
    const status = { phase, reason, message: eviction?.message ?? "", conditions };
    await this.write(`/api/v1/namespaces/${namespace}/pods/${name}/status`, { status });
  }

  private async write(path: string, body: JsonObject): Promise<void> {
    const text = JSON.stringify(body);
    if (this.written.get(path) === text) return;
    this.written.set(path, text);
    const answer = await this.client.request("PATCH", path, { body, contentType: merge });
    if (answer.status !== 200 && answer.status !== 404) throw new Error(`${path}: ${answer.text}`);
  }
}
