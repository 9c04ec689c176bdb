import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { createServer as createPlainServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WebhookAnswer } from "../../apiserver/admission/webhooks.ts";
import type { ForwardedAnswer } from "../../apiserver/proxy/forward.ts";
import type { EgressConnection } from "../../configuration/egress.ts";
import { httpForwarder } from "../http-forwarder.ts";
import { httpsWebhookCaller } from "../webhook-caller.ts";
import { type Dialers, dialersOf } from "./dialer.ts";
import { connectProxy, grpcProxy, pairFor, type ProxyOptions, type RunningProxy } from "./proxies.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "touchstone-egress-"));
const inFolder = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const target = pairFor("hook.ns.svc");
const hook = createServer({ cert: target.certificate, key: target.privateKey }, (request, response) => {
  let size = 0;
  request.on("data", (chunk: Buffer) => (size += chunk.length));
  request.on("end", () => response.end(JSON.stringify({ size, host: request.headers.host })));
});
const node = createPlainServer((request, response) => request.pipe(response));
let hookPort = 0;
let nodePort = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  hookPort = (hook.address() as AddressInfo).port;
  nodePort = (node.address() as AddressInfo).port;
});

afterAll(() => {
  hook.close();
  node.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Way {
  readonly start: (options?: ProxyOptions) => Promise<RunningProxy>;
  readonly connection: (address: string) => EgressConnection;
  /** Where nobody listens, now or later: a port that was free a moment ago may be somebody else's by now. */
  readonly nowhere: string;
}

const noSocket = join(folder, "no.sock");

const proxyPair = pairFor("127.0.0.1");
const client = pairFor("apiserver", "client");

const ways: Readonly<Record<string, Way>> = {
  "CONNECT over TCP": {
    start: (options) => connectProxy("tcp", options),
    connection: (url) => ({ is: "connect", to: { is: "tcp", url, tls: undefined } }),
    nowhere: "http://127.0.0.1:1",
  },
  "CONNECT over TLS": {
    start: (options) => connectProxy({ client: client.certificate, pair: proxyPair }, options),
    connection: (url) => {
      const tls = {
        certificateAuthority: inFolder("ca.pem", proxyPair.certificate),
        clientCertificate: inFolder("client.pem", client.certificate),
        clientKey: inFolder("client.key", client.privateKey),
      };
      return { is: "connect", to: { is: "tcp", url, tls } };
    },
    nowhere: "https://127.0.0.1:1",
  },
  "CONNECT over a socket": {
    start: (options) => connectProxy("socket", options),
    connection: (path) => ({ is: "connect", to: { is: "socket", path } }),
    nowhere: noSocket,
  },
  "a gRPC tunnel": { start: grpcProxy, connection: (socket) => ({ is: "grpc", socket }), nowhere: noSocket },
};

const called = (dialers: Dialers, isService: boolean, body: object): Promise<WebhookAnswer> =>
  new Promise((resolve) => {
    const call = {
      url: `https://hook.ns.svc:${hookPort}/review`,
      service: isService ? { namespace: "ns", name: "hook" } : undefined,
      caBundle: target.certificate,
      body: body as never,
    };
    httpsWebhookCaller((work) => work(), dialers)(call, resolve);
  });

const forwarded = (dialers: Dialers, body: Uint8Array): Promise<ForwardedAnswer> =>
  new Promise((resolve) => {
    const request = {
      scheme: "http",
      host: "node-1.internal",
      port: String(nodePort),
      method: "POST",
      target: "/",
      headers: {},
      body,
    };
    httpForwarder((work) => work(), dialers.cluster)(request as never, resolve);
  });

describe.each(Object.entries(ways))("%s", (_name, { start, connection, nowhere }) => {
  test("carries webhooks, with TLS to their own end, and what goes to nodes", async () => {
    const proxy = await start({ port: hookPort });
    const dialers = dialersOf(new Map([["cluster", connection(proxy.address)]]));
    expect(await called(dialers, true, { kind: "AdmissionReview", pad: "x".repeat(300_000) })).toMatchObject({
      status: 200,
      body: { host: `hook.ns.svc:${hookPort}`, size: expect.any(Number) },
    });
    expect(proxy.asked).toEqual([`hook.ns.svc:${hookPort}`]);
    await proxy.close();
    const second = await start({ port: nodePort });
    const bytes = Buffer.from("y".repeat(200_000));
    const answer = await forwarded(dialersOf(new Map([["cluster", connection(second.address)]])), bytes);
    expect("body" in answer && Buffer.from(answer.body).equals(bytes)).toBe(true);
    expect(second.asked).toEqual([`node-1.internal:${nodePort}`]);
    await second.close();
  });

  test("carries only what its selection names", async () => {
    const proxy = await start({ port: hookPort });
    const dialers = dialersOf(new Map([["controlplane", connection(proxy.address)]]));
    expect(await called(dialers, true, {})).toMatchObject({ error: expect.stringContaining("hook.ns.svc") });
    expect(proxy.asked).toEqual([]);
    expect(await called(dialers, false, {})).toMatchObject({ status: 200 });
    expect(proxy.asked).toHaveLength(1);
    await proxy.close();
  });

  test("says why when it does not connect", async () => {
    const proxy = await start({ refuses: true });
    const dialers = dialersOf(new Map([["cluster", connection(proxy.address)]]));
    expect(await called(dialers, true, {})).toMatchObject({ error: expect.stringMatching(/403|no agent/) });
    await proxy.close();
    const toNobody = dialersOf(new Map([["cluster", connection(nowhere)]]));
    expect(await called(toNobody, true, {})).toMatchObject({ error: expect.stringMatching(/ECONNREFUSED|ENOENT/) });
  });
});

test("what is called directly has no dialer", () => {
  expect(dialersOf(new Map([["cluster", { is: "direct" }]]))).toEqual({});
});
