/** The main job end to end: the suite against the embedded server, and against a served one by its URL. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { faultReportSchema } from "../../reports/schema/fault-report.ts";
import type { SuiteFailure, SuiteReport } from "../../reports/schema/suite-report.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { saidHere } from "../said-here.fixture.ts";
import { cleanUp, get, run, type Running, scratch, scratchFile, start } from "../spawned-command.fixture.ts";

/** Areas that need no waiting: quick by URL too. */
const quick = ["--only", "pages,errors,content", "--runs", "8", "--json"];

const statuses = ({ requirements }: SuiteReport): Record<string, string> =>
  Object.fromEntries(requirements.map(({ id, outcome }) => [id, outcome.status]));

async function serve(...args: string[]): Promise<{ url: string; server: Running }> {
  const server = start("serve", "--port", "0", ...args);
  return { url: (await server.firstLine).replace("serving on ", ""), server };
}

afterAll(cleanUp);

describe.concurrent("touchstone conform", { timeout: 180_000 }, () => {
  // Under svc, and by every way in: ways-in.test.ts.
  it("comes to the same verdict embedded and by URL, profile kubernetes", async () => {
    const profile = "kubernetes";
    const tokens = scratchFile("tokens.csv", 'secret,admin,1,"system:masters"\n');
    const { url, server } = await serve("--profile", profile, "--token-auth-file", tokens);
    const byUrl = await run("conform", url, "--profile", profile, "--token", "secret", ...quick);
    server.child.kill("SIGTERM");
    const embedded = await saidHere("conform", "--profile", profile, ...quick, "--jobs", "1");
    expect([embedded.stderr, byUrl.stderr]).toEqual(["", ""]);
    const reports = [embedded, byUrl].map(({ stdout }) => JSON.parse(stdout) as SuiteReport);
    expect(reports[0]?.conclusion).toBe("conformant");
    expect(statuses(reports[1] as SuiteReport)).toEqual(statuses(reports[0] as SuiteReport));
    expect([embedded.code, byUrl.code]).toEqual([0, 0]);
    expect(byUrl.stdout).not.toContain("secret");
  });

  it("leaves a partial report when it is interrupted", async () => {
    const { url, server } = await serve("--profile", "kubernetes", "--access-log");
    const asked = new Promise<void>((resolve) => {
      server.child.stderr?.on("data", (chunk: Buffer) => {
        if (chunk.includes('"POST"')) resolve();
      });
    });
    const directory = join(scratch, "interrupted");
    const conform = start("conform", url, "--profile", "kubernetes", "--report", directory);
    await asked;
    conform.child.kill("SIGINT");
    const { code, stdout, stderr } = await conform.ended;
    expect((await get(`${url}/api/v1/namespaces`)).body).not.toContain("touchstone"); // nothing is left behind
    server.child.kill("SIGTERM");
    expect(stderr).toContain("Stopping");
    expect(stdout).toContain("cut short");
    expect(code).toBe(3);
    expect(JSON.parse(readFileSync(join(directory, "report.json"), "utf8"))).toMatchObject({ complete: false });
  });
});

describe("touchstone conform, embedded", { timeout: 180_000 }, () => {
  it("repeats itself, number for number, when embedded, on one thread or on two", async () => {
    const some = ["conform", "--only", "lists", "--runs", "3", "--json"];
    const [alone, shared] = [await runHere(...some, "--jobs", "1"), await runHere(...some, "--jobs", "2")];
    expect(shared.stdout).toContain('"jobs": 2');
    expect(alone.stdout).toBe(shared.stdout.replace('"jobs": 2', '"jobs": 1'));
  });

  it("tries the suite itself: what is planted is found, or said to be missed, and nothing else is", async () => {
    const hunt = ["conform", "--only", "generation-counts-the-spec,lists-come-in-key-order", "--runs", "8"];
    const found = await runHere(...hunt, "--faults", "generation-wrong", "--seeds", "2", "--jobs", "1", "--json");
    const missed = await runHere(...hunt, "--faults", "dry-run-persists", "--jobs", "1");
    const document: unknown = JSON.parse(found.stdout);
    expect(faultReportSchema.parse(document)).toEqual(document); // the published form knows every field
    expect(document).toMatchObject({
      faults: [
        { found: true, requirement: "objects.generation", replay: expect.stringContaining("--fault generation-wrong") },
      ],
      cleanSeeds: 2,
      falseFindings: [],
    });
    expect(missed.stdout).toContain("NOT FOUND");
    expect([found.code, missed.code]).toEqual([0, 1]);
  });
});

