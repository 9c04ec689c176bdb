/** How a command is told which server to reach: what goes together, and a failure that is made again elsewhere. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import type { SuiteFailure } from "../../reports/schema/suite-report.ts";
import { profiles } from "../../sim/contract/profile.ts";
import type { ServerBugName } from "../../sim/planted/server-bugs.ts";
import type { Listening } from "../../sim/http/http1-server.ts";
import { selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import { startWallServer } from "../../sim/http/wall-server.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { cleanUp, run, scratch, scratchFile } from "../spawned-command.fixture.ts";

const validity = { notBeforeMillis: Date.now() - 60_000, notAfterMillis: Date.now() + 3_600_000 };
const server = selfSignedCertificate({ ...validity, hosts: ["127.0.0.1"] });
const client = selfSignedCertificate({ ...validity, hosts: ["tester"], usage: "client" });
const ca = scratchFile("ca.pem", server.certificate);
const cert = scratchFile("client.pem", client.certificate);
const key = scratchFile("client.key", client.privateKey);
const token = scratchFile("token", "secret\n");

/** A connection file of one server and one user, with a token. */
function connectionFile(name: string, url: string): string {
  const document = {
    clusters: [{ name: "here", cluster: { server: url, "certificate-authority": "ca.pem" } }],
    users: [{ name: "me", user: { tokenFile: "token" } }],
    contexts: [{ name: "main", context: { cluster: "here", user: "me" } }],
    "current-context": "main",
  };
  return scratchFile(name, JSON.stringify(document));
}

afterAll(cleanUp);

describe("flags that say how to reach a server", () => {
  const file = connectionFile("nowhere.yaml", "https://127.0.0.1:1");
  const url = "https://127.0.0.1:1";
  const byFile = ["--svcconfig", file];

  it.each<[string[], string]>([
    [[url, ...byFile], "--svcconfig says which server to reach and how, and a URL was given"],
    [[...byFile, "--token", "t"], "--token was given as well"],
    [[...byFile, "--token-file", token], "--token-file was given as well"],
    [[...byFile, "--ca-file", ca], "--ca-file was given as well"],
    [[...byFile, "--client-cert", cert, "--client-key", key], "--client-cert was given as well"],
    [[...byFile, "--client-key", key], "--client-key was given as well"],
    [[...byFile, "--insecure-skip-tls-verify"], "--insecure-skip-tls-verify was given as well"],
    [[...byFile, "--context", "elsewhere"], 'contexts: none is called "elsewhere"; there are main'],
    [[...byFile, "--fault", "list-null-items"], "--fault changes the embedded server, and --svcconfig was given"],
    [[...byFile, "--seeds", "2"], "leave the URL or --svcconfig out"],
    [[url, "--context", "main"], "--context names a context of a connection file"],
    [["--context", "main"], "no URL was given"],
    [["--http", "2"], "--http says how to reach"],
    [["--token", "t"], "no URL was given"],
    [[url, "--token", "t", "--token-file", token], "--token and --token-file both say"],
    [[url, "--client-cert", cert], "go together"],
    [[url, "--client-cert", key, "--client-key", cert], "no certificate in it"],
    [[url, "--token-file", scratchFile("empty", "\n")], "it is empty, and must hold a bearer token"],
    [[url, "--token-file", scratchFile("page", "<html>\n</html>\n")], "no white space within: give the token alone"],
    [[url, "--token", "clé"], "--token: a bearer token has only printable ASCII"],
  ])("conform %j is refused", async (words, told) => {
    expect(await refusalHere("conform", "--only", "lists", ...words)).toContain(told);
  });
});

describe("a failure of a server at a URL", () => {
  const report = join(scratch, "by-url");
  const failureFile = join(report, "failures", "errors-are-status-objects.json");
  const open: Listening[] = [];
  let broken: Listening;

  async function listen(bugs: readonly ServerBugName[]): Promise<Listening> {
    const listening = await startWallServer({
      seed: "1",
      port: 0,
      bindAddress: "127.0.0.1",
      profile: profiles.svc,
      anonymousAuth: false,
      bugs,
      tls: { ...server, clientAuthorities: client.certificate },
      tokens: [{ token: "secret", user: "admin", uid: "1", groups: [] }],
      onError: (error) => expect.unreachable(String(error)),
    });
    open.push(listening);
    return listening;
  }

  beforeAll(async () => {
    broken = await listen(["error-not-status-object"]);
  });

  afterAll(() => Promise.all(open.map((each) => each.close(0))));

  it("is found through a connection file", async () => {
    const file = connectionFile("broken.yaml", broken.url);
    const only = ["--only", "errors-are-status-objects", "--svcconfig", file];
    const { code, stderr, stdout } = await run("conform", ...only, "--report", report);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toContain(`conform --svcconfig ${file} `);
    expect(stdout).not.toContain("secret");
  });

  it("keeps no secret, and says in curl's words what it needs", () => {
    const text = readFileSync(failureFile, "utf8");
    expect(text).not.toContain("secret");
    expect((JSON.parse(text) as SuiteFailure).curl).toContain('-H "Authorization: Bearer $TOKEN" --cacert $CA_FILE');
  });

  it.each<[string, string[]]>([
    ["a token", ["--token", "secret", "--ca-file", ca]],
    ["a token from a file, over HTTP/1.1", ["--token-file", token, "--ca-file", ca, "--http", "1.1"]],
    ["a client certificate", ["--client-cert", cert, "--client-key", key, "--ca-file", ca]],
    ["any certificate trusted", ["--token", "secret", "--insecure-skip-tls-verify"]],
  ])("comes back with %s", async (_name, words) => {
    const { code, stdout } = await runHere("replay", failureFile, ...words, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ result: "same" });
    expect(code).toBe(1);
  });

  it("is looked for where a connection file says that the server is now", async () => {
    const mended = await listen([]);
    const now = connectionFile("mended.yaml", mended.url);
    const { code, stdout } = await runHere("replay", failureFile, "--svcconfig", now, "--context", "main", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      result: "gone",
      explanation: expect.stringContaining("state of its own"),
    });
    expect(code).toBe(0);
  });

  it("is not said to be gone by a server that lets nobody in", async () => {
    const { code, stdout } = await runHere("replay", failureFile, "--ca-file", ca, "--token", "wrong", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ result: "unknown" });
    expect(code).toBe(3);
  });

  it("is not made again by flags that contradict each other", async () => {
    const file = connectionFile("again.yaml", broken.url);
    expect(await refusalHere("replay", failureFile, "--svcconfig", file, "--token", "t")).toContain(
      "--token was given as well",
    );
    expect(await refusalHere("replay", failureFile, "--context", "main")).toContain("give the file with --svcconfig");
  });

  it("of the embedded server takes no flag that reaches another", async () => {
    const failure = JSON.parse(readFileSync(failureFile, "utf8")) as SuiteFailure;
    const target = { kind: "embedded", address: "$SERVER", details: {} };
    const embedded = scratchFile("embedded.json", JSON.stringify({ ...failure, target }));
    for (const words of [["--svcconfig", ca], ["--http", "2"], ["--token", "t"], ["--insecure-skip-tls-verify"]]) {
      expect(await refusalHere("replay", embedded, ...words)).toContain(
        `${words[0]} says how to reach a server, and ${embedded} is of the embedded server`,
      );
    }
  });
});
