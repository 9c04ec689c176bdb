/** A hunt of controllers on `@kubernetes/client-node`, unmodified: one that trusts each callback, and one that looks again. */
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { type Cluster, hunt, HuntFailure, type Machine } from "../testing.ts";

const namespace = "default";
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const labels = { copied: "yes" };

/** What is to be copied comes, and goes. */
async function workload(cluster: Cluster): Promise<void> {
  await cluster.create("{ apiVersion: v1, kind: ConfigMap, metadata: { name: one, labels: { copy: me } } }");
  await cluster.advance("5s");
  await cluster.direct(`${cluster.url}${configMaps}/one`, { method: "DELETE" });
  await cluster.advance("5s");
}

/** A client whose every request is the program's own: it dies with it. */
function clientOf({ url, token, dispatcher }: Machine) {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: "simulated", server: url, skipTLSVerify: true }, { name: "test", token });
  Object.assign(config, { createDispatcher: () => dispatcher });
  const api = config.makeApiClient(CoreV1Api);
  const list = () => api.listNamespacedConfigMap({ namespace, labelSelector: "copy" });
  const informer = makeInformer(config, configMaps, list, "copy");
  const start = (): void => void informer.start().catch(() => undefined);
  informer.on("error", () => setTimeout(start, 1000));
  start();
  const add = async (name: string): Promise<void> =>
    void (await api.createNamespacedSecret({ namespace, body: { metadata: { name, labels } } }));
  const remove = async (name: string): Promise<void> => void (await api.deleteNamespacedSecret({ namespace, name }));
  const copies = async (): Promise<string[]> =>
    (await api.listNamespacedSecret({ namespace, labelSelector: "copied" })).items.map(
      ({ metadata }) => metadata?.name ?? "",
    );
  return { informer, add, remove, copies };
}

/** The mistake: a write that fails is never tried again, and a deletion while it was dead is never heard of. */
async function trusting(machine: Machine): Promise<void> {
  const { informer, add, remove } = clientOf(machine);
  informer.on("add", ({ metadata }) => void add(metadata?.name ?? "").catch(() => undefined));
  informer.on("delete", ({ metadata }) => void remove(metadata?.name ?? "").catch(() => undefined));
  await new Promise(() => undefined);
}

async function looking(machine: Machine): Promise<void> {
  const { informer, add, remove, copies } = clientOf(machine);
  for (;;) {
    try {
      const wanted = new Set(informer.list(namespace).map(({ metadata }) => metadata?.name ?? ""));
      const there = new Set(await copies());
      for (const name of wanted) if (!there.has(name)) await add(name);
      for (const name of there) if (!wanted.has(name)) await remove(name);
    } catch {
      // Once more, in a second.
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

describe("a hunt of a controller on @kubernetes/client-node", () => {
  it("finds nothing in one that looks again", { timeout: 240_000 }, async () => {
    const { played, byPattern } = await hunt({ program: looking, workload, quiet: "1m", seeds: 20 });
    expect(played).toBe(20);
    expect(Object.keys(byPattern)).toEqual(expect.arrayContaining(["crash", "throttle"]));
  });

  it("finds the one that trusts each callback, and prints the seed", { timeout: 240_000 }, async () => {
    const failure = await hunt({ program: trusting, workload, quiet: "1m" }).then(
      () => expect.fail("nothing was found"),
      (error: unknown) => error as HuntFailure,
    );
    expect(failure).toBeInstanceOf(HuntFailure);
    expect(failure.message).toMatch(/^seed \d+: the program breaks what must hold\n {2}expected .*Secret default\/one/);
  });
});
