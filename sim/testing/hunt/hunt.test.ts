/** The three ways to mislead a controller, each by a controller that falls for it, and what a hunt is told wrongly. */
import { describe, expect, it } from "vitest";
import { type Cluster, hunt, type HuntFailure, type HuntOptions, type Machine } from "../testing.ts";

const core = "/api/v1/namespaces/default";

interface Item {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

const failureOf = (options: HuntOptions): Promise<HuntFailure> =>
  hunt(options).then(
    () => expect.fail("nothing was found"),
    (error: unknown) => error as HuntFailure,
  );

async function items({ fetch, url }: Machine, path: string): Promise<readonly Item[]> {
  const response = await fetch(`${url}${core}/${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return ((await response.json()) as { items: readonly Item[] }).items;
}

async function send({ fetch, url }: Machine, method: string, path: string, body?: object): Promise<number> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": type } };
  return (await fetch(`${url}${core}/${path}`, { method, ...init })).status;
}

/** Looks every second, and tries again when something failed. */
async function everySecond(look: () => Promise<void>): Promise<void> {
  for (;;) {
    await look().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

const order = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { order: "yes" } } });

async function someOrders(cluster: Cluster): Promise<void> {
  await cluster.create([order("one")]);
  await cluster.advance("3s");
  await cluster.create([order("two")]);
  await cluster.advance("3s");
}

/** Makes one Secret for each order. With a name of its own for each attempt it makes two when it dies in between. */
const fulfilling = (nameOf: (order: string) => object) => (machine: Machine) =>
  everySecond(async () => {
    for (const { metadata } of await items(machine, "configmaps?labelSelector=order%3Dyes")) {
      if (metadata.annotations?.["done"] === "yes") continue;
      const { name } = metadata;
      const status = await send(machine, "POST", "secrets", {
        apiVersion: "v1",
        kind: "Secret",
        metadata: nameOf(name),
      });
      if (status !== 201 && status !== 409) throw new Error(`create: ${status}`);
      await send(machine, "PATCH", `configmaps/${name}`, { metadata: { annotations: { done: "yes" } } });
    }
  });

/** Removes Secrets that no ConfigMap asks for any more; it takes what a cache says for the truth, or asks the store. */
const tidying = (query: string) => (machine: Machine) =>
  everySecond(async () => {
    const wanted = new Set((await items(machine, `configmaps?${query}`)).map(({ metadata }) => metadata.name));
    for (const { metadata } of await items(machine, "secrets"))
      if (!wanted.has(metadata.name)) await send(machine, "DELETE", `secrets/${metadata.name}`);
    await send(machine, "PUT", "configmaps/tidied", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "tidied" },
    });
  });

async function pairs(cluster: Cluster): Promise<void> {
  for (const name of ["one", "two"]) {
    await cluster.create([order(name), { apiVersion: "v1", kind: "Secret", metadata: { name } }]);
    await cluster.advance("3s");
  }
}

describe("a controller that", () => {
  it("leaves its work half done when it dies is found, with the seed and the place", async () => {
    const failure = await failureOf({
      program: fulfilling((name) => ({ generateName: `${name}-` })),
      workload: someOrders,
      quiet: "10s",
    });
    expect(failure.finding).toEqual({
      kind: "end",
      expected: "there is Secret default/one-*",
      actual: "there are 2 of Secret default/one-*",
    });
    expect(failure.seed).toBeGreaterThan(0);
    expect(failure.faults[0]).toMatch(
      /^it dies after request \d+ \(POST \/api\/v1\/namespaces\/default\/secrets\) is done/,
    );
    expect(failure.message).toContain(`hunt({ ..., seeds: [${failure.seed}] })`);
    await hunt({ program: fulfilling((name) => ({ name })), workload: someOrders, seeds: 40, quiet: "10s" });
  });

  it("makes no request, or none that a fault could meet, is no hunt that passes", async () => {
    const idle = await failureOf({ program: async () => {}, workload: someOrders, seeds: 3, quiet: "10s" });
    expect(idle).toMatchObject({
      seed: 0,
      finding: { kind: "without faults", actual: expect.stringContaining("it makes none") },
    });
    const reading = async (machine: Machine): Promise<void> => void (await items(machine, "configmaps"));
    const options = { program: reading, workload: someOrders, seeds: 3, quiet: "10s" };
    const { finding } = await failureOf({ ...options, faults: ["conflict", "lost-answer"] });
    expect(finding).toMatchObject({
      expected: "one of the faults (conflict, lost-answer) has a place in what the program does",
      actual: "none has: requests 1, of them writes 0; events of watches 0",
    });
    await hunt(options);
  });

  it("takes a stale state for the truth is found, and one that asks the store is not", async () => {
    const check = async (cluster: Cluster): Promise<void> => {
      const deleted = cluster.writes({ kind: "Secret", type: "deleted" });
      if (deleted.length > 0) throw new Error(`Secret ${deleted[0]?.name} was removed although it is wanted`);
    };
    const options = { workload: pairs, check, faults: ["stale"] as const, quiet: "1m", seeds: 20 };
    const { finding, faults } = await failureOf({ ...options, program: tidying("resourceVersion=0") });
    expect(finding.actual).toContain("Secret two was removed");
    expect(faults[0]).toContain("caches stand still");
    await hunt({ ...options, program: tidying("") });
  });

  it("dies of an exception begins anew, and one that asks without a pause is found", async () => {
    const dying = async (machine: Machine): Promise<void> => {
      for (;;) {
        await fulfillOnce(machine);
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    };
    const fulfillOnce = async (machine: Machine): Promise<void> => {
      await items(machine, "configmaps"); // throws when it is refused
    };
    await hunt({ program: dying, workload: someOrders, faults: ["throttle"], seeds: 4, quiet: "10s" });
    const spinning = async (machine: Machine): Promise<void> => {
      for (;;)
        await items(machine, "configmaps").then(
          () => new Promise((resolve) => setTimeout(resolve, 1000)),
          async () => {
            for (;;) await items(machine, "configmaps").catch(() => undefined);
          },
        );
    };
    const failure = await failureOf({
      program: spinning,
      workload: someOrders,
      faults: ["throttle"],
      seeds: 4,
      cluster: { requestsPerInstantMax: 100 },
    });
    expect(failure.finding.actual).toContain("100 requests were made without any time passing");
  });

  it("writes what must never be is found by the first such write", async () => {
    const { finding, seed } = await failureOf({
      program: fulfilling((name) => ({ name })),
      workload: someOrders,
      eachWrite: ({ kind, name }) => {
        if (kind === "Secret" && name === "two") throw new Error("nobody may make this");
      },
      seeds: 1,
    });
    expect([seed, finding.actual]).toEqual([
      0,
      expect.stringMatching(/^created Secret default\/two at \d.* s: nobody may make this$/),
    ]);
  });
});

it("several faults at once are made fewer, and the same seed fails in the same way", async () => {
  const options: HuntOptions = {
    program: fulfilling((name) => ({ generateName: `${name}-` })),
    workload: someOrders,
    quiet: "1m",
    faults: ["crash", "throttle"],
  };
  const { singleCount } = await hunt({ ...options, sameEnd: false, seeds: 1 });
  const seeds = Array.from({ length: 30 }, (_, index) => singleCount + 1 + index);
  const failure = await failureOf({ ...options, seeds });
  expect(failure.seed).toBeGreaterThan(singleCount);
  expect(failure.faults).toHaveLength(1);
  const again = await failureOf({ ...options, seeds: [failure.seed] });
  expect(again.message).toBe(failure.message);
});

const right = { program: () => undefined, workload: async () => undefined };

it.each([
  [{ ...right, seeds: 0 }, /hunt: seeds is 0, and must be how many seeds/],
  [{ ...right, seeds: [] }, /hunt: seeds is \[\]/],
  [{ ...right, faults: ["crush"] }, /hunt: faults is \["crush"\], and must be a list of crash, /],
  [{ ...right, quite: "5m" }, /hunt has no option quite; did you mean quiet\?/],
  [{ ...right, quiet: "soon" }, /hunt: quiet is "soon", and must be a duration/],
  [{ program: right.program }, /hunt: workload is missing/],
  [{ ...right, cluster: { seed: "1" } }, /hunt: cluster.seed is the hunt's own/],
])("options that cannot be are refused: %j", async (options, message) => {
  await expect(hunt(options as never)).rejects.toThrow(message);
});
