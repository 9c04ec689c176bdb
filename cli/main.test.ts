/** The command as its users meet it: a process, its two streams and its exit code. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { refusalHere } from "./command-here.fixture.ts";
import { saidHere } from "./said-here.fixture.ts";
import { cleanUp, get, main, root, run, scratchFile, start } from "./spawned-command.fixture.ts";

afterAll(cleanUp);

/** A file that is nothing of what commands read. */
const source = join(root, "cli/main.ts");

describe.concurrent("touchstone", { timeout: 180_000 }, () => {
  it("says its version and helps, with the exit codes", async () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect(await run("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    const help = await run("--help");
    expect(help.code).toBe(0);
    for (const word of ["conform", "serve", "run", "replay", "Exit codes: 0 good; 1 the target failed"])
      expect(help.stdout).toContain(word);
  });

  it.each(["conform", "serve", "run", "replay"])("helps with %s, by example", async (command) => {
    const { code, stdout } = await run(command, "--help");
    expect(code).toBe(0);
    expect(stdout).toContain(`Examples:\n  touchstone ${command}`);
  });

  it("completes in a shell", async () => {
    const { code, stdout } = await run("completion", "bash");
    expect(code).toBe(0);
    expect(stdout).toContain("_touchstone");
    expect((await run("completion", "bash", "serve", "--fault", "watch-start")).stdout).toContain(
      "watch-start-inclusive",
    );
  });

  it("ends with 2 at a usage error, which it says on its standard error", async () => {
    const { code, stdout, stderr } = await run("conform", "--sed", "1");
    expect(stderr).toMatch(/^Error: .*`--sed`[^]*Did you mean `--seed`\?/);
    expect([code, stdout]).toEqual([2, ""]);
  });
});

describe.concurrent("output that nobody takes", { timeout: 60_000 }, () => {
  it.each([
    ["what is printed at the end", 0, ["conform", "--list"]],
    ["what is printed on the way", 3, ["conform", "--only", "lists-come-in-key-order", "--format", "ndjson"]],
  ])("is no error of Touchstone: %s", async (_, expected, args) => {
    const { child, ended } = start(...args);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: expected, stderr: "" });
  });

  it("is told where it cannot be written", () => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [main, "conform", "--list"], {
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect(stderr).toMatch(/^Error: what was to be printed cannot be written: ENOSPC/);
    expect(status).toBe(3);
  });

  it("is told where its events cannot be written, before anything runs", async () => {
    const { code, stderr } = await run("conform", "--only", "lists-come-in-key-order", "--events", "/dev/full");
    expect(stderr).toBe("Error: --events /dev/full: cannot be written: its file system is full. Name another file.\n");
    expect(code).toBe(2);
  });
});

