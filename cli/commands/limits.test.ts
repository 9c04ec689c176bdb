/** The limits of a served cluster, as flags set them and a client over HTTP meets them. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanUp, type Running, start } from "../spawned-command.fixture.ts";

const collection = "/api/v1/namespaces/default/configmaps";
const json = { "content-type": "application/json" };
const map = (name: string, text = "v"): string =>
  JSON.stringify({ kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data: { text } });

let server: Running;
let url = "";
/** A webhook that takes connections and never says a word. */
let silent: Server;
const held = new Set<Socket>();

beforeAll(async () => {
  const flags = "--max-requests-inflight 1 --max-mutating-requests-inflight 1 --request-timeout 2s".split(" ");
  server = start("serve", "--port", "0", "--profile", "kubernetes", ...flags);
  url = (await server.firstLine).replace("serving on ", "");
  silent = createServer((socket) => held.add(socket.on("error", () => {})));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  for (const socket of held) socket.destroy();
  silent.close();
  server.child.kill("SIGTERM");
  await server.ended;
  cleanUp();
});

const post = (path: string, body: string): Promise<Response> =>
  fetch(url + path, { method: "POST", headers: json, body });

/** Asks again and again while `first` has the only seat; the refusal that comes meanwhile, and the answer to `first`. */
async function crowdedOut(first: Promise<Response>, ask: () => Promise<Response>): Promise<readonly Response[]> {
  let over = false;
  void first.finally(() => {
    over = true;
  });
  while (!over) {
    const answer = await ask();
    if (answer.status === 429) return [answer, await first];
    await answer.arrayBuffer();
  }
  throw new Error(`nobody was refused before the first answer: ${(await first).status}`);
}

async function isRefused(answer: Response | undefined): Promise<void> {
  expect(answer?.status).toBe(429);
  expect(answer?.headers.get("retry-after")).toBe("1");
  expect(await answer?.text()).toBe("Too many requests, please try again later.\n");
}

async function isTimedOut(answer: Response | undefined): Promise<void> {
  expect(await answer?.json()).toMatchObject({ kind: "Status", code: 504, reason: "Timeout" });
}

describe("reads", () => {
  it("beyond --max-requests-inflight are refused while one waits, which ends with --request-timeout; writes go on", async () => {
    const waits = fetch(`${url}${collection}?resourceVersion=1000000`);
    const [refused, first] = await crowdedOut(waits, () => fetch(url + collection));
    await isRefused(refused);
    await isTimedOut(first);
    expect((await post(collection, map("a"))).status).toBe(201);
    expect((await fetch(url + collection)).status).toBe(200);
  });

  it("may ask for less time, and watches take no seat", async () => {
    const watch = await fetch(`${url}${collection}?watch=1&timeoutSeconds=30`);
    await isTimedOut(await fetch(`${url}${collection}?resourceVersion=1000000&timeout=50ms`));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await watch.body?.cancel();
  });
});

it("writes beyond --max-mutating-requests-inflight are refused while one waits for a webhook; reads go on", async () => {
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const configuration = {
    metadata: { name: "silent" },
    webhooks: [
      {
        name: "silent.example.com",
        clientConfig: { url: `https://127.0.0.1:${(silent.address() as AddressInfo).port}/` },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        timeoutSeconds: 30,
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  };
  expect((await post(path, JSON.stringify(configuration))).status).toBe(201);
  const [refused, first] = await crowdedOut(post(collection, map("waits")), () =>
    post("/api/v1/namespaces/default/secrets?dryRun=All", JSON.stringify({ metadata: { name: "s" } })),
  );
  await isRefused(refused);
  await isTimedOut(first);
  expect((await fetch(`${url}${path}/silent`, { method: "DELETE" })).status).toBe(200);
  expect((await fetch(`${url}${collection}/waits`)).status).toBe(404);
});

it("bodies are read up to three mebibytes, and not one byte further", async () => {
  const largest = map("large", "x".repeat(3 * 1024 * 1024 - map("large", "").length));
  const tooMuch = await post(collection, `${largest} `);
  expect(tooMuch.status).toBe(413);
  expect(await tooMuch.json()).toMatchObject({ kind: "Status", code: 413, reason: "RequestEntityTooLarge" });
  // It is read, and then too large for an object of its kind.
  expect(await (await post(collection, largest)).json()).toMatchObject({ code: 422, reason: "Invalid" });
});
