import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContainerConfig } from "../../../wire/cri-messages.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { SimulatedRuntime } from "../../runtime/runtime.ts";
import { defaultAgentOptions } from "../agent-options.ts";
import { AgentWorld, type WorldMore } from "../agent-world.fixture.ts";
import { type ServiceLinks, serviceLinks, type ServiceView } from "./service-variables.ts";

interface Described {
  readonly namespace: string;
  readonly name: string;
  readonly clusterIP?: string;
  readonly ports?: readonly object[];
}

/** Of these services, as `NAME=value`. */
const told = (services: readonly Described[], namespace: string, wantsLinks = true): readonly string[] =>
  linesOf(serviceLinks(viewOf(services.map(objectOf)), namespace, wantsLinks));

const linesOf = ({ list }: ServiceLinks): readonly string[] =>
  list.map(({ key = "", value = "" }) => `${key}=${value}`);

const objectOf = ({ name, namespace, clusterIP, ports }: Described): JsonObject =>
  ({ metadata: { name, namespace }, spec: { clusterIP, ports } }) as unknown as JsonObject;

const viewOf = (objects: readonly JsonObject[]): ServiceView => ({
  inNamespace: (wanted) => objects.filter((object) => metadataOf(object).namespace === wanted),
  named: (wanted, name) =>
    objects.find((object) => metadataOf(object).namespace === wanted && metadataOf(object).name === name),
});

const own: Described = {
  namespace: "default",
  name: "kubernetes",
  clusterIP: "10.0.0.1",
  ports: [{ name: "https", protocol: "TCP", port: 443 }],
};

/** As a live agent told them, but for their order. */
const recorded = [
  "KUBERNETES_SERVICE_HOST=10.0.0.1",
  "KUBERNETES_SERVICE_PORT=443",
  "KUBERNETES_SERVICE_PORT_HTTPS=443",
  "KUBERNETES_PORT=tcp://10.0.0.1:443",
  "KUBERNETES_PORT_443_TCP=tcp://10.0.0.1:443",
  "KUBERNETES_PORT_443_TCP_PROTO=tcp",
  "KUBERNETES_PORT_443_TCP_PORT=443",
  "KUBERNETES_PORT_443_TCP_ADDR=10.0.0.1",
];

