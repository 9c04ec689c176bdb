/** The suite comes to the same verdict by every way into the same two servers: one in the clear, one under TLS. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import { cleanUp, run, type Running, scratchFile, start } from "../spawned-command.fixture.ts";
import { type Connection, runSuiteOn, type Selection } from "../targets/suite-target.ts";

const validity = { notBeforeMillis: Date.now() - 60_000, notAfterMillis: Date.now() + 3_600_000 };

function pair(name: string, usage: "server" | "client", hosts: readonly string[]) {
  const { certificate, privateKey } = selfSignedCertificate({ ...validity, hosts, usage, organizations: ["testers"] });
  return {
    certificate,
    privateKey,
    cert: scratchFile(`${name}.pem`, certificate),
    key: scratchFile(`${name}.key`, privateKey),
  };
}

const server = pair("server", "server", ["127.0.0.1"]);
const client = pair("client", "client", ["tester"]);
const stranger = pair("stranger", "client", ["tester"]);
const tokens = ["--token-auth-file", scratchFile("tokens.csv", "secret,admin,1\n")];
const tls = ["--tls-cert-file", server.cert, "--tls-private-key-file", server.key, "--client-ca-file", client.cert];

// A few checks that need every kind of exchange: what is short, what streams, what is refused, what many write at once.
const selected = {
  only: [
    "errors-are-status-objects",
    "media-types-are-negotiated",
    "watch-is-ordered",
    "watch-replays-to-list",
    "writes-are-linearizable",
  ],
};
const selection: Selection = { profile: "svc", seed: 1, runs: 1, ...selected };
const flags = ["--jobs", "1", "--only", selected.only.join(), "--runs", "1", "--json"];

let inTheClear: Running;
let underTls: Running;
let embedded: SuiteReport;

beforeAll(async () => {
  inTheClear = start("serve", "--port", "0", ...tokens);
  underTls = start("serve", "--port", "0", "--anonymous-auth=false", ...tls, ...tokens);
  const judged = run("conform", ...flags);
  await Promise.all([inTheClear.firstLine, underTls.firstLine]);
  embedded = JSON.parse((await judged).stdout) as SuiteReport;
}, 180_000);

afterAll(cleanUp);

const urlOf = async (serving: Running): Promise<string> => (await serving.firstLine).replace("serving on ", "");

async function judge(serving: Running, connection: Partial<Connection>): Promise<SuiteReport> {
  const url = await urlOf(serving);
  return runSuiteOn({ kind: "url", url, connection: { insecureSkipTlsVerify: false, ...connection } }, selection);
}

const failed = (report: SuiteReport): string[] =>
  report.requirements.filter(({ outcome }) => !["passed", "inconclusive"].includes(outcome.status)).map(({ id }) => id);

function expectSameVerdict(report: SuiteReport, protocol: string): void {
  expect(report.target.protocol).toBe(protocol);
  expect(failed(report)).toEqual(failed(embedded));
  expect(report.totals.requirements.passed).toBeGreaterThan(8);
}

describe.concurrent("every way in", { timeout: 180_000 }, () => {
  const token = { token: "secret" };
  const trust = { caFile: server.cert };

  it.each<[string, () => Running, Partial<Connection>, string]>([
    ["HTTP/1.1", () => inTheClear, token, "HTTP/1.1"],
    ["HTTP/2 in the clear", () => inTheClear, { ...token, http: "2" }, "HTTP/2"],
    ["TLS and HTTP/1.1", () => underTls, { ...trust, ...token, http: "1.1" }, "HTTP/1.1 over TLSv1.3"],
    ["TLS and HTTP/2", () => underTls, { ...trust, ...token }, "HTTP/2 over TLSv1.3"],
    [
      "a client certificate",
      () => underTls,
      { ...trust, clientCert: client.cert, clientKey: client.key },
      "HTTP/2 over TLSv1.3",
    ],
  ])("finds by %s what it finds embedded: nothing", async (_name, serving, connection, protocol) => {
    expectSameVerdict(await judge(serving(), connection), protocol);
  });

  it("finds by a connection file what it finds embedded: nothing", async () => {
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const identity = { "client-certificate": "client.pem", "client-key-data": base64(client.privateKey) };
    const file = scratchFile(
      "connection.yaml",
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [
          {
            name: "here",
            cluster: { server: await urlOf(underTls), "certificate-authority-data": base64(server.certificate) },
          },
        ],
        users: [
          { name: "tester", user: identity },
          { name: "nobody", user: {} },
        ],
        contexts: [
          { name: "allowed", context: { cluster: "here", user: "tester" } },
          { name: "shut-out", context: { cluster: "here", user: "nobody" } },
        ],
        "current-context": "shut-out",
      }),
    );
    const { stdout, stderr } = await run("conform", "--svcconfig", file, "--context", "allowed", ...flags);
    expect(stderr).toBe("");
    expectSameVerdict(JSON.parse(stdout) as SuiteReport, "HTTP/2 over TLSv1.3");
    expect(stdout).not.toContain(base64(client.privateKey).slice(0, 40));
    const shutOut = await runSuiteOn(
      { kind: "url", url: undefined, connection: { svcconfig: file, insecureSkipTlsVerify: false } },
      selection,
    );
    expect(shutOut.totals.requirements.passed).toBe(0);
  });

  it("is shut to a certificate of somebody else's", async () => {
    const report = await judge(underTls, { ...trust, clientCert: stranger.cert, clientKey: stranger.key });
    expect(report.totals.requirements.passed).toBe(0);
    expect(stranger.certificate).not.toBe(client.certificate);
  });
});

it("ends at SIGTERM at once, whoever had come in", async () => {
  for (const serving of [inTheClear, underTls]) serving.child.kill("SIGTERM");
  expect(await Promise.all([inTheClear.ended, underTls.ended])).toMatchObject([{ code: 0 }, { code: 0 }]);
});
