/** What a person meets who points the suite at something for the first time: an address that is wrong, or too much to do. */
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createSocketServer, type Server as SocketServer } from "node:net";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { startWallServer } from "../../sim/http/wall-server.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { saidHere } from "../said-here.fixture.ts";
import { cleanUp, scratch, scratchFile } from "../spawned-command.fixture.ts";

const opened: (Server | SocketServer)[] = [];

afterEach(() => {
  for (const server of opened.splice(0)) {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
  }
});
afterAll(cleanUp);

async function listening(server: Server | SocketServer): Promise<number> {
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A server that answers everything alike, and how often it was asked. */
async function answering(answer: RequestListener): Promise<{ url: string; asked: () => number }> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    request.resume();
    answer(request, response);
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, asked: () => count };
}

const day = 86_400_000;
const certificate = (fromDays: number, toDays: number) =>
  selfSignedCertificate({
    hosts: ["127.0.0.1"],
    notBeforeMillis: Date.now() + fromDays * day,
    notAfterMillis: Date.now() + toDays * day,
  });

/** Prints a sentence of its own and no failure, without waiting for anything. */
async function isToldAtOnce(sentence: string, ...words: string[]): Promise<void> {
  const { code, stdout } = await runHere("conform", ...words);
  expect(stdout).toContain(sentence);
  expect(stdout.split("\n").length).toBeLessThan(12);
  expect(stdout).toMatch(/\n0 of \d+ checks, 0 programs, /);
  expect(code).toBe(3);
}

