/** The comparison end to end: embedded servers, planted bugs, servers at URLs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type DiffReport, diffReportSchema } from "../../reports/schema/diff-report.ts";
import { saidHere } from "../said-here.fixture.ts";
import { get, cleanUp, scratch, scratchFile, start } from "../spawned-command.fixture.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";

afterAll(cleanUp);

const compare = async (...args: readonly string[]): Promise<{ code: number; report: DiffReport }> => {
  const { code, stdout } = await runHere("diff", ...args, "--json");
  return { code, report: JSON.parse(stdout) as DiffReport };
};

describe("touchstone diff", { timeout: 180_000 }, () => {
  it.each([
    ["embedded:svc", "1"],
    ["embedded:kubernetes", "2"],
  ])("finds no difference between %s and itself, with seed %s", async (address, seed) => {
    const { code, report } = await compare(address, address, "--seed", seed, "--runs", "12");
    expect([code, report.conclusion, report.differences.map(({ cause }) => cause)]).toEqual([0, "same", []]);
    expect(report.topics).toHaveLength(16);
  });

  // As few programs as find it. By default there are a hundred.
  it.each<[fault: string, topic: string, cause: RegExp, runs?: string]>([
    ["watch-start-inclusive", "watches", /^watch: /],
    ["watch-deleted-event-old-rv", "watches", /metadata\.resourceVersion value differs/, "100"],
    ["list-null-items", "representations", /Table/],
    ["continue-token-when-complete", "lists", /metadata\.continue only in B/],
    ["dry-run-persists", "deletion", /./, "100"],
    ["generation-wrong", "types", /metadata\.generation value differs/, "100"],
    ["noop-update-returns-empty-rv", "types", /metadata\.resourceVersion value differs/],
    ["error-not-status-object", "errors", /./],
    ["deletecollection-body-500", "deletion", /status 200 or 500/],
    ["list-prefix-bleed", "namespaces", /items count differs/],
    ["event-series-count-one", "events", /status 422 or 201/],
    ["eviction-dry-run-evicts", "pods", /./],
    ["put-creates-without-right", "access", /status 403 or 201/, "100"],
    ["strict-rejects-metadata", "custom", /./, "5"], // nearly every program parts there
  ])("finds the bug %s, planted on one side", async (fault, topic, cause, runs = "12") => {
    const flags = ["--b-fault", fault, "--only", topic, "--runs", runs];
    const { code, report } = await compare("embedded:svc", "embedded:svc", ...flags);
    expect([code, report.conclusion]).toEqual([1, "different"]);
    expect(report.differences.some((row) => cause.test(row.cause) && row.steady)).toBe(true);
    expect(report.differences[0]?.replay).toContain(`--b-fault ${fault} --only ${topic}`);
    expect(Math.max(...report.differences.map(({ program }) => program.length))).toBeLessThanOrEqual(5);
  });

  it("tells the known divergences of the two profiles, and writes what it found", async () => {
    const directory = join(scratch, "compared");
    const args = ["embedded:svc", "embedded:kubernetes", "--only", "objects,watches,errors", "--report", directory];
    const { code, stdout } = await runHere("diff", ...args);
    expect(code).toBe(1);
    for (const cause of [
      "replace: status 201 or 404",
      "empty dry run: status 201 or 422",
      "watch: status 400 or 422",
    ]) {
      expect(stdout).toContain(cause);
    }
    expect(stdout).toMatch(/ {2}request {2}PUT {2}\/api\/v1\/namespaces\/\{ns\}\/configmaps\/[ab] {2}\{/);
    expect(stdout).toMatch(/ {2}answer A 201 .*\n {2}answer B 404 /);
    expect(readFileSync(join(directory, "diff.txt"), "utf8")).toBe(stdout);
    const document: unknown = JSON.parse(readFileSync(join(directory, "diff.json"), "utf8"));
    // The published form knows every field, and nothing but values of answers is long.
    expect(diffReportSchema.parse(document)).toEqual(document);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThan(900);
  });

  it("compares servers at URLs, each with credentials of its own, and leaves nothing behind", async () => {
    const tokens = scratchFile("diff-tokens.csv", 'secret,admin,1,"system:masters"\n');
    const token = scratchFile("diff-token", "secret\n");
    const server = start("serve", "--port", "0", "--profile", "kubernetes-1.33", "--token-auth-file", tokens);
    const url = (await server.firstLine).replace("serving on ", "");
    const only = ["--only", "lists,watches,apply", "--runs", "8"];
    const same = await compare(url, "embedded:kubernetes", "--a-token-file", token, ...only);
    expect(same.report.differences.map(({ cause }) => cause)).toEqual([]);
    expect([same.code, same.report.leftovers]).toEqual([0, { a: [], b: [] }]);
    expect(JSON.stringify(same.report)).not.toContain("secret");
    const { body } = await get(`${url}/api/v1/namespaces`, { authorization: "Bearer secret" });
    expect(body).not.toContain("touchstone");

    const locked = await compare(url, "embedded:kubernetes", "--a-token", "wrong", ...only);
    expect([locked.code, locked.report.conclusion]).toEqual([3, "inconclusive"]);
    expect(locked.report.undecided.join()).toContain("credentials");
    server.child.kill("SIGTERM");
  });

  it("is stopped by an interrupt, with what is known and nothing left behind", async () => {
    const server = start("serve", "--port", "0", "--profile", "kubernetes", "--access-log");
    const url = (await server.firstLine).replace("serving on ", "");
    const asked = new Promise<void>((resolve) => {
      server.child.stderr?.on("data", (chunk: Buffer) => {
        if (chunk.includes('"POST"')) resolve();
      });
    });
    const compared = start("diff", url, "embedded:kubernetes", "--runs", "5000");
    await asked;
    compared.child.kill("SIGINT");
    const { code, stdout } = await compared.ended;
    const { body } = await get(`${url}/api/v1/namespaces`);
    server.child.kill("SIGTERM");
    expect(stdout).toContain("cut short");
    expect(code).toBe(3);
    expect(body).not.toContain("touchstone");
  });

  it("is inconclusive when a server is not reached", async () => {
    const { code, report } = await compare("http://127.0.0.1:1", "embedded:svc", "--only", "errors", "--runs", "2");
    expect(code).toBe(3);
    expect(report.undecided.join()).toContain("ECONNREFUSED");
  });

  it.each([
    [["embedded:svc", "embedded:svc", "--a-token", "x"], "--a-token says how to reach a server"],
    [["http://127.0.0.1:1", "embedded:svc", "--a-fault", "list-null-items"], "--a-fault list-null-items changes"],
    [
      ["http://127.0.0.1:1", "embedded:svc", "--a-client-cert", "package.json"],
      "--a-client-cert and --a-client-key go",
    ],
    [["embedded:svc", "svcconfig:package.json"], "svcconfig:package.json"],
    [["embedded:svc", "http://127.0.0.1:1", "--b-context", "x"], "--b-context names a context"],
  ])("refuses %j, and says why", async (args, why) => {
    expect(await refusalHere("diff", ...args)).toContain(why);
  });

  it.each([
    [["diff", "embedded:svc"], "Error: "],
    [["diff", "embedded:openshift", "embedded:svc"], "embedded:kubernetes"],
    [["diff", "embedded:svc", "embedded:svc", "--only", "poems"], "Topics: objects"],
  ])("%j is a usage error", async (args, advice) => {
    const { code, stderr } = await saidHere(...args);
    expect(stderr).toContain(advice);
    expect(code).toBe(2);
  });
});
