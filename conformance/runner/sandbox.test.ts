import { describe, expect, it } from "vitest";
import type { StreamSink, WireRequest } from "../../wire/ports.ts";
import { Client } from "../client/client.ts";
import { Recorder } from "../client/recorder.ts";
import type { JsonObject } from "../client/types.ts";
import { jumpingClock, type ScriptedAnswer, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { awaitNamespacesGone, nameSource } from "./run-part.ts";
import { Sandbox } from "./sandbox.ts";

/** A server that stores what it is sent, has no verb deletecollection, and empties namespaces only when told to. */
function plainServer(options: { readonly empties: boolean; readonly patches?: boolean }) {
  const objects = new Map<string, JsonObject>();
  const inside = (path: string): string[] => [...objects.keys()].filter((key) => key.startsWith(`${path}/`));
  const remove = (path: string): ScriptedAnswer => {
    const object = objects.get(path);
    if (object === undefined) return { status: 404, json: {} };
    const { finalizers } = object["metadata"] as { finalizers?: readonly string[] };
    if (finalizers !== undefined) return { status: 200, json: object };
    if (options.empties) for (const key of inside(path)) objects.delete(key);
    if (inside(path).length === 0) objects.delete(path);
    return { status: 200, json: object };
  };
  const answer = ({ method, path: target, body }: WireRequest): ScriptedAnswer => {
    const [path = ""] = target.split("?");
    const sent = body === undefined ? {} : (JSON.parse(String(body)) as JsonObject);
    const { name } = (sent["metadata"] ?? {}) as { name?: string };
    const isCollection = /\/(namespaces|configmaps|pods)$/.test(path);
    if (method === "POST") {
      objects.set(`${path}/${name}`, sent);
      return { status: 201, json: sent };
    }
    if (method === "DELETE") return isCollection ? { status: 405, json: {} } : remove(path);
    if (method === "PATCH" && options.patches === false) return { status: 405, json: {} };
    if (method === "PATCH" || method === "PUT") {
      objects.set(path, { ...objects.get(path), metadata: { name: path.split("/").at(-1) as string } });
      return remove(path);
    }
    // A namespace that was asked to go is gone once it is empty.
    for (const key of objects.keys()) {
      if (/\/namespaces\/[^/]+$/.test(key) && inside(key).length === 0 && asked.has(key)) objects.delete(key);
    }
    if (isCollection) {
      const items = [...objects].filter(
        ([key]) => key.startsWith(`${path}/`) && !key.slice(path.length + 1).includes("/"),
      );
      return { status: 200, json: { items: items.map(([, object]) => object) } };
    }
    const object = objects.get(path);
    return object === undefined ? { status: 404, json: {} } : { status: 200, json: object };
  };
  const asked = new Set<string>();
  const transport = scriptedTransport((request) => {
    if (request.method === "DELETE") asked.add(request.path);
    return answer(request);
  });
  return { objects, transport };
}

const configMap = (name: string, finalizers?: readonly string[]): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(finalizers === undefined ? {} : { finalizers }) },
});

/** Makes two objects in a namespace, one of them held, and leaves. */
async function visit(server: ReturnType<typeof plainServer>): Promise<readonly string[]> {
  const { transport } = server;
  const clock = jumpingClock();
  const client = new Client(transport, clock, new Recorder(clock), "test");
  const names = nameSource("run1");
  const sandbox = new Sandbox(client, names);
  const collection = await sandbox.collection("configmaps");
  await collection.create(configMap("plain"));
  await collection.create(configMap("held", ["example.com/hold"]));
  const leaving = [...(await sandbox.cleanUp(client))];
  return awaitNamespacesGone({ transport, clock, names, leaving, embedded: false });
}