describe("the wait for expiry", { timeout: 180_000 }, () => {
  it("ends when it is interrupted, with what is known and nothing left behind", async () => {
    const { url, server } = await serve("--profile", "kubernetes");
    const flags = ["--profile", "kubernetes", "--only", "tokens-expire", "--format", "ndjson"];
    const conform = start("conform", url, ...flags);
    await new Promise<void>((resolve) => {
      conform.child.stdout?.on("data", (chunk: Buffer) => {
        if (chunk.includes('"expiring"')) resolve();
      });
    });
    conform.child.kill("SIGINT");
    const { code, stdout } = await conform.ended;
    const { body } = await get(`${url}/api/v1/namespaces`);
    server.child.kill("SIGTERM");
    expect(code).toBe(3);
    expect(stdout.trimEnd().split("\n").at(-1)).toContain('"complete":false');
    expect(body).not.toContain("touchstone");
  });
});

describe("a failure that conform leaves", () => {
  const directory = join(scratch, "report");
  const file = join(directory, "failures", "watch-starts-after-its-version.json");

  it("has evidence, and is made again by replay", async () => {
    const only = ["--only", "watch-starts-after-its-version"];
    const { code, stdout } = await runHere(
      "conform",
      "--fault",
      "watch-start-inclusive",
      ...only,
      "--jobs",
      "1",
      "--report",
      directory,
    );
    expect(code).toBe(1);
    expect(stdout).toContain("FAILED watch.after-version (must)   check watch-starts-after-its-version\n  promised  ");
    expect(stdout).toMatch(
      /program {3}\{"writers":\[\[(?:\{"do":[^{}]*\},?){1,2}\]\],"picks":\[0\]\} \(made smaller \d+ times\)\n/,
    );
    expect(stdout).toMatch(/replay {4}npx touchstone conform .*--path \S+ --fault watch-start-inclusive\n/);
    expect(readFileSync(join(directory, "report.txt"), "utf8")).toBe(stdout);
    expect(JSON.parse(readFileSync(join(directory, "report.json"), "utf8"))).toMatchObject({
      conclusion: "nonconformant",
    });
    expect(readdirSync(join(directory, "failures"))).toEqual(["watch-starts-after-its-version.json"]);

    const again = await runHere("replay", file);
    expect(again.stdout).toMatch(/^The same failure came back\.\n\nFAILED watch\.after-version/);
    expect(again.code).toBe(1);
  });

  it("is judged again from its history alone, watches and all", async () => {
    const same = await runHere("replay", file, "--judge-only", "--json");
    expect([same.code, JSON.parse(same.stdout)]).toMatchObject([1, { result: "same" }]);
    const failure = JSON.parse(readFileSync(file, "utf8")) as SuiteFailure;
    const wrong = failure.history.findLastIndex(({ arrivals }) => arrivals !== undefined);
    // Without the event that should not have come.
    const history = failure.history.map((exchange, index) => {
      if (index !== wrong) return exchange;
      const responseBody = exchange.responseBody.split("\n").slice(1).join("\n");
      return { ...exchange, responseBody, arrivals: exchange.arrivals?.slice(1) };
    });
    const mended = scratchFile("mended.json", JSON.stringify({ ...failure, history }));
    const lawful = await runHere("replay", mended, "--judge-only", "--json");
    expect([lawful.code, JSON.parse(lawful.stdout)]).toMatchObject([0, { result: "lawful" }]);
    const cut = scratchFile("cut.json", JSON.stringify({ ...failure, history: history.toSpliced(wrong, 1) }));
    const unknown = await runHere("replay", cut, "--judge-only", "--json");
    expect([unknown.code, JSON.parse(unknown.stdout)]).toMatchObject([
      3,
      { result: "unknown", explanation: expect.stringMatching(/holds no GET .*watch=(true|1)/) },
    ]);
    expect(await refusalHere("replay", file, "--judge-only", "--insecure-skip-tls-verify")).toContain(
      "--judge-only asks no server anything",
    );
  });

  it("is judged again by what holds in every exchange, too", async () => {
    const folder = join(scratch, "witnessed");
    const flags = ["--only", "collections-name-their-kind", "--fault", "list-null-items", "--report", folder];
    expect((await runHere("conform", ...flags)).code).toBe(1);
    const failure = join(folder, "failures", "collections-name-their-kind.json");
    const same = await runHere("replay", failure, "--judge-only", "--json");
    expect([same.code, JSON.parse(same.stdout)]).toMatchObject([1, { result: "same" }]);
  });

  it("is judged again where the program lived in a namespace of one before it", async () => {
    const folder = join(scratch, "lodged");
    const flags = ["--only", "collections-follow-their-writer", "--fault", "limited-exact-is-present"];
    expect((await runHere("conform", ...flags, "--report", folder)).code).toBe(1);
    const failure = join(folder, "failures", "collections-follow-their-writer.json");
    const recorded = JSON.parse(readFileSync(failure, "utf8")) as SuiteFailure;
    const history = recorded.history.filter(({ path }) => path !== "/api/v1/namespaces");
    const names = [...new Set(JSON.stringify(history).match(/touchstone-[a-z0-9]+-\d+/g))];
    expect([names.length, JSON.stringify(history).includes(`%3D${names[0]}`)]).toEqual([1, true]);
    // Its namespaces are called otherwise than it is itself.
    const elsewhere = JSON.stringify({ ...recorded, history }).replaceAll(
      /(?<!%3D|own\\":\\")touchstone-([a-z0-9]+)-\d+/g,
      "touchstone-$1-0",
    );
    const again = await runHere("replay", scratchFile("lodged.json", elsewhere), "--judge-only", "--json");
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([1, { result: "same" }]);
  });

  it("is told from what is gone, what is another, and what cannot be made again", async () => {
    const failure = JSON.parse(readFileSync(file, "utf8")) as SuiteFailure;
    const changed = (change: object): string => scratchFile("changed.json", JSON.stringify({ ...failure, ...change }));
    const mended = { target: { ...failure.target, details: { ...(failure.target.details as object), faults: [] } } };
    const gone = await runHere("replay", changed(mended), "--json");
    expect(JSON.parse(gone.stdout)).toMatchObject({
      result: "gone",
      explanation: expect.stringMatching(
        /^Not reproduced: .* The target answers otherwise now, first at request \d+, GET /,
      ),
    });
    expect(gone.code).toBe(0);

    const other = await runHere("replay", changed({ actual: "something else" }), "--json");
    expect(JSON.parse(other.stdout)).toMatchObject({ result: "other" });
    expect(other.code).toBe(1);

    expect(await refusalHere("replay", changed({ path: `${failure.path}:99:99` }))).toContain(
      "names no program of watch-starts-after-its-version at seed 1",
    );
    expect(await refusalHere("replay", changed({ target: { ...failure.target, details: {} } }))).toContain(
      "other switches",
    );
  });
});

it("proves nothing about a server that is not there", async () => {
  const { code, stdout } = await runHere("conform", "http://127.0.0.1:1", "--only", "lists");
  expect(stdout).toContain("the target was not reached");
  expect(code).toBe(3);
});