describe("commands", () => {
  it.each([
    [["conform", "--sed", "1"], "`--sed`", "Did you mean `--seed`?"],
    [["conform", "--seed", "x"], "`--seed`", "integer"],
    [["conform", "--seed", "4294967296"], "`--seed`", "4294967295"],
    [["conform", "--profile", "openshift"], "`--profile`", '"svc" and "kubernetes"'],
    [["conform", "ftp://x"], "`URL`", "http://127.0.0.1:8001"],
    [["conform", "--fault", "list-nul-items"], "`--fault`", "Near names: list-null-items"],
    [["serve", "--port", "65536"], "`--port`", "65,535"],
    [["serve", "--history-window", "5"], "`--history-window`", "5m"],
    [["serve", "--feature-gates", "Nope=true"], "`--feature-gates`", "WatchList"],
    [["serve", "--bind-address", "192.0.2.1"], "--bind-address 192.0.2.1", "no such address"],
    [["run", "nowhere.yaml"], "`SCENARIO`", "nowhere.yaml"],
    [["serv"], "`serv`", "Did you mean `serve`?"],
    [["serve", "--faults", "list-null-items"], "`--faults`", "`serve --fault NAME` plants a bug in this server"],
    [["serve", "--fault", "all"], "`--fault`", "`conform --faults all` tries each of them in turn"],
    [["diff", "embedded:svc", "embedded:svc", "--fault", "x"], "`--fault`", "`--a-fault NAME` or `--b-fault NAME`"],
    [["serve", "--check-determinis"], "`--check-determinis`", "See `touchstone serve --help`"],
    [
      [],
      "command",
      "The commands are conform, serve, agent, run, hunt, capacity, shrink, diff, replay, config, runtime, view.\nSee `touchstone --help`",
    ],
    [["lint"], "`lint`", "The commands are conform, serve"],
    [
      ["capacity", "x.yaml", "--reprt"],
      "Unexpected option or subcommand: `--reprt`.\nSee `touchstone capacity --help`.",
      "",
    ],
    [
      ["capacity", source, "--anonymise"],
      "Unexpected option or subcommand: `--anonymise`.\nSee `touchstone capacity --help`.",
      "",
    ],
    [["capacity", source, "--report", "x"], "`--report`", "`--output DIR` says where the report goes"],
    [["capacity", "compare"], "capacity compare needs a report of two arms, or several reports.", ""],
  ])("%j is a usage error that says what and what to do", async (args, what, advice) => {
    const { code, stdout, stderr } = await saidHere(...args);
    expect(stderr.replaceAll("4,294,967,295", "4294967295")).toContain(what);
    expect(stderr.replaceAll("4,294,967,295", "4294967295")).toContain(advice);
    expect(stderr).toMatch(/^Error: /);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  it.each([
    [["conform", "--only", "wach"], "wach"],
    [["serve", "--tls-cert-file", source], "go together"],
    [["serve", "--client-ca-file", source], "need TLS: add --tls"],
    [["serve", "--token-auth-file", source], "line 1"],
    [["serve", "--port", "0", "--unreadable", "/api/v1/nodes"], "such as /api/v1/namespaces"],
    [["run", source], "main.ts:1:1"],
    [
      ["run", "scenarios/one-broken-link.yaml", "--fault", "client-relist-keep-deleted"],
      "did you mean client-relist-keeps-deleted?",
    ],
    [["conform", "http://127.0.0.1:1", "--fault", "list-null-items"], "touchstone serve --fault"],
    [["conform", "--path", "1:1"], "--path names one program of one check: give --only"],
    [["conform", "--only", "collections-name-their-kind", "--path", "3"], "has no programs, but one course"],
    [["conform", "--faults", "all", "--fault", "generation-wrong"], "leave --fault out"],
    [["conform", "--rarity", "20"], "none is planted"],
    [["replay", source], "main.ts: not JSON"],
    [["replay", scratchFile("report.json", '{ "apiVersion": "reports/v1", "kind": "SuiteReport" }')], "failures/"],
  ])("refuse %j, and say what to do", async (args, advice) => {
    expect(await refusalHere(...args)).toContain(advice);
  });
});

describe.concurrent("touchstone serve", { timeout: 180_000 }, () => {
  it("prints its address first, answers, and ends at SIGTERM with its watches, over HTTP/1.1 and HTTP/2", async () => {
    const server = start("serve", "--port", "0", "--profile", "kubernetes");
    const line = await server.firstLine;
    expect(line).toMatch(/^serving on http:\/\/127\.0\.0\.1:\d+$/);
    const url = line.replace("serving on ", "");
    const answer = await get(`${url}/api/v1/namespaces/default`);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ kind: "Namespace", metadata: { name: "default" } });
    const list = JSON.parse((await get(`${url}/api/v1/configmaps`)).body) as { metadata: { resourceVersion: string } };
    const path = `/api/v1/configmaps?watch=true&resourceVersion=${list.metadata.resourceVersion}`;
    const watches = await Promise.all([watchOverHttp1(url, path), watchOverHttp2(url, path)]);
    server.child.kill("SIGTERM");
    expect(await Promise.all(watches.map(({ body }) => body))).toEqual(["", ""]);
    expect(await server.ended).toMatchObject({ code: 0, stderr: "" });
  });

  it("logs each request that has ended as a line of JSON, on request", async () => {
    const server = start("serve", "--port", "0", "--profile", "kubernetes", "--access-log");
    const url = (await server.firstLine).replace("serving on ", "");
    await get(`${url}/api/v1/namespaces/default?pretty=true`, { "user-agent": "tester/1" });
    await get(`${url}/nowhere`);
    const { body } = await watchOverHttp1(url, "/api/v1/configmaps?watch=true");
    server.child.kill("SIGTERM");
    await body;
    const { stderr } = await server.ended;
    const entries = stderr.split("\n").slice(0, -1);
    expect(entries.map((entry) => JSON.parse(entry) as unknown)).toEqual([
      {
        method: "GET",
        url: "/api/v1/namespaces/default?pretty=true",
        status: 200,
        bodyBytes: expect.any(Number),
        durationMicros: expect.any(Number),
        outcome: "answered",
        userAgent: "tester/1",
      },
      expect.objectContaining({ url: "/nowhere", status: 404, outcome: "answered" }),
      expect.objectContaining({ url: "/api/v1/configmaps?watch=true", status: 200, outcome: "drained" }),
    ]);
  });

  it("authenticates by its token file, and in svc refuses whoever has none", async () => {
    const tokens = scratchFile("tokens.csv", 'admin-token,admin,1,"system:masters"\n');
    const server = start("serve", "--port", "0", "--token-auth-file", tokens, "--json");
    const { serving } = JSON.parse(await server.firstLine) as { serving: string };
    const path = `${serving}/api/v1/namespaces/default`;
    expect((await get(path)).status).toBe(401);
    expect((await get(path, { authorization: "Bearer wrong" })).status).toBe(401);
    expect((await get(path, { authorization: "Bearer admin-token" })).status).toBe(200);
    server.child.kill("SIGINT");
    expect((await server.ended).code).toBe(0);
  });

  it("says so when nobody will be able to come in", async () => {
    const server = start("serve", "--port", "0");
    await server.firstLine;
    server.child.kill("SIGTERM");
    expect((await server.ended).stderr).toContain("every answer will be 401");
  });

  it("speaks TLS with a certificate of its own, which it shows", async () => {
    const server = start("serve", "--port", "0", "--tls", "--profile", "kubernetes");
    expect(await server.firstLine).toMatch(/^serving on https:/);
    server.child.kill("SIGTERM");
    expect((await server.ended).stderr).toContain("-----BEGIN CERTIFICATE-----");
  });

  it("does not take a port that somebody has", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await run("serve", "--port", String(port));
    taken.close();
    expect(code).toBe(2);
    expect(stderr).toContain("another process listens there");
  });
});

