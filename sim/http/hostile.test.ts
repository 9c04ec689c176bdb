/** What a client can do to a server with nothing but a socket: a clear error or a bounded cost, and others are served. */
import { IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kubernetesProfile } from "../contract/profile.ts";
import type { Listening } from "./http1-server.ts";
import { heldBytes } from "./memory-limit.ts";
import { RawSocket, statuses } from "./raw-socket.fixture.ts";
import { startWallServer, type WallServerOptions } from "./wall-server.ts";

/**
 * Every connection takes two of the files that this process may have open, one at either end; a thousand are left to
 * whoever else needs some. Where the limit is small, so is the number of watches.
 */
const watchCount = Math.min(10_000, Math.max(10, Math.floor((openFilesMax() - 1_000) / 2)));

function openFilesMax(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | "unlimited" } } };
  return Number(userLimits?.open_files?.soft ?? 1_024) || Number.POSITIVE_INFINITY; // unlimited is no number
}

const configMaps = "/api/v1/namespaces/default/configmaps";

let server: Listening;
let sockets: RawSocket[];
let failures: unknown[];
const answered: string[] = [];

async function serve(options: Partial<WallServerOptions> = {}): Promise<void> {
  server = await startWallServer({
    seed: "hostile",
    port: 0,
    bindAddress: "127.0.0.1",
    profile: kubernetesProfile,
    onError: (error) => failures.push(error),
    accessLog: ({ url }) => answered.push(url),
    ...options,
  });
}

beforeEach(() => {
  sockets = [];
  failures = [];
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close(0);
  if (failures.length > 0) throw new AggregateError(failures, "an event of the server threw");
});

function raw(send: string | Uint8Array = ""): RawSocket {
  const socket = new RawSocket(server.port, send);
  sockets.push(socket);
  return socket;
}

const get = (target: string, more = ""): string => `GET ${target} HTTP/1.1\r\nHost: h\r\n${more}\r\n`;

const post = (body: string, type = "application/json"): string =>
  `POST ${configMaps} HTTP/1.1\r\nHost: h\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body, "latin1")}\r\n\r\n${body}`;

const map = (name: string, data = "v"): string =>
  JSON.stringify({ kind: "ConfigMap", metadata: { name }, data: { k: data } });

async function stillAnswers(): Promise<void> {
  const answer = await raw(get("/healthz", "Connection: close\r\n")).ended;
  expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nok$/);
}

/** All that comes back for `send` and a last request behind it. */
const answersTo = (send: string): Promise<string> => raw(send + get("/healthz", "Connection: close\r\n")).ended;

