import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request as requestHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../../conformance/client/free-port.ts";
import { selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import { cleanUp, get, type Running, scratch, start } from "../spawned-command.fixture.ts";

const socket = join(scratch, "start.sock");

beforeAll(async () => {
  await start("runtime", "--listen", `unix://${socket}`).firstLine;
});
afterAll(cleanUp);

const agent = (...flags: string[]): Running =>
  start("agent", `--container-runtime-endpoint=unix://${socket}`, "--hostname-override=n", ...flags);

describe("an agent that is started with flags", () => {
  it("listens, serves and tells as they say", { timeout: 60_000 }, async () => {
    const [port, readOnly, health] = await Promise.all([freePort(), freePort(), freePort()]);
    const day = 86_400_000;
    const times = { notBeforeMillis: Date.now() - day, notAfterMillis: Date.now() + day };
    const pair = selfSignedCertificate({ hosts: ["mine.example"], ...times });
    const [certificate, key, resolver] = ["own.pem", "own.key", "resolv.conf"].map((name) => join(scratch, name));
    writeFileSync(certificate as string, pair.certificate);
    writeFileSync(key as string, pair.privateKey);
    writeFileSync(resolver as string, "nameserver 10.9.8.7\nsearch corp.example\n");
    const manifests = join(scratch, "pods");
    mkdirSync(manifests);
    const spec = {
      containers: [
        { name: "c", image: "local/box:1", command: ["sleep", "1000"], volumeMounts: [{ name: "v", mountPath: "/v" }] },
      ],
      volumes: [{ name: "v", emptyDir: {} }],
    };
    writeFileSync(
      join(manifests, "a.json"),
      JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec }),
    );
    const running = agent(
      `--port=${port}`,
      `--read-only-port=${readOnly}`,
      `--healthz-port=${health}`,
      "--address=127.0.0.1",
      "--healthz-bind-address=127.0.0.2",
      `--tls-cert-file=${certificate}`,
      `--tls-private-key-file=${key}`,
      `--resolv-conf=${resolver}`,
      `--pod-manifest-path=${manifests}`,
      "--streaming-connection-idle-timeout=300ms",
      "--volume-stats-agg-period=-1s",
      "--contention-profiling",
      "--pod-cidr=fd00:7::/64,10.77.3.0/24",
      "--node-ip=127.0.0.1,::1",
    );
    await running.firstLine;
    expect((await get(`http://127.0.0.2:${health}/healthz`)).status).toBe(200);
    await expect(get(`http://127.0.0.1:${health}/healthz`)).rejects.toThrow(/ECONNREFUSED/);

    const isRunning = async (): Promise<boolean> => {
      const { body } = await get(`http://127.0.0.1:${readOnly}/pods`);
      return body.includes('"phase":"Running"');
    };
    await vi.waitUntil(isRunning, { timeout: 45_000, interval: 200 });
    expect(readFileSync(`${socket}.state`, "utf8")).toContain("10.9.8.7");
    const { items } = JSON.parse((await get(`http://127.0.0.1:${readOnly}/pods`)).body) as {
      items: { status: object }[];
    };
    expect(items.map(({ status }) => status)).toEqual([
      expect.objectContaining({
        podIP: expect.stringMatching(/^10\.77\.3\.\d+$/),
        hostIP: "127.0.0.1",
        hostIPs: [{ ip: "127.0.0.1" }, { ip: "::1" }],
      }),
    ]);
    const { body: summary } = await get(`http://127.0.0.1:${readOnly}/stats/summary`);
    const { pods } = JSON.parse(summary) as { pods: { volume?: readonly object[] }[] };
    expect(pods.map(({ volume = [] }) => volume)).toEqual([[]]);

    // Nobody says anything on this stream: it ends by itself, which it does after four hours otherwise.
    const ended = await new Promise<X509Certificate>((resolve, reject) => {
      const request = requestHttps({
        host: "127.0.0.1",
        port,
        path: "/exec/default/p-n/c?command=cat&input=1&output=1",
        headers: {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
          "sec-websocket-protocol": "v5.channel.k8s.io",
        },
        agent: false,
        rejectUnauthorized: false,
      });
      request.on("upgrade", (_answer, stream) => {
        const shown = (stream as TLSSocket).getPeerX509Certificate() as X509Certificate;
        stream.on("error", () => {});
        stream.on("close", () => resolve(shown));
        stream.resume();
      });
      request.on("response", (answer) => reject(new Error(`status ${answer.statusCode}`)));
      request.on("error", reject);
      request.end();
    });
    expect(ended.fingerprint256).toBe(new X509Certificate(pair.certificate).fingerprint256);
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(0);
  });

  it.each([
    ["", "application/vnd.svc.protobuf"],
    ["--svc-api-content-type=application/json", "application/json"],
  ])("asks the server with %j for %s", async (flag, expected) => {
    let heard: (type: string) => void = () => {};
    const first = new Promise<string>((resolve) => (heard = resolve));
    const server = createServer((incoming, answer) => {
      heard(incoming.headers.accept ?? "");
      answer.writeHead(404, { "content-type": "application/json" });
      answer.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const connection = join(scratch, `connection-${port}.yaml`);
    writeFileSync(
      connection,
      `{ clusters: [{ name: c, cluster: { server: "http://127.0.0.1:${port}" } }], contexts: [{ name: c, context: { cluster: c } }], current-context: c }`,
    );
    const quiet = ["--enable-server=false", "--read-only-port=0", "--healthz-port=0", "--resolv-conf="];
    const running = agent(`--svcconfig=${connection}`, ...quiet, ...(flag === "" ? [] : [flag]));
    expect(await first).toContain(expected);
    running.child.kill("SIGTERM");
    await running.ended;
    server.close();
    server.closeAllConnections();
  });
});
