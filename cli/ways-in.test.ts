/** The suite comes to the same verdict by every way into the same server. */
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { selfSignedCertificate } from "../sim/http/self-signed.ts";
import type { SuiteReport } from "../reports/schema/suite-report.ts";
import { cleanUp, run, scratchFile, start } from "./spawned-command.ts";

const validity = { notBeforeMillis: Date.now() - 60_000, notAfterMillis: Date.now() + 3_600_000 };
const suite = ["--only", "watch,lists,writes", "--runs", "1", "--json"];

afterAll(cleanUp);

function pair(name: string, usage: "server" | "client", hosts: readonly string[]): { cert: string; key: string } {
  const { certificate, privateKey } = selfSignedCertificate({ ...validity, hosts, usage, organizations: ["testers"] });
  return { cert: scratchFile(`${name}.pem`, certificate), key: scratchFile(`${name}.key`, privateKey) };
}

async function judge(serving: readonly string[], ...flags: string[]): Promise<SuiteReport> {
  const server = start("serve", "--port", "0", ...serving);
  const url = (await server.firstLine).replace("serving on ", "");
  const { stdout, stderr } = await run("conform", url, ...suite, ...flags);
  server.child.kill("SIGTERM");
  await server.ended;
  expect(stderr).toBe("");
  return JSON.parse(stdout) as SuiteReport;
}

const failed = (report: SuiteReport): string[] =>
  report.requirements.filter(({ outcome }) => !["passed", "inconclusive"].includes(outcome.status)).map(({ id }) => id);

describe("every way in", () => {
  const server = pair("server", "server", ["127.0.0.1"]);
  const client = pair("client", "client", ["tester"]);
  const stranger = pair("stranger", "client", ["tester"]);
  const tls = ["--tls-cert-file", server.cert, "--tls-private-key-file", server.key];
  const trust = ["--ca-file", server.cert];
  const byToken = ["--token-auth-file", scratchFile("tokens.csv", "secret,admin,1\n")];
  const byCertificate = [...tls, "--client-ca-file", client.cert, "--anonymous-auth=false"];

  const embedded = run("conform", ...suite).then(({ stdout }) => JSON.parse(stdout) as SuiteReport);

  it.concurrent.each<[string, string[], string[], string]>([
    ["HTTP/1.1", byToken, ["--token", "secret"], "HTTP/1.1"],
    ["HTTP/2 in the clear", byToken, ["--token", "secret", "--http", "2"], "HTTP/2"],
    [
      "TLS and HTTP/1.1",
      [...tls, ...byToken],
      [...trust, "--token", "secret", "--http", "1.1"],
      "HTTP/1.1 over TLSv1.3",
    ],
    ["TLS and HTTP/2", [...tls, ...byToken], [...trust, "--token", "secret"], "HTTP/2 over TLSv1.3"],
    [
      "a client certificate",
      byCertificate,
      [...trust, "--client-cert", client.cert, "--client-key", client.key],
      "HTTP/2 over TLSv1.3",
    ],
  ])(
    "finds by %s what it finds embedded: nothing",
    async (_name, serving, flags, protocol) => {
      const report = await judge(serving, ...flags);
      expect(report.target.protocol).toBe(protocol);
      expect(failed(report)).toEqual(failed(await embedded));
      expect(report.totals.requirements.passed).toBeGreaterThan(20);
    },
    120_000,
  );

  it("is shut to a certificate of somebody else's", async () => {
    const report = await judge(byCertificate, ...trust, "--client-cert", stranger.cert, "--client-key", stranger.key);
    expect(report.totals.requirements.passed).toBe(0);
    expect(readFileSync(stranger.cert, "utf8")).not.toBe(readFileSync(client.cert, "utf8"));
  }, 60_000);

  it("refuses flags that make no sense together", async () => {
    const url = "https://127.0.0.1:1";
    const [half, alone, swapped, plain] = await Promise.all([
      run("conform", url, "--client-cert", client.cert),
      run("conform", "--http", "2"),
      run("conform", url, "--client-cert", client.key, "--client-key", client.cert),
      run("serve", "--port", "0", "--client-ca-file", client.cert),
    ]);
    expect(half?.stderr).toContain("go together");
    expect(alone?.stderr).toContain("--http says how to reach");
    expect(swapped?.stderr).toContain("no certificate in it");
    expect(plain?.stderr).toContain("need TLS");
    expect([half, alone, swapped, plain].map((ended) => ended?.code)).toEqual([2, 2, 2, 2]);
  }, 60_000);
});
