/** What little a user has to write to make a cluster do much: each is bounded, told, and holds nobody up. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import type { Pod } from "../control/shared/stored.ts";
import { core, Living } from "./living.fixture.ts";

const many = <Item>(count: number, item: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => item(at));
const fields = <Value>(count: number, value: Value): Record<string, Value> =>
  Object.fromEntries(many(count, (at) => [`k${at}`, value]));
const jobs = "/apis/batch/v1/namespaces/default/jobs";

class Hostile extends Living {
  constructor() {
    super({ pools: [{ name: "node", count: 1 }] });
  }

  /** What is answered to a request that must be taken. */
  take(method: string, path: string, body?: object, contentType?: string): JsonObject {
    const { status, object } = this.ask(method, path, body, contentType);
    if (status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(object)}`);
    return object ?? {};
  }

  /** A config map `large` of so many keys, or of one long value. */
  configMap(data: Record<string, string>): void {
    this.take("POST", `${core}/configmaps`, { metadata: { name: "large" }, data });
  }

  /** What becomes of a pod: the state of its container. */
  played(container: object, spec: object = {}, metadata: object = {}): object | undefined {
    const containers = [{ name: "c", image: "i", ...container }];
    this.take("POST", `${core}/pods`, { metadata: { name: "p", ...metadata }, spec: { containers, ...spec } });
    this.advance(20);
    return this.statusOf("p").containerStatuses?.[0]?.state;
  }

  reasons(): readonly string[] {
    const { items } = this.take("GET", `${core}/events`) as unknown as { items: { reason: string; message: string }[] };
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
    expect(new Hostile().played({ env })).toEqual(refused);
  });

  it("that name a long one a thousand times", () => {
    const env = [{ name: "A", value: "x".repeat(100_000) }];
    expect(new Hostile().played({ env, args: many(100, () => "$(A)".repeat(1_000)) })).toEqual(refused);
    expect(new Hostile().played({ env: [...env, { name: "B", value: "$(A)".repeat(1_000) }] })).toEqual(refused);
  });

  it("that take a large config map under many prefixes", () => {
    const living = new Hostile();
    living.configMap(fields(20_000, "v"));
    const envFrom = many(200, (at) => ({ prefix: `P${at}`, configMapRef: { name: "large" } }));
    expect(living.played({ envFrom })).toEqual(refused);
  });

  it("that name all annotations again and again", () => {
    const env = many(100, (at) => ({
      name: `E${at}`,
      valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a']" } },
    }));
    expect(new Hostile().played({ env }, {}, { annotations: { a: "x".repeat(100_000) } })).toEqual(refused);
  });

  it("that tell of twelve thousand ports of services, unless the pod wants to know of none", () => {
    const living = new Hostile();
    const ports = many(120, (at) => ({ name: `p${at}`, port: 1_000 + at }));
    for (const name of many(100, (at) => `service-${at}`)) {
      living.take("POST", `${core}/services`, { metadata: { name }, spec: { ports } });
    }
    expect(living.played({})).toEqual(refused);
    const spec = { containers: [{ name: "c", image: "i" }], enableServiceLinks: false };
    living.take("POST", `${core}/pods`, { metadata: { name: "q" }, spec });
    living.advance(20);
    expect(living.statusOf("q").containerStatuses?.[0]?.state).toHaveProperty("running");
  });

  it("are taken as they are when a config map is named often, since it is the same again", () => {
    const living = new Hostile();
    living.configMap(fields(20_000, "v"));
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
    const living = new Hostile();
    living.played(container, spec, { annotations: { a: "x".repeat(100_000) } });
    expect(living.reasons()).toContainEqual(tooLarge);
  });

  it("are counted together", () => {
    const living = new Hostile();
    living.configMap({ k: "x".repeat(900_000) });
    const volumes = many(80, (at) => ({ name: `v${at}`, configMap: { name: "large" } }));
    living.played({ volumeMounts: [{ name: "v0", mountPath: "/v" }] }, { volumes });
    expect(living.reasons()).toContainEqual(tooLarge);
  });
});

describe("what controllers and the scheduler read", () => {
  it("a job that wants two thousand million pods gets them by and by", () => {
    const living = new Hostile();
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const spec = { parallelism: 2_147_483_647, completions: 2_147_483_647, completionMode: "NonIndexed", template };
    living.take("POST", jobs, { metadata: { name: "j" }, spec });
    living.advance(10);
    const { items } = living.take("GET", `${core}/pods`) as unknown as { items: object[] };
    expect(items.length).toBeGreaterThan(100);
  });

  it("a node with thousands of taints, and a pod that tolerates all of them", () => {
    const living = new Hostile();
    const { items } = living.take("GET", "/api/v1/nodes") as unknown as { items: { metadata: { name: string } }[] };
    const path = `/api/v1/nodes/${items[0]?.metadata.name}`;
    const keys = many(15_000, (at) => `k${at}`);
    const taints = keys.map((key) => ({ key, effect: "NoSchedule" }));
    living.take("PATCH", path, { spec: { taints } }, "application/merge-patch+json");
    const tolerations = keys.map((key) => ({ key, operator: "Exists" }));
    expect(living.played({}, { tolerations })).toHaveProperty("running");
  });

  it("a pod of which somebody else says nineteen thousand conditions", () => {
    const living = new Hostile();
    const path = `${core}/pods/p`;
    living.played({});
    const conditions = many(19_000, (at) => ({ type: `example.com/c${at}`, status: "True" }));
    living.take("PATCH", `${path}/status`, { status: { conditions } }, "application/strategic-merge-patch+json");
    const metadata = { labels: { a: "b" } };
    living.take("PATCH", path, { metadata }, "application/merge-patch+json");
    living.take("PATCH", `${path}/status`, { status: { phase: "Pending" } }, "application/merge-patch+json");
    living.advance(20);
    const { status } = living.take("GET", path) as unknown as Pod;
    expect(status?.phase).toBe("Running"); // told again
    expect(status?.conditions).toHaveLength(19_005);
  });

  it("a pod that wants twenty thousand things that no node has", () => {
    const living = new Hostile();
    const requests = Object.fromEntries(many(20_000, (at) => [`example.com/r${at}`, "1"]));
    expect(living.played({ resources: { requests, limits: requests } })).toBeUndefined();
    expect(living.reasons()).toContainEqual(expect.stringContaining("Insufficient example.com/r0"));
  });
});
