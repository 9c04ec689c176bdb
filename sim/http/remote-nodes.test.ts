import { afterEach, expect, it, vi } from "vitest";
import { dialects } from "../../wire/dialect.ts";
import type { NodeDeclaration } from "../../wire/node-host.ts";
import { profiles } from "../contract/profile.ts";
import { remoteNodes } from "./remote-nodes.ts";
import { startWallServer, type WallServer } from "./wall-server.ts";

const mebibyte = 2 ** 20;
const token = "test-token";
const headers = { authorization: `Bearer ${token}` };
const declaration: NodeDeclaration = {
  name: "joined",
  labels: { of: "the-suite" },
  taints: [{ key: "of", value: "the-suite", effect: "NoSchedule" }],
  capacity: {
    milliCpu: 4000,
    memoryBytes: 100 * mebibyte,
    pids: 100,
    nodefs: { bytes: 100 * mebibyte, inodes: 100 },
    imagefs: undefined,
  },
  eviction: { evictionHard: { "memory.available": "20Mi" } },
  monitoringMillis: 1000,
  figuresMillis: 1000,
  usage: { memoryBytes: 0, pids: 0, nodefs: { bytes: 0, inodes: 0 }, imagefs: undefined },
};

let server: WallServer | undefined;
afterEach(() => server?.close());

const errors: unknown[] = [];
const start = async (): Promise<string> => {
  server = await startWallServer({
    seed: "1",
    port: 0,
    bindAddress: "127.0.0.1",
    profile: profiles.kubernetes,
    tokens: [{ token, user: "ci", uid: "ci", groups: ["system:masters"] }],
    authorizationModes: ["RBAC"],
    onError: (error) => errors.push(error),
  });
  return server.url;
};

const hostAt = (url: string, credentials: Readonly<Record<string, string>> = headers) =>
  remoteNodes({
    url,
    headers: credentials,
    dialect: dialects.kubernetes,
    seed: "1",
    onError: (error) => errors.push(error),
  });

it("joins a cluster at a URL, runs pods there, evicts under pressure that is programmed, and leaves nothing", async () => {
  const url = await start();
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field
  const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; object: any }> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, object: await answer.json() };
  };
  const host = hostAt(url);
  const node = await host.join(declaration);
  const { object } = await ask("GET", "/api/v1/nodes/joined");
  expect(object).toMatchObject({
    metadata: { labels: { of: "the-suite" } },
    status: { capacity: { memory: "100Mi" } },
  });
  node.usePod("default/large", {
    memoryBytes: 10 * mebibyte,
    pids: 1,
    layers: { bytes: 0, inodes: 0 },
    volumes: { bytes: 0, inodes: 0 },
  });
  const made = await ask("POST", "/api/v1/namespaces/default/pods", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "large" },
    spec: {
      nodeName: "joined",
      automountServiceAccountToken: false,
      tolerations: [{ operator: "Exists" }],
      containers: [{ name: "main", image: "example.com/none:1" }],
    },
  });
  expect(made.status).toBe(201);
  const statusOf = async () => (await ask("GET", "/api/v1/namespaces/default/pods/large")).object.status;
  const until = { timeout: 120_000, interval: 200 };
  await vi.waitFor(async () => expect(await statusOf()).toMatchObject({ phase: "Running" }), until);
  node.use({ memoryBytes: 85 * mebibyte });
  await vi.waitFor(async () => expect(await statusOf()).toMatchObject({ phase: "Failed", reason: "Evicted" }), until);
  const pressure = expect.objectContaining({ type: "MemoryPressure", status: "True" });
  const conditions = async () => (await ask("GET", "/api/v1/nodes/joined")).object.status.conditions;
  await vi.waitFor(async () => expect(await conditions()).toContainEqual(pressure), until);
  const last = node.readings().at(-1);
  expect(last?.signals["memory.available"]).toMatchObject({ capacity: 100 * mebibyte });
  await host.close();
  expect((await ask("GET", "/api/v1/nodes/joined")).status).toBe(404);
  expect(errors).toEqual([]);
}, 300_000);

it("says why a node cannot join", async () => {
  const host = hostAt(await start(), { authorization: "Bearer nobody" });
  await expect(host.join(declaration)).rejects.toThrow("an agent that makes the node joined is answered 401");
  await host.close();
}, 120_000);