describe("variables of services", () => {
  it("are those of the server's own service in every namespace", () => {
    expect(told([own], "default")).toEqual(recorded);
    expect(told([own], "other")).toEqual(recorded);
    expect(told([own], "other", false)).toEqual(recorded);
  });

  it("name services of the pod's namespace, with every port, and none without an address", () => {
    const services: Described[] = [
      own,
      {
        namespace: "shop",
        name: "cart-db",
        clusterIP: "fd00::7",
        ports: [
          { name: "sql", port: 5432 },
          { name: "dns-udp", protocol: "UDP", port: 53 },
        ],
      },
      { namespace: "shop", name: "headless", clusterIP: "None", ports: [{ port: 1 }] },
      { namespace: "shop", name: "elsewhere", ports: [] },
      { namespace: "default", name: "web", clusterIP: "10.0.0.9", ports: [{ port: 80 }] },
    ];
    expect(told(services, "shop")).toEqual([
      "CART_DB_SERVICE_HOST=fd00::7",
      "CART_DB_SERVICE_PORT=5432",
      "CART_DB_SERVICE_PORT_SQL=5432",
      "CART_DB_SERVICE_PORT_DNS_UDP=53",
      "CART_DB_PORT=tcp://[fd00::7]:5432",
      "CART_DB_PORT_5432_TCP=tcp://[fd00::7]:5432",
      "CART_DB_PORT_5432_TCP_PROTO=tcp",
      "CART_DB_PORT_5432_TCP_PORT=5432",
      "CART_DB_PORT_5432_TCP_ADDR=fd00::7",
      "CART_DB_PORT_53_UDP=udp://[fd00::7]:53",
      "CART_DB_PORT_53_UDP_PROTO=udp",
      "CART_DB_PORT_53_UDP_PORT=53",
      "CART_DB_PORT_53_UDP_ADDR=fd00::7",
      ...recorded,
    ]);
    expect(told(services, "shop", false)).toEqual(recorded);
  });

  it("are five and four a port, of as many services as there are, whatever their order", () => {
    const service = fc.record({ name: fc.stringMatching(/^[a-z]{1,6}$/), count: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(fc.uniqueArray(service, { selector: ({ name }) => name, maxLength: 6 }), (drawn) => {
        const services = drawn.map(({ name, count }) => ({
          namespace: "n",
          name,
          clusterIP: "10.0.0.3",
          ports: Array.from({ length: count }, (_, at) => ({ name: `p${at}`, port: at + 1 })),
        }));
        const lines = told(services, "n");
        expect(lines).toHaveLength(drawn.reduce((sum, { count }) => sum + 3 + 5 * count, 0));
        expect(told(services.toReversed(), "n")).toEqual(lines);
      }),
      { numRuns: 50, seed: 1 },
    );
  });
});

it("is one list for all who are told of the same services, until one of them is another", () => {
  const web: Described = { namespace: "default", name: "web", clusterIP: "10.0.0.9", ports: [{ port: 80 }] };
  const made = () => [own, web, { ...web, namespace: "shop" }].map(objectOf);
  const services = made();
  for (const namespace of ["default", "shop", "empty"]) {
    const links = serviceLinks(viewOf(services), namespace, true);
    expect(serviceLinks(viewOf(services.toReversed()), namespace, true)).toBe(links);
  }
  const links = serviceLinks(viewOf(services), "default", true);
  expect(serviceLinks(viewOf(services), "default", false)).not.toBe(links);
  for (const at of [0, 1]) {
    const changed = viewOf(services.with(at, made()[at] as JsonObject));
    expect(serviceLinks(changed, "default", true)).not.toBe(links);
    expect(linesOf(serviceLinks(changed, "default", true))).toEqual(linesOf(links));
  }
  expect(linesOf(serviceLinks(viewOf(services.slice(1)), "default", true))).toEqual(
    linesOf(links).filter((line) => line.startsWith("WEB_")),
  );
});

const container = (more: object = {}) => ({ name: "c", image: "serves:1", imagePullPolicy: "IfNotPresent", ...more });

function world(more: WorldMore = {}): AgentWorld {
  const { sources } = defaultAgentOptions("n1");
  const files = more.manifests === undefined ? {} : { sources: { ...sources, manifestPath: "/manifests" } };
  const made = new AgentWorld(files, 700_000, more);
  made.runtime.images.set("serves:1", { stopsAfterMicros: 500_000 });
  made.run(3);
  return made;
}

/** What the container of a pod was created with; undefined: it was not. */
function created(w: AgentWorld, pod: string): Readonly<Record<string, string>> | undefined {
  const calls = w.runtime.calls.filter(({ method }) => method === "CreateContainer");
  const messages = calls.map(({ message }) => message as { config: ContainerConfig });
  const last = messages.findLast(({ config: { labels = {} } }) => labels["io.kubernetes.pod.name"] === pod);
  if (last === undefined) return undefined;
  return Object.fromEntries([...(last.config.envs ?? [])].map(({ key = "", value = "" }) => [key, value]));
}

function service(w: AgentWorld, name: string, spec: object): void {
  const body = { apiVersion: "v1", kind: "Service", metadata: { name }, spec };
  const answer = w.bed.ask("POST /api/v1/namespaces/default/services", { as: "admin", body });
  if (answer.status !== 201) throw new Error(answer.text);
}

const askedForServices = (w: AgentWorld): number => w.asked.filter((path) => path === "/api/v1/services").length;

describe("an agent", () => {
  it("tells containers of the services that are there when they start, and follows them", () => {
    const w = world();
    service(w, "web", { clusterIP: "10.0.0.80", ports: [{ port: 80, name: "http" }] });
    w.create("a", { containers: [container({ env: [{ name: "URL", value: "http://$(WEB_SERVICE_HOST)" }] })] });
    w.run(5);
    expect(created(w, "a")).toMatchObject({
      URL: "http://10.0.0.80",
      WEB_SERVICE_PORT_HTTP: "80",
      KUBERNETES_SERVICE_HOST: "10.0.0.1",
    });
    service(w, "late", { clusterIP: "10.0.0.81", ports: [{ port: 81 }] });
    w.bed.ask("DELETE /api/v1/namespaces/default/services/web", { as: "admin" });
    w.run(1);
    w.create("b", { containers: [container()] });
    w.create("c", { containers: [container()], enableServiceLinks: false });
    w.run(5);
    expect(created(w, "b")).toMatchObject({ LATE_SERVICE_PORT: "81", KUBERNETES_PORT: "tcp://10.0.0.1:443" });
    expect(created(w, "b")).not.toHaveProperty("WEB_SERVICE_HOST");
    expect(created(w, "c")).not.toHaveProperty("LATE_SERVICE_PORT");
    expect(created(w, "c")).toHaveProperty("KUBERNETES_SERVICE_HOST");
  });

  it("lets what a pod says itself go before them", () => {
    const w = world();
    const env = [{ name: "KUBERNETES_SERVICE_HOST", value: "mine" }];
    w.create("a", { containers: [container({ env })] });
    w.run(5);
    expect(created(w, "a")?.["KUBERNETES_SERVICE_HOST"]).toBe("mine");
  });

  it("asks for services from its first pod on, and once", () => {
    const w = world();
    w.run(60);
    expect(askedForServices(w)).toBe(0);
    for (const name of ["a", "b", "c"]) w.create(name, { containers: [container()] });
    w.run(60);
    expect(askedForServices(w)).toBe(2); // a list, and the watch after it
  });

  it("waits for the first list before it starts a pod of the server's, and not for a static one", () => {
    let status: number | undefined = 403;
    const refuses = (path: string) => (path === "/api/v1/services" ? status : undefined);
    const text = JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "s" },
      spec: { containers: [container()] },
    });
    const w = world({ refuses, manifests: new Map([["s.yaml", text]]) });
    w.create("a", { containers: [container()] });
    w.run(20);
    expect(created(w, "a")).toBeUndefined();
    expect(w.status("a")["containerStatuses"]).toMatchObject([
      {
        state: {
          waiting: {
            reason: "CreateContainerConfigError",
            message: "services have not yet been read at least once, cannot construct envvars",
          },
        },
      },
    ]);
    expect(created(w, "s-n1")).toEqual({});
    status = undefined;
    w.run(60);
    expect(created(w, "a")).toHaveProperty("KUBERNETES_SERVICE_HOST");
    const missing = world({ refuses: (path) => (path === "/api/v1/services" ? 404 : undefined) });
    missing.create("a", { containers: [container()] });
    missing.run(5);
    expect(created(missing, "a"), "a server that has no services").toEqual({});
  });

  it("with the bug services-not-awaited starts pods that know no services", () => {
    const refuses = (path: string) => (path === "/api/v1/services" ? 503 : undefined);
    const w = world({ refuses, bugs: ["services-not-awaited"] });
    w.create("a", { containers: [container()] });
    w.run(5);
    expect(created(w, "a")).toEqual({});
  });

  it("shows them to what runs in a container", () => {
    const images = [{ name: "serves:1", present: true, shell: true }];
    let machine: SimulatedRuntime | undefined;
    const w = world({ around: (_inner, process) => (machine ??= new SimulatedRuntime(process, { images })) });
    const command = ["sh", "-c", 'echo "$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT" > /dev/termination-log'];
    w.create("a", { restartPolicy: "Never", containers: [container({ command })] });
    w.run(20);
    expect(w.status("a")["containerStatuses"]).toMatchObject([
      { state: { terminated: { message: "10.0.0.1:443\n" } } },
    ]);
  });
});