describe("touchstone run", { timeout: 180_000 }, () => {
  const scenario = "scenarios/one-broken-link.yaml";

  it("prints verdicts and the trace hash, the same for the same seed", async () => {
    const first = await run("run", scenario, "--json");
    expect([first.code, first.stderr]).toEqual([0, ""]);
    const report = JSON.parse(first.stdout) as { traceHash: string; expectations: unknown[] };
    expect(report.expectations).toHaveLength(4);
    const again = await saidHere("run", scenario);
    expect(again.stdout).toContain(`trace ${report.traceHash} `);
    expect(again.stdout).toContain("PASSED informer.converges by 20 s");
    const other = await saidHere("run", scenario, "--seed", "7", "--json");
    expect((JSON.parse(other.stdout) as { traceHash: string }).traceHash).not.toBe(report.traceHash);
  });

  it("plays twice on request", async () => {
    const { code, stdout } = await saidHere("run", scenario, "--check-determinism");
    expect(code).toBe(0);
    expect(stdout).toContain("Played twice: the same trace, record for record.");
  });

  it("fails when an expectation does", async () => {
    const text = readFileSync(join(root, scenario), "utf8").replace("detect: 3s", "detect: 40s");
    const { code, stdout } = await run("run", scratchFile("slow.yaml", text));
    expect(stdout).toContain("FAILED informer.converges by 20 s\n  promised  ");
    expect(code).toBe(1);
  });
});

/** A watch whose head has come, and all that comes after it until it ends. */
interface OpenWatch {
  readonly body: Promise<string>;
}

function watchOverHttp1(url: string, path: string): Promise<OpenWatch> {
  return new Promise((resolve, reject) => {
    request(url + path, { agent: false }, (incoming) => resolve({ body: textOf(incoming) }))
      .on("error", reject)
      .end();
  });
}

function watchOverHttp2(url: string, path: string): Promise<OpenWatch> {
  const session = connectHttp2(url);
  const stream = session.request({ ":path": path });
  return new Promise((resolve, reject) => {
    session.on("error", reject);
    stream.on("response", () => resolve({ body: textOf(stream).finally(() => session.close()) }));
  });
}

function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    stream
      .on("data", (chunk: Buffer) => (text += chunk.toString()))
      .on("end", () => resolve(text))
      .on("error", reject);
  });
}
