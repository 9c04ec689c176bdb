/** What little a user has to write to make a cluster do much: each is bounded, told, and holds nobody up. */
import { describe, expect, it } from "vitest";
import { nodeFileSchema } from "../../scenarios/node-file.ts";
import { type ClientAnswer, ApiClient } from "../client/api-client.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import type { Pod } from "../control/shared/stored.ts";
import { Kernel } from "../kernel/kernel.ts";
import { Cluster } from "./cluster.ts";
import { addLiving } from "./living.ts";
import { nodesOf } from "./node-pools.ts";

const { dialect } = kubernetesProfile;
const core = "/api/v1/namespaces/default";
const many = <Item>(count: number, item: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => item(at));
const fields = <Value>(count: number, value: Value): Record<string, Value> =>
  Object.fromEntries(many(count, (at) => [`k${at}`, value]));

class Living {
  readonly kernel = new Kernel({ seed: "hostile" });
  private readonly user;
  constructor() {
    const cluster = new Cluster({ kernel: this.kernel });
    const tokens = [{ token: "admin", user: "admin", uid: "1", groups: ["system:masters"] }];
    cluster.addServer("apiserver", () => ({ tokens, profile: kubernetesProfile }));
    const pools = nodeFileSchema.parse({ pools: [{ name: "node", count: 1 }] }).pools;
    addLiving(cluster, { dialect, nodes: nodesOf(pools, dialect), hasRealRates: true });
    this.user = cluster.add("user", (process) => new ApiClient(process, cluster.api(process), "admin"));
    this.advance(5);
  }

  advance(seconds: number): void {
    this.kernel.run(this.kernel.nowMicros() + seconds * 1_000_000);
  }

  ask(method: string, path: string, body?: object, contentType?: string): JsonObject {
    let heard: ClientAnswer | undefined;
    const request = {
      method,
      path,
      ...(body === undefined ? {} : { body: body as JsonObject }),
      ...(contentType === undefined ? {} : { contentType }),
    };
    this.kernel.enter(this.user.process, () => this.user.made.call(request, 5_000_000, (answer) => (heard = answer)));
    for (let tries = 0; tries < 500 && heard === undefined; tries++) this.advance(0.01);
    if (heard?.ok !== true || heard.status >= 300)
      throw new Error(`${method} ${path}: ${heard?.ok === true ? JSON.stringify(heard.object) : "no answer"}`);
    return heard.object ?? {};
  }

  /** What becomes of a pod: the state of its container. */
  played(container: object, spec: object = {}, metadata: object = {}): object | undefined {
    const body = {
      metadata: { name: "p", ...metadata },
      spec: { containers: [{ name: "c", image: "i", ...container }], ...spec },
    };
    this.ask("POST", `${core}/pods`, body);
    this.advance(20);
    const { status } = this.ask("GET", `${core}/pods/p`) as unknown as Pod;
    return status?.containerStatuses?.[0]?.state;
  }

  reasons(): readonly string[] {
    const { items } = this.ask("GET", `${core}/events`) as unknown as { items: { reason: string; message: string }[] };
    return items.map(({ reason, message }) => `${reason}: ${message}`);
  }
}

const refused = {
  waiting: { reason: "CreateContainerError", message: expect.stringContaining("argument list too long") },
};

describe("words and variables of a process", () => {
  it("that double what the one before says", () => {
    const env = many(60, (at) => ({
      name: `A${at}`,
      value: at === 0 ? "x".repeat(100) : `$(A${at - 1})$(A${at - 1})`,
    }));
    expect(new Living().played({ env })).toEqual(refused);
  });

  it("that name a long one a thousand times", () => {
    const env = [{ name: "A", value: "x".repeat(100_000) }];
    expect(new Living().played({ env, args: many(100, () => "$(A)".repeat(1_000)) })).toEqual(refused);
    expect(new Living().played({ env: [...env, { name: "B", value: "$(A)".repeat(1_000) }] })).toEqual(refused);
  });

  it("that take a large config map under many prefixes", () => {
    const living = new Living();
    living.ask("POST", `${core}/configmaps`, { metadata: { name: "large" }, data: fields(20_000, "v") });
    const envFrom = many(200, (at) => ({ prefix: `P${at}`, configMapRef: { name: "large" } }));
    expect(living.played({ envFrom })).toEqual(refused);
  });

  it("that name all annotations again and again", () => {
    const env = many(100, (at) => ({
      name: `E${at}`,
      valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a']" } },
    }));
    expect(new Living().played({ env }, {}, { annotations: { a: "x".repeat(100_000) } })).toEqual(refused);
  });

  it("are taken as they are when a config map is named often, since it is the same again", () => {
    const living = new Living();
    living.ask("POST", `${core}/configmaps`, { metadata: { name: "large" }, data: fields(20_000, "v") });
    const envFrom = many(50, () => ({ configMapRef: { name: "large" } }));
    expect(living.played({ envFrom })).toHaveProperty("running");
  });
});