describe("heads", () => {
  beforeEach(() => serve());

  it.each([
    ["one header of two megabytes", get("/healthz", `X-A: ${"a".repeat(2 << 20)}\r\n`), 431],
    ["a request line of two megabytes", get(`/${"a".repeat(2 << 20)}`), 431],
    ["thousands of headers", get("/healthz", "X-A: a\r\n".repeat(200_000)), 431],
    ["a selector of two megabytes", get(`${configMaps}?labelSelector=${"a,".repeat(1 << 20)}`), 431],
    ["a header without an end", "GET / HTTP/1.1\r\nHost h\r\n\r\n", 400],
    ["a name of binary", "GET / HTTP/1.1\r\nHost: h\r\n\x00\x01: x\r\n\r\n", 400],
    ["a newline in a value", "GET / HTTP/1.1\r\nHost: h\r\nX-A: a\nb\r\n\r\n", 400],
    ["no host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["two hosts", get("/healthz", "Host: i\r\n"), 400],
    ["the same host twice", get("/healthz", "host: h\r\n"), 400],
    ["a coding before the chunks", get("/healthz", "Transfer-Encoding: gzip, chunked\r\n") + "0\r\n\r\n", 501],
    ["another coding", get("/healthz", "Transfer-Encoding: gzip\r\n"), 501],
    ["two codings", get("/healthz", "Transfer-Encoding: chunked\r\n".repeat(2)) + "0\r\n\r\n", 501],
    ["a length and chunks", get("/healthz", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400],
    ["chunks and a length", get("/healthz", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n", 400],
    ["no version", "GET /version\r\n\r\n", 400],
    ["a version of the future", "GET / HTTP/9.9\r\nHost: h\r\n\r\n", 400],
    ["nonsense", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
  ])("with %s are refused, and the connection ends", async (_, send, status) => {
    const [first] = statuses(await raw(send).ended);
    // Node ends a connection that goes on sending without waiting for the answer to be read: then there is none.
    if (first !== undefined) expect(first).toBe(status);
    await stillAnswers();
  });

  it.each([
    ["labelSelector", "(".repeat(300_000)],
    ["labelSelector", "a%3Db,".repeat(50_000)],
    ["fieldSelector", "metadata.name=a,".repeat(30_000)],
    ["continue", "A".repeat(500_000)],
    ["resourceVersion", "9".repeat(100_000)],
  ])("may have a %s of hundreds of kilobytes", async (name, value) => {
    const received = await answersTo(get(`${configMaps}?${name}=${value}`));
    expect(statuses(received)).toHaveLength(2);
    expect(statuses(received)[1]).toBe(200);
  });
});

describe("bodies", () => {
  beforeEach(() => serve());
  const chunked = (body: string, more = ""): string =>
    `POST ${configMaps} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n${more}Transfer-Encoding: chunked\r\n\r\n${body}`;
  const smuggled = "0\r\n\r\nGET /version HTTP/1.1\r\nHost: h\r\n\r\n";

  it.each([
    ["a chunk's size of letters", chunked("xyz\r\nhi\r\n0\r\n\r\n")],
    ["a chunk's size below zero", chunked("-1\r\nhi\r\n0\r\n\r\n")],
    ["a chunk's size beyond any", chunked(`${"f".repeat(40)}\r\nhi\r\n0\r\n\r\n`)],
    ["a chunk longer than its size", chunked("1\r\nhi\r\n0\r\n\r\n")],
    ["endless chunk extensions", chunked(`2;${"a".repeat(100_000)}\r\nhi\r\n0\r\n\r\n`)],
    ["a length and chunks", chunked(smuggled, "Content-Length: 5\r\n")],
    ["chunks and a length", chunked(smuggled).replace("\r\n\r\n", "\r\nContent-Length: 5\r\n\r\n")],
    ["two lengths", post(map("a")).replace("\r\n\r\n", "\r\nContent-Length: 3\r\n\r\n")],
    ["a coding before the chunks", chunked(smuggled).replace(": chunked", ": gzip, chunked")],
    ["a second host", chunked(smuggled, "Host: i\r\n")],
    ["chunks that are not the last coding", chunked(smuggled).replace(": chunked", ": chunked, identity")],
    ["chunks spelt otherwise", chunked(smuggled).replace(": chunked", ": xchunked")],
    ["chunks under a name with a space", chunked(smuggled).replace("Transfer-Encoding:", "Transfer-Encoding :")],
    ["a length with a sign", post(map("a")).replace("Content-Length: ", "Content-Length: +")],
    ["a folded header", post(map("a")).replace("\r\n\r\n", "\r\nX-A: a\r\n b\r\n\r\n")],
  ])("with %s are refused, and what follows is no request", async (_, send) => {
    const received = await answersTo(send);
    // An answer or none: whoever is behind it, there is no second one.
    expect(statuses(received).filter((status) => ![400, 413, 501].includes(status))).toEqual([]);
    expect(received).not.toContain("gitVersion");
    expect(await answersTo(get(configMaps))).toContain('"items":[]');
  });

  it.each([
    ["invalid UTF-8", '{"kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"\xff\xfe\xc3"}}'],
    ["an overlong encoding", '{"kind":"ConfigMap","metadata":{"name":"a"},"data":{"\xc0\xaf":"v"}}'],
    ["half a surrogate", '{"kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"\xed\xa0\x80"}}'],
    [
      "a key __proto__ everywhere",
      '{"kind":"ConfigMap","__proto__":{"x":1},"metadata":{"name":"a","__proto__":{"x":1},"labels":{"__proto__":"x"}},"data":{"__proto__":"v"}}',
    ],
    [
      "a key constructor everywhere",
      '{"kind":"ConfigMap","constructor":{"prototype":{"x":1}},"metadata":{"name":"a"},"data":{"constructor":"v"}}',
    ],
    [
      "ten thousand lists in each other",
      `{"kind":"ConfigMap","metadata":{"name":"a"},"x":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
    ],
    [
      "a number of a hundred thousand digits",
      `{"kind":"ConfigMap","metadata":{"name":"a","generation":${"9".repeat(100_000)}}}`,
    ],
    ["a number beyond any", '{"kind":"ConfigMap","metadata":{"name":"a","generation":1e999999}}'],
    ["nothing", ""],
    ["zeros", "\0".repeat(10_000)],
  ])("with %s are answered in every type, and the next request is", async (_, body) => {
    const types = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor"];
    const patches = ["json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"];
    const patch = (type: string): string =>
      post(body, `application/${type}`).replace(`POST ${configMaps}`, `PATCH ${configMaps}/a?fieldManager=m`);
    for (const send of [...types.map((type) => post(body, type)), ...patches.map(patch)]) {
      const [first = 0, last] = statuses(await answersTo(send));
      expect([first, last]).toEqual([expect.toSatisfy((status: number) => status >= 200 && status < 500), 200]);
    }
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it("with aliases of aliases are refused", async () => {
    const lines = Array.from({ length: 12 }, (_, at) => `a${at}: &a${at} [${`*a${at - 1},`.repeat(10)}]`);
    const bomb = `kind: ConfigMap\n${lines.join("\n").replace("[*a-1", "[x").replaceAll("*a-1", "x")}\n`;
    expect(statuses(await answersTo(post(bomb, "application/yaml")))).toEqual([400, 200]);
  });

  it("beyond three megabytes are refused with 413, whole or in chunks, and never held", async () => {
    const whole = await answersTo(post(map("a", "v".repeat(4 << 20))));
    expect(statuses(whole)[0]).toBe(413);
    const socket = raw(chunked(""));
    const chunk = `10000\r\n${"v".repeat(0x10000)}\r\n`;
    for (let sent = 0; sent < 128; sent++) socket.send(chunk);
    expect(await socket.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 413 /);
    await stillAnswers();
  });
});

describe("bodies that nobody ends", () => {
  beforeEach(() => serve());

  it("are kept up to a bound of all clients, whoever they are: the oldest are told 429", {
    timeout: 60_000,
  }, async () => {
    const body = Buffer.alloc(2_900_000, 0x76);
    const head = `POST ${configMaps} HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length + 1}\r\n\r\n`;
    const all = Array.from({ length: 60 }, () => raw(Buffer.concat([Buffer.from(head), body])));
    const refused = (): number => all.filter(({ received }) => received.startsWith("HTTP/1.1 429 ")).length;
    // 174 MB in all, of 128 MiB.
    await expect.poll(refused).toBeGreaterThanOrEqual(13);
    await stillAnswers();
    expect(refused()).toBeLessThan(30);
  });
});

describe("bodies that nobody ends, counted as what they take", () => {
  beforeEach(() => serve());

  it("hold little more than their bytes, also in chunks of one byte", { timeout: 60_000 }, async () => {
    const head = `POST ${configMaps} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunks = Buffer.from("1\r\nv\r\n".repeat(100_000));
    await stillAnswers();
    const before = heldBytes();
    const all = Array.from({ length: 10 }, () => raw(head));
    let read = 0;
    const { push } = IncomingMessage.prototype;
    IncomingMessage.prototype.push = function (...given) {
      read++;
      return push.apply(this, given);
    };
    for (const socket of all) socket.send(chunks);
    while (read < 10 * 100_000) await new Promise((resolve) => setImmediate(resolve));
    IncomingMessage.prototype.push = push;
    expect(heldBytes() - before).toBeLessThan(20_000_000);
  });

  it("have their heads counted: the oldest are told 429", { timeout: 60_000 }, async () => {
    const head = `POST ${configMaps} HTTP/1.1\r\nHost: h\r\nX-A: ${"a".repeat(1_000_000)}\r\nContent-Length: 2\r\n\r\n{`;
    const all = Array.from({ length: 160 }, () => raw(head));
    const refused = (): number => all.filter(({ received }) => received.startsWith("HTTP/1.1 429 ")).length;
    // 160 MB in all, of 128 MiB.
    await expect.poll(refused, { timeout: 30_000 }).toBeGreaterThanOrEqual(25);
    await stillAnswers();
    expect(refused()).toBeLessThan(40);
  });
});

describe("slow and silent clients", () => {
  const patience = { headMillisMax: 500, bodyMillisMax: 500, idleMillisMax: 500 };
  beforeEach(() => serve({ patience }));

  it.each([
    ["that say nothing", ""],
    ["that begin like HTTP/2 and stop", "PRI * HT"],
    ["that stop after HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["that ask nothing more", get("/healthz")],
  ])("%s are let go", async (_, send) => {
    await raw(send).ended;
    await stillAnswers();
  });

  it("that never finish a head are told 408, however they drip", async () => {
    const socket = raw("GET / HTTP/1.1\r\nHost: h\r\n");
    const drip = setInterval(() => socket.send("X-A: a\r\n"), 20);
    expect(statuses(await socket.ended)).toEqual([408]);
    clearInterval(drip);
    await stillAnswers();
  });

  it.each([
    ["with a length", "Content-Length: 100000\r\n\r\n{", "x"],
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "1\r\nx\r\n"],
  ])("that never finish a body %s are told 408, however they drip", async (_, rest, more) => {
    const socket = raw(`POST ${configMaps} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n${rest}`);
    const drip = setInterval(() => socket.send(more), 20);
    expect(statuses(await socket.ended)).toEqual([408]);
    clearInterval(drip);
    await stillAnswers();
  });

  it("that go on with a body that was refused are let go", async () => {
    await server.close(0);
    await serve({ patience: { ...patience, bodyMillisMax: 3_000 } }); // how fast it takes three megabytes is for the machine to say
    const socket = raw(`POST ${configMaps} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${"v".repeat(0x10000)}\r\n`;
    for (let sent = 0; sent < 50; sent++) socket.send(chunk);
    await socket.until(/^HTTP\/1\.1 413 /);
    const drip = setInterval(() => socket.send("1\r\nx\r\n"), 20);
    expect(statuses(await socket.ended)).toEqual([413]);
    clearInterval(drip);
    await stillAnswers();
  });

  it("that do not read a long list are let go, and hold no more than one answer", async () => {
    await server.close(0);
    await serve({ patience: { ...patience, bodyMillisMax: 60_000 } }); // what is written before has its time
    for (let at = 0; at < 20; at++) await raw(post(map(`m-${at}`, "v".repeat(500_000)))).until(/HTTP\/1.1 201/);
    const socket = raw();
    socket.socket.pause();
    answered.length = 0;
    socket.send(get(configMaps).repeat(50)); // half a gigabyte in answers
    const drip = setInterval(() => socket.send("G"), 3 * patience.idleMillisMax); // who does not read hears of the end when it writes
    await socket.ended;
    clearInterval(drip);
    expect(answered.length).toBeLessThan(3);
    await stillAnswers();
  });
});

describe("connections", () => {
  beforeEach(() => serve());

  it("that are half closed after a request are answered and closed", async () => {
    const socket = raw(get(`${configMaps}?limit=1`));
    socket.socket.end();
    expect(statuses(await socket.ended)).toEqual([200]);
  });

  it("that are half closed during a watch end it", async () => {
    const socket = raw(get(`${configMaps}?watch=1`));
    await socket.until(/\r\n\r\n/);
    socket.socket.end();
    await socket.ended;
    await stillAnswers();
  });

  it("that carry a thousand requests at once get a thousand answers, in order", async () => {
    const all = Array.from({ length: 1_000 }, (_, at) => get(`${configMaps}/none-${at}`)).join("");
    const received = await answersTo(all);
    const names = [...received.matchAll(/configmaps \\"none-(\d+)\\"/g)].map(([, at]) => Number(at));
    expect(names).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
  });

  it("that break in the middle of anything leave nothing behind", async () => {
    for (const send of [get(configMaps).slice(0, 20), post(map("a")).slice(0, -3), get(`${configMaps}?watch=1`)]) {
      for (let at = 0; at < 50; at++) {
        const socket = raw(send);
        socket.socket.once("connect", () => setImmediate(() => socket.socket.resetAndDestroy()));
      }
    }
    await stillAnswers();
  });

  it("may hold ten thousand watches, or as many as the machine lets be open, all of which are told", {
    timeout: 60_000,
  }, async () => {
    const watches: RawSocket[] = [];
    while (watches.length < watchCount) {
      // In waves: what waits to be accepted has a bound of its own, beyond which clients knock again much later.
      const more = Math.min(250, watchCount - watches.length);
      const wave = Array.from({ length: more }, () => raw(get(`${configMaps}?watch=1&resourceVersion=0`)));
      await Promise.all(wave.map((watch) => watch.until(/\r\n\r\n/)));
      watches.push(...wave);
    }
    await answersTo(post(map("a")));
    for (const received of await Promise.all(watches.map((watch) => watch.until(/"ADDED"/)))) {
      expect(received.match(/"ADDED"/g)).toHaveLength(1);
    }
  });

  it("that rest while they read their watch are told everything later, and nobody waits for them", async () => {
    const slow = raw();
    slow.socket.pause();
    slow.send(get(`${configMaps}?watch=1`));
    const fast = raw(get(`${configMaps}?watch=1`));
    await fast.until(/\r\n\r\n/);
    const count = 60; // of half a megabyte each: far more than waits for any watch
    for (let at = 0; at < count; at++) await raw(post(map(`m-${at}`, "v".repeat(500_000)))).until(/HTTP\/1.1 201/);
    await fast.until(new RegExp(`"m-${count - 1}"`));
    slow.socket.resume();
    const seen = (await slow.until(new RegExp(`"m-${count - 1}"`))).match(/"type":"ADDED"/g) ?? [];
    expect(seen).toHaveLength(count);
    expect(fast.received.match(/"type":"ADDED"/g)).toHaveLength(count);
  });
});