describe("cleaning up", () => {
  it.each([true, false])(
    "removes all that was made, whether the server empties namespaces (%s) or not",
    async (empties) => {
      const server = plainServer({ empties });
      expect(await visit(server)).toEqual([]);
      expect([...server.objects.keys()]).toEqual([]);
    },
  );

  it("needs no verb patch to take finalizers away", async () => {
    const server = plainServer({ empties: true, patches: false });
    expect(await visit(server)).toEqual([]);
    const put = server.transport.requests.find(({ method }) => method === "PUT");
    expect(JSON.parse(String(put?.body))).toEqual(configMap("held", []));
  });

  it("ends a namespace that may have been made although nobody said so, and none that was refused", async () => {
    for (const [answer, deleted] of [
      [() => (sink: StreamSink) => sink.failed(new Error("reset")), ["/api/v1/namespaces/touchstone-run1-1"]],
      [() => (sink: StreamSink) => sink.failed(new Error("connect ECONNREFUSED 127.0.0.1:1")), []],
      [() => ({ status: 403, json: {} }), []],
    ] as const) {
      const transport = scriptedTransport((request) =>
        request.method === "POST" ? answer() : { status: 200, json: {} },
      );
      const clock = jumpingClock();
      const client = new Client(transport, clock, new Recorder(clock), "test");
      const sandbox = new Sandbox(client, nameSource("run1"));
      await expect(sandbox.namespace()).rejects.toThrow();
      expect((await sandbox.cleanUp(client)).length).toBe(deleted.length);
      expect(transport.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path)).toEqual(deleted);
    }
  });

  it("touches nothing of others, and needs no deletecollection", async () => {
    const server = plainServer({ empties: true });
    const theirs = [
      "/api/v1/namespaces/touchstone",
      "/api/v1/namespaces/touchstone-other-1",
      "/api/v1/namespaces/default",
    ];
    for (const path of theirs) {
      server.objects.set(path, { metadata: { name: path.split("/").at(-1) as string } });
      server.objects.set(`${path}/configmaps/plain`, configMap("plain"));
    }
    await visit(server);
    expect([...server.objects.keys()].sort()).toEqual(
      [...theirs, ...theirs.map((path) => `${path}/configmaps/plain`)].sort(),
    );
    const deleted = server.transport.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path);
    expect(deleted.filter((path) => !path.startsWith("/api/v1/namespaces/touchstone-run1-1"))).toEqual([]);
    expect(deleted.filter((path) => /configmaps(\?|$)/.test(path))).toEqual([]);
  });

  it("ends what belongs to no namespace first, for a run that was stopped as well, and whether or not it can", async () => {
    const { transport } = plainServer({ empties: true });
    const clock = jumpingClock();
    const stopped = new AbortController();
    const sandbox = new Sandbox(
      new Client(transport, clock, new Recorder(clock), "test", stopped.signal),
      nameSource("run1"),
    );
    await sandbox.namespace();
    sandbox.onCleanUp(() => Promise.reject(new Error("cannot")));
    sandbox.onCleanUp((cleaner) => cleaner.attempt("DELETE", "/apis/example.com/v1/configurations/a"));
    stopped.abort();
    await sandbox.cleanUp(new Client(transport, clock, new Recorder(clock), "cleaner"));
    const deleted = transport.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path);
    expect(deleted).toEqual(["/apis/example.com/v1/configurations/a", "/api/v1/namespaces/touchstone-run1-1"]);
  });

  it("marks its namespaces, so that whoever finds one knows the run", async () => {
    const server = plainServer({ empties: true });
    await visit(server);
    const [made] = server.transport.requests;
    expect(JSON.parse(String(made?.body))).toMatchObject({
      metadata: { name: "touchstone-run1-1", labels: { "touchstone-run": "run1" } },
    });
  });

  it("asks again for the end of a namespace when a gateway has swallowed the first word of it", async () => {
    const server = plainServer({ empties: true });
    let swallowed = 0;
    const away: ScriptedAnswer = { status: 502, headers: { "content-type": "text/html" } };
    const behind: Pick<typeof server, "objects" | "transport"> = {
      ...server,
      transport: {
        ...server.transport,
        open(request, sink) {
          const isEnd = request.method === "DELETE" && /\/namespaces\/[^/]+$/.test(request.path);
          if (!isEnd || (swallowed += 1) > 1) return server.transport.open(request, sink);
          return scriptedTransport(() => away).open(request, sink);
        },
      },
    };
    expect(await visit(behind)).toEqual([]);
    expect([...server.objects.keys()]).toEqual([]);
  });

  it("does not wait for a server that has gone, and says what is left", async () => {
    const clock = jumpingClock();
    const transport = scriptedTransport(() => (sink) => sink.failed(new Error("connect ECONNREFUSED")));
    const leaving = [{ namespace: "touchstone-run1-1", objects: [] }];
    const left = await awaitNamespacesGone({ transport, clock, names: nameSource("run1"), leaving, embedded: false });
    expect(left).toEqual(["/api/v1/namespaces/touchstone-run1-1"]);
    expect(clock.nowMillis()).toBeLessThan(20_000);
  });

  it("says what could not be removed, and waits no longer than it must", async () => {
    const clock = jumpingClock();
    const names = nameSource("run1");
    const stuck = { metadata: { name: "touchstone-run1-1" } };
    const transport = scriptedTransport(() => ({ status: 200, json: { items: [stuck] } }));
    const leaving = [
      { namespace: "touchstone-run1-1", objects: ["/api/v1/namespaces/touchstone-run1-1/configmaps/a"] },
    ];
    expect(await awaitNamespacesGone({ transport, clock, names, leaving, embedded: false })).toEqual([
      "/api/v1/namespaces/touchstone-run1-1",
    ]);
    expect(clock.nowMillis()).toBeGreaterThanOrEqual(90_000);
    expect(clock.nowMillis()).toBeLessThan(100_000);
    // Help that a server needs: its objects are deleted one by one.
    expect(transport.requests.some(({ method, path }) => method === "DELETE" && path.endsWith("/configmaps/a"))).toBe(
      true,
    );
  });
});

it("no program's name is that of another's neighbour, whatever is put after it", () => {
  const names = nameSource("run1");
  const own = Array.from({ length: 2_000 }, () => names.next());
  const neighbours = own.flatMap((name) => ["0", "-0", "b"].map((suffix) => name + suffix));
  expect(new Set([...own, ...neighbours]).size).toBe(own.length + neighbours.length);
});