describe("volumes made of objects", () => {
  const mounted = (volume: object) => ({
    container: { volumeMounts: [{ name: "v", mountPath: "/v" }] },
    spec: { volumes: [{ name: "v", ...volume }] },
  });
  const tooLarge = expect.stringMatching(/^FailedMount: .*made of objects hold more than 67108864 bytes$/);

  it("that say the same long annotation thousands of times", () => {
    const items = many(3_000, (at) => ({ path: `f${at}`, fieldRef: { fieldPath: "metadata.annotations['a']" } }));
    const { container, spec } = mounted({ downwardAPI: { items } });
    const living = new Living();
    living.played(container, spec, { annotations: { a: "x".repeat(100_000) } });
    expect(living.reasons()).toContainEqual(tooLarge);
  });

  it("are counted together", () => {
    const living = new Living();
    living.ask("POST", `${core}/configmaps`, { metadata: { name: "large" }, data: { k: "x".repeat(900_000) } });
    const volumes = many(80, (at) => ({ name: `v${at}`, configMap: { name: "large" } }));
    living.played({ volumeMounts: [{ name: "v0", mountPath: "/v" }] }, { volumes });
    expect(living.reasons()).toContainEqual(tooLarge);
  });

  it("are read in turns, whatever is projected into them", () => {
    const living = new Living();
    living.ask("POST", `${core}/configmaps`, { metadata: { name: "large" }, data: fields(5_000, "v") });
    const { container, spec } = mounted({
      projected: { sources: many(100, () => ({ configMap: { name: "large" } })) },
    });
    expect(living.played(container, spec)).toHaveProperty("running");
  });
});

describe("what controllers and the scheduler read", () => {
  it("a job that wants two thousand million pods gets them by and by", () => {
    const living = new Living();
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const spec = { parallelism: 2_147_483_647, completions: 2_147_483_647, completionMode: "NonIndexed", template };
    living.ask("POST", "/apis/batch/v1/namespaces/default/jobs", { metadata: { name: "j" }, spec });
    living.advance(10);
    const { items } = living.ask("GET", `${core}/pods`) as unknown as { items: object[] };
    expect(items.length).toBeGreaterThan(100);
  });

  it("a node with thousands of taints, and a pod that tolerates all of them", () => {
    const living = new Living();
    const { items } = living.ask("GET", "/api/v1/nodes") as unknown as { items: { metadata: { name: string } }[] };
    const path = `/api/v1/nodes/${items[0]?.metadata.name}`;
    const keys = many(15_000, (at) => `k${at}`);
    const taints = keys.map((key) => ({ key, effect: "NoSchedule" }));
    living.ask("PATCH", path, { spec: { taints } }, "application/merge-patch+json");
    const tolerations = keys.map((key) => ({ key, operator: "Exists" }));
    expect(living.played({}, { tolerations })).toHaveProperty("running");
  });

  it("a pod of which somebody else says twenty thousand conditions", () => {
    const living = new Living();
    const path = `${core}/pods/p`;
    living.played({});
    const conditions = many(20_000, (at) => ({ type: `example.com/c${at}`, status: "True" }));
    living.ask("PATCH", `${path}/status`, { status: { conditions } }, "application/strategic-merge-patch+json");
    const metadata = { labels: { a: "b" } };
    living.ask("PATCH", path, { metadata }, "application/merge-patch+json");
    living.ask("PATCH", `${path}/status`, { status: { phase: "Pending" } }, "application/merge-patch+json");
    living.advance(20);
    const { status } = living.ask("GET", path) as unknown as Pod;
    expect(status?.phase).toBe("Running"); // told again
    expect(status?.conditions).toHaveLength(20_005);
  });

  it("a pod that wants twenty thousand things that no node has", () => {
    const living = new Living();
    const requests = Object.fromEntries(many(20_000, (at) => [`example.com/r${at}`, "1"]));
    expect(living.played({ resources: { requests, limits: requests } })).toBeUndefined();
    expect(living.reasons()).toContainEqual(expect.stringContaining("Insufficient example.com/r0"));
  });
});