describe("what is no cluster API is told so, in a sentence", () => {
  const json = { "content-type": "application/json" };
  it.each<[what: string, sentence: string, answer: RequestListener]>([
    [
      "an empty document",
      'this is no cluster API: GET /api/v1 answers 200 application/json "{}"',
      (_, to) => to.writeHead(200, json).end("{}"),
    ],
    [
      "a page",
      'this is no cluster API: GET /api/v1 answers 200 text/html "<h1>Hello</h1>"',
      (_, to) => to.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>"),
    ],
    [
      "a redirect",
      "GET /api/v1 answers 302, which leads to http://elsewhere/login",
      (_, to) => to.writeHead(302, { location: "http://elsewhere/login" }).end(),
    ],
    ["an error whatever is asked", "GET /api/v1 answers 500 without a media type", (_, to) => to.writeHead(500).end()],
    [
      "nothing at the path",
      'GET /api/v1 answers 404 application/json "{}"; is the path in the URL right?',
      (_, to) => to.writeHead(404, json).end("{}"),
    ],
    [
      "no credentials",
      "the credentials are not accepted: GET /api/v1 answers 401",
      (_, to) => to.writeHead(401, json).end('{"kind":"Status","code":401}'),
    ],
    [
      "no rights",
      "the credentials allow nothing: GET /api/v1 and GET /api/v1/namespaces answer 403",
      (_, to) => to.writeHead(403, json).end('{"kind":"Status","code":403}'),
    ],
  ])("%s", async (_, sentence, answer) => {
    const { url, asked } = await answering(answer);
    await isToldAtOnce(sentence, `${url}/base`);
    expect(asked()).toBeLessThan(5); // no cleanup of what was never made
  });

  it("a body without end", async () => {
    const chunk = Buffer.alloc(1 << 20, " ");
    let sent = 0;
    const { url } = await answering((_, response) => {
      response.writeHead(200, json);
      const more = (): void => {
        do sent += chunk.length;
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      more();
    });
    await isToldAtOnce("the target was not reached: ", url);
    expect(sent).toBeLessThan(100 << 20);
  });
});

describe("a way in that leads nowhere is told so, in a sentence", () => {
  it("https to a port that is plain, and http to one that is not", async () => {
    const { url } = await answering((_, response) => response.end("{}"));
    await isToldAtOnce(
      "the server does not speak TLS there: give the URL with http://",
      url.replace("http:", "https:"),
    );
    const { certificate: cert, privateKey: key } = certificate(-1, 1);
    const port = await listening(createTlsServer({ cert, key }, (_, response) => response.end("{}")));
    await isToldAtOnce("the target was not reached: ", `http://127.0.0.1:${port}`);
  });

  it.each<[what: string, sentence: string, pair: ReturnType<typeof certificate>]>([
    ["an expired certificate", "the server's certificate has expired", certificate(-9, -2)],
    ["a certificate of tomorrow", "the server's certificate is not valid yet", certificate(1, 9)],
  ])("%s", async (name, sentence, { certificate: cert, privateKey: key }) => {
    const port = await listening(createTlsServer({ cert, key }, (_, response) => response.end("{}")));
    const file = scratchFile(`${name.replaceAll(" ", "-")}.pem`, cert);
    await isToldAtOnce(sentence, `https://127.0.0.1:${port}`, "--ca-file", file);
  });

  it("a certificate that nobody here trusts, and one for another name", async () => {
    const { certificate: cert, privateKey: key } = certificate(-1, 1);
    const port = await listening(createTlsServer({ cert, key }, (_, response) => response.end("{}")));
    await isToldAtOnce("give its authority with --ca-file", `https://127.0.0.1:${port}`);
    const file = scratchFile("trusted.pem", cert);
    await isToldAtOnce("is for another name", `https://localhost:${port}`, "--ca-file", file);
  });

  it("a server of another protocol, and none at all", async () => {
    const port = await listening(createSocketServer((socket) => socket.end("220 mail.example.com ESMTP\r\n")));
    await isToldAtOnce("the server does not speak HTTP there", `http://127.0.0.1:${port}`);
    await isToldAtOnce("nobody listens there", "http://127.0.0.1:1");
  });
});

describe("a run that is cut, by time or into shares", () => {
  const served = async () => {
    const server = await startWallServer({
      seed: "1",
      port: 0,
      bindAddress: "127.0.0.1",
      profile: profiles.kubernetes,
      tokens: [],
      anonymousAuth: true,
      onError: (error) => {
        throw error;
      },
    });
    return { url: server.url, close: () => server.close() };
  };

  it("says which profile is probably meant, where the API groups are those of the other dialect", async () => {
    const { url, close } = await served();
    const words = ["conform", url, "--only", "generation-counts-the-spec", "--runs", "1"];
    const hint =
      "The server's API groups end in .k8s.io, and profile svc expects .svc.io: --profile kubernetes is probably what is meant.";
    expect((await saidHere(...words)).stderr).toContain(hint);
    expect((await saidHere(...words, "--profile", "kubernetes")).stderr).not.toContain("API groups");
    await close();
  });

  it("--max-time ends it in order: what is not judged is inconclusive, and nothing is left behind", async () => {
    const { url, close } = await served();
    const words = ["conform", url, "--profile", "kubernetes", "--only", "watch", "--max-time", "1s", "--json"];
    const { code, stdout } = await runHere(...words);
    const report = JSON.parse(stdout) as SuiteReport;
    expect([code, report.conclusion, report.leftovers]).toEqual([3, "inconclusive", []]);
    const reasons = report.checks.flatMap(({ verdict }) => (verdict.status === "inconclusive" ? [verdict.why] : []));
    expect(reasons).toContain("the 1 s of --max-time were over");
    const namespaces = (await (await fetch(`${url}/api/v1/namespaces`)).json()) as {
      items: { metadata: { name: string } }[];
    };
    expect(namespaces.items.filter(({ metadata }) => metadata.name.startsWith("touchstone-"))).toEqual([]);
    await close();
  });

  it("a second interrupt leaves no folder of a report that is not there", async () => {
    const folder = join(scratch, "outer", "report");
    const atExit: boolean[] = [];
    const exit = vi
      .spyOn(process, "exit")
      .mockImplementation((() => atExit.push(existsSync(join(scratch, "outer")))) as never);
    const now = vi.spyOn(performance, "now");
    let isThere = false;
    const { url } = await answering(() => {
      // Nothing is answered: whoever asks waits, and is interrupted twice.
      if (isThere) return;
      isThere = existsSync(join(folder, "failures"));
      process.emit("SIGINT");
      now.mockReturnValue(performance.now() + 10_000);
      process.emit("SIGINT");
    });
    await runHere("conform", url, "--report", folder).catch(() => undefined);
    for (const spy of [exit, now]) spy.mockRestore();
    expect([isThere, atExit]).toEqual([true, [false]]);
  });

  it("--shard runs each check in one share, and view --merge makes one report of all", async () => {
    const some = ["conform", "--only", "lists,pages", "--runs", "4", "--jobs", "1"];
    const shares = ["1/3", "2/3", "3/3"].map((shard) => ({ shard, directory: join(scratch, shard.replace("/", "-")) }));
    for (const { shard, directory } of shares) {
      expect((await runHere(...some, "--shard", shard, "--report", directory)).code).not.toBe(2);
    }
    const whole = JSON.parse((await runHere(...some, "--json")).stdout) as SuiteReport;
    const directories = shares.map(({ directory }) => directory);
    expect(await refusalHere("view", "--merge", ...directories.slice(1))).toContain("the shares 1/3 are missing");
    const merged = JSON.parse(
      (await runHere("view", "--merge", ...directories, "--format", "json")).stdout,
    ) as SuiteReport;
    const checksOf = ({ checks }: SuiteReport) => checks.map(({ id, verdict }) => `${id} ${verdict.status}`).sort();
    expect(checksOf(merged)).toEqual(checksOf(whole));
    expect(merged.conclusion).toBe(whole.conclusion);
  });
});
