/** `@kubernetes/client-node`, unmodified, against `serve` on a real socket, through a proxy that can be cut. */
import { writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import {
  type Cluster,
  CoreV1Api,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
  Watch,
} from "@kubernetes/client-node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { cleanUp, type Running, scratch, start } from "../spawned-command.fixture.ts";

const namespace = "default";
const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? "";

/** Passes connections on to a port, until it is told to cut them and to take no more. */
class Proxy {
  #open = true;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(target: number) {
    this.#server = createServer((from) => {
      if (!this.#open) {
        from.destroy();
        return;
      }
      const to = connect(target, "127.0.0.1");
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        this.#sockets.add(one);
        one.pipe(other);
        one.on("error", () => other.destroy()).on("close", () => other.destroy());
      }
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#open = false;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  mend(): void {
    this.#open = true;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

afterAll(cleanUp);

// Where a watch from a version that is no longer kept is refused: by an answer, and by an event in the stream.
describe.each([
  ["in the clear", "kubernetes", "events", []],
  ["under TLS", "svc", "configmaps", ["--tls"]],
] as const)("@kubernetes/client-node %s, profile %s, %s", (_, profile, resource, flags) => {
  let server: Running;
  let url = "";
  let certificate = "";
  let proxy: Proxy;
  let config: KubeConfig;
  let stop: () => Promise<void> = async () => {};

  beforeAll(async () => {
    const tokens = join(scratch, `${profile}.csv`);
    writeFileSync(tokens, 'secret,test,test,"system:masters"\n');
    const options = ["--profile", profile, "--token-auth-file", tokens, "--history-window", "6s"];
    server = start("serve", "--port", "0", ...options, ...flags);
    server.child.stderr?.on("data", (chunk: Buffer) => (certificate += chunk.toString()));
    url = (await server.firstLine).replace("serving on ", "");
    proxy = new Proxy(Number(new URL(url).port));
    const { protocol } = new URL(url);
    const reached = `${protocol}//127.0.0.1:${await proxy.listen()}`;
    config = new KubeConfig();
    const trust = { caData: Buffer.from(certificate).toString("base64"), skipTLSVerify: false };
    const here: Cluster = {
      name: "here",
      server: reached,
      ...(protocol === "https:" ? trust : { skipTLSVerify: true }),
    };
    config.loadFromClusterAndUser(here, { name: "test", token: "secret" });
  });

  afterEach(() => stop());

  afterAll(async () => {
    proxy.close();
    server.child.kill("SIGTERM");
    await server.ended;
  });

  /** Past the proxy. Status and text of the answer. */
  function direct(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const send = url.startsWith("https:") ? httpsRequest : httpRequest;
      const headers = { authorization: "Bearer secret", "content-type": "application/json" };
      const outgoing = send(url + path, { method, headers, ca: certificate, agent: false }, (incoming) => {
        let text = "";
        incoming.on("data", (chunk: Buffer) => (text += chunk.toString()));
        incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, text }));
      });
      outgoing.on("error", reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  const path = `/api/v1/namespaces/${namespace}/${resource}`;

  async function create(name: string): Promise<void> {
    const kind = resource === "events" ? "Event" : "ConfigMap";
    const more = resource === "events" ? { involvedObject: { namespace } } : {};
    const { status, text } = await direct("POST", path, { kind, apiVersion: "v1", metadata: { name }, ...more });
    if (status !== 201) throw new Error(text);
  }

  const list = (): Promise<KubernetesListObject<KubernetesObject>> => {
    const api = config.makeApiClient(CoreV1Api);
    return resource === "events"
      ? (api.listNamespacedEvent({ namespace }) as Promise<KubernetesListObject<KubernetesObject>>)
      : (api.listNamespacedConfigMap({ namespace }) as Promise<KubernetesListObject<KubernetesObject>>);
  };

  /** An informer as its documentation has it: started again after every error. */
  function follow() {
    const log: string[] = [];
    const waiting: (() => void)[] = [];
    const say = (line: string): void => {
      log.push(line);
      for (const wake of waiting.splice(0)) wake();
    };
    /** A line that begins so has been said. */
    const until = async (line: string): Promise<void> => {
      while (!log.some((each) => each.startsWith(line))) await new Promise<void>((resolve) => waiting.push(resolve));
    };
    const informer = makeInformer<KubernetesObject>(config, path, async () => {
      const all = await list();
      say(`listed ${all.items.length}`);
      return all;
    });
    let stopped = false;
    informer.on("add", (object) => say(`add ${nameOf(object)}`));
    informer.on("delete", (object) => say(`delete ${nameOf(object)}`));
    informer.on("error", () => {
      say("error");
      setTimeout(() => void (stopped || informer.start()), 50);
    });
    void informer.start();
    stop = async () => {
      stopped = true;
      await informer.stop();
    };
    return { informer, log, until };
  }

  it("lists, and watches from there", async () => {
    await create("a");
    const { items, metadata } = await list();
    expect(items.map(nameOf)).toEqual(["a"]);
    const seen: string[] = [];
    let told = (): void => {};
    const both = new Promise<void>((resolve) => (told = resolve));
    const watching = await new Watch(config).watch(
      path,
      { resourceVersion: metadata?.resourceVersion },
      (type: string, object: KubernetesObject) => {
        seen.push(`${type} ${nameOf(object)}`);
        if (seen.length === 2) told();
      },
      () => {},
    );
    await create("b");
    await direct("DELETE", `${path}/a`);
    await both;
    expect(seen).toEqual(["ADDED b", "DELETED a"]);
    watching.abort();
  });

  it("follows with an informer through a cut, without another list", async () => {
    const { log, until } = follow();
    await until("listed");
    await create("watched");
    await until("add watched");
    proxy.cut();
    // At once: it waits longer after every vain attempt, and history is short.
    proxy.mend();
    await create("meanwhile");
    await until("add meanwhile");
    expect(log.filter((line) => line.startsWith("listed"))).toHaveLength(1);
  });

  it("follows through a 410 by listing again", async () => {
    const { informer, log, until } = follow();
    await create("last-seen");
    await until("add last-seen");
    const version = informer.get("last-seen", namespace)?.metadata?.resourceVersion;
    proxy.cut();
    await until("error");
    await create("missed");
    await direct("DELETE", `${path}/last-seen`);
    for (;;) {
      const { status, text } = await direct("GET", `${path}?watch=1&timeoutSeconds=1&resourceVersion=${version}`);
      if (status === 410 || text.includes('"code":410')) break;
    }
    proxy.mend();
    await until("add missed");
    expect(log.filter((line) => line.startsWith("listed"))).toHaveLength(2);
    expect(log).toContain("delete last-seen");
    expect(informer.list().map(nameOf).sort()).toEqual((await list()).items.map(nameOf).sort());
  });
});
