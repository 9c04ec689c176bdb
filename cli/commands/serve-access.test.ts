/**
 * `serve` as its users run it, with two real issuers, a real webhook, real proxies of all kinds and a real collector of traces
 * beside it, all on this machine.
 */
import { createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectProxy, grpcProxy, pairFor, type RunningProxy } from "../../sim/http/egress/proxies.fixture.ts";
import { saidHere } from "../said-here.fixture.ts";
import { cleanUp, type Running, scratch, start } from "../spawned-command.fixture.ts";
import { startCollector } from "./trace-collector.fixture.ts";

const pair = pairFor("127.0.0.1");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const second = generateKeyPairSync("ec", { namedCurve: "P-256" });
const stranger = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const unknown = generateKeyPairSync("rsa", { modulusLength: 2_048 });

function file(name: string, content: unknown): string {
  const path = join(scratch, name);
  writeFileSync(`${path}.new`, typeof content === "string" ? content : JSON.stringify(content));
  renameSync(`${path}.new`, path);
  return path;
}

/** An HTTPS server whose answers a test decides. */
class Endpoint {
  readonly asked: { readonly url: string; readonly body: unknown }[] = [];
  answer: (url: string, body: unknown) => unknown;
  private readonly server: Server;

  constructor(answer: (url: string, body: unknown) => unknown) {
    this.answer = answer;
    this.server = createServer({ cert: pair.certificate, key: pair.privateKey }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const body: unknown = text === "" ? undefined : JSON.parse(text);
        this.asked.push({ url: request.url ?? "", body });
        const answered = this.answer(request.url ?? "", body);
        response.writeHead(answered === undefined ? 404 : 200, { "content-type": "application/json" });
        response.end(JSON.stringify(answered ?? {}));
      });
    });
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const jwk = (key: KeyObject, kid: string): object => ({ ...key.export({ format: "jwk" }), kid, use: "sig" });
let keys: readonly object[] = [jwk(rsa.publicKey, "first")];

const issuer = new Endpoint((url): unknown => {
  if (url === "/.well-known/openid-configuration") return { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` };
  return url === "/keys" ? { keys } : undefined;
});
/** Of another authenticator, with keys of its own. */
const otherIssuer = new Endpoint((url): unknown => {
  if (url === "/.well-known/openid-configuration")
    return { issuer: otherIssuer.url, jwks_uri: `${otherIssuer.url}/keys` };
  return url === "/keys" ? { keys: [jwk(stranger.publicKey, "other")] } : undefined;
});
/** May ask for pods, and is denied secrets. */
const webhook = new Endpoint((_url, body): unknown => {
  const { spec } = body as { spec: { resourceAttributes?: { resource: string } } };
  const resource = spec.resourceAttributes?.resource;
  const status = { allowed: resource === "pods", denied: resource === "secrets", reason: "says the webhook" };
  return { ...(body as object), status };
});

beforeAll(async () => {
  await Promise.all([issuer.listen(), otherIssuer.listen(), webhook.listen()]);
});

afterAll(() => {
  issuer.close();
  otherIssuer.close();
  webhook.close();
  cleanUp();
});

const now = (): number => Math.floor(Date.now() / 1_000);

function token(changes: object = {}, header: object = {}, key: KeyObject = rsa.privateKey): Promise<string> {
  const claims = { iss: issuer.url, aud: "touchstone", sub: "jane", exp: now() + 600, groups: ["dev"], ...changes };
  return new SignJWT(claims as never).setProtectedHeader({ alg: "RS256", kid: "first", ...header } as never).sign(key);
}

const authentication = (changes: object = {}): object => ({
  apiVersion: "apiserver.config.k8s.io/v1beta1",
  kind: "AuthenticationConfiguration",
  jwt: [
    {
      issuer: { url: issuer.url, audiences: ["touchstone"], certificateAuthority: pair.certificate },
      claimMappings: {
        username: { expression: "has(claims.email) ? (claims.email_verified ? claims.email : '') : claims.sub" },
        groups: { claim: "groups", prefix: "idp:" },
      },
      userValidationRules: [{ expression: "!user.username.startsWith('system:')" }],
    },
    {
      issuer: { url: otherIssuer.url, audiences: ["touchstone"], certificateAuthority: pair.certificate },
      claimMappings: { username: { claim: "email", prefix: "other:" } },
    },
  ],
  anonymous: { enabled: true, conditions: [{ path: "/livez" }] },
  ...changes,
});

const connection = (): string =>
  file("webhook.yaml", {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "w",
        cluster: {
          server: `${webhook.url}/authorize`,
          "certificate-authority-data": Buffer.from(pair.certificate).toString("base64"),
        },
      },
    ],
    users: [{ name: "u", user: { token: "secret" } }],
    contexts: [{ name: "c", context: { cluster: "w", user: "u" } }],
    "current-context": "c",
  });

const authorization = (changes: object = {}): object => ({
  apiVersion: "apiserver.config.k8s.io/v1",
  kind: "AuthorizationConfiguration",
  authorizers: [
    {
      type: "Webhook",
      name: "gate",
      webhook: {
        timeout: "5s",
        subjectAccessReviewVersion: "v1",
        matchConditionSubjectAccessReviewVersion: "v1",
        failurePolicy: "Deny",
        connectionInfo: { type: "KubeConfigFile", kubeConfigFile: connection() },
        matchConditions: [{ expression: "has(request.resourceAttributes)" }],
        ...changes,
      },
    },
    { type: "RBAC", name: "roles" },
  ],
});

async function serving(...flags: string[]): Promise<{ readonly url: string; readonly running: Running }> {
  const running = start("serve", "--port", "0", "--profile", "kubernetes", ...flags);
  const url = (await running.firstLine).replace("serving on ", "");
  return { url, running };
}

async function get(url: string, bearer?: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(url, bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } });
  return { status: answer.status, text: await answer.text() };
}

const whoAmI = async (url: string, bearer: string): Promise<unknown> => {
  const answer = await fetch(`${url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
  });
  const body = (await answer.json()) as { status?: { userInfo?: unknown } };
  return answer.status === 201 ? body.status?.userInfo : answer.status;
};

async function until<Value>(look: () => Promise<Value>, isGood: (value: Value) => boolean): Promise<Value> {
  const end = Date.now() + 50_000;
  for (;;) {
    const value = await look();
    if (isGood(value) || Date.now() > end) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function stop(running: Running): Promise<string> {
  running.child.kill("SIGTERM");
  return (await running.ended).stderr;
}

describe("tokens of an issuer", () => {
  let served: Awaited<ReturnType<typeof serving>>;

  beforeAll(async () => {
    served = await serving("--authentication-config", file("authentication.json", authentication()));
  });

  test("a good one is who its claims say, with the issuer's keys found over HTTPS", async () => {
    expect(await whoAmI(served.url, await token())).toEqual({
      username: "jane",
      groups: ["idp:dev", "system:authenticated"],
    });
    const ofOther = { iss: otherIssuer.url, email: "joe@example.com", email_verified: true };
    expect(await whoAmI(served.url, await token(ofOther, { kid: "other" }, stranger.privateKey))).toMatchObject({
      username: "other:joe@example.com",
    });
    expect(issuer.asked.map(({ url }) => url)).toContain("/.well-known/openid-configuration");
    const mailed = await token({ email: "jane@example.com", email_verified: true });
    expect(await whoAmI(served.url, mailed)).toMatchObject({ username: "jane@example.com" });
  });

  test("a token review says the same", async () => {
    const answer = await fetch(`${served.url}/apis/authentication.k8s.io/v1/tokenreviews`, {
      method: "POST",
      headers: { authorization: `Bearer ${await token()}`, "content-type": "application/json" },
      body: JSON.stringify({
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: await token({ sub: "joe" }) },
      }),
    });
    expect(await answer.json()).toMatchObject({ status: { authenticated: true, user: { username: "joe" } } });
  });

  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = (): string => part({ iss: issuer.url, aud: "touchstone", sub: "jane", exp: now() + 600 });
  const attacks: Readonly<Record<string, () => Promise<string> | string>> = {
    "no algorithm": () => `${part({ alg: "none" })}.${body()}.`,
    "the public key as a secret": () => {
      const input = `${part({ alg: "HS256", kid: "first" })}.${body()}`;
      const secret = rsa.publicKey.export({ type: "spki", format: "pem" });
      return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
    },
    "the wrong issuer": () => token({ iss: "https://evil.test" }),
    "the wrong audience": () => token({ aud: "others" }),
    expired: () => token({ exp: now() - 1 }),
    "not valid yet": () => token({ nbf: now() + 600 }),
    "keys of another authenticator": () => token({}, { kid: "other" }, stranger.privateKey),
    "keys of another authenticator under a known name": () => token({}, {}, stranger.privateKey),
    "the right keys in another authenticator's name": () =>
      token({ iss: otherIssuer.url, email: "a@b", email_verified: true }),
    "an issuer with a slash more": () => token({ iss: `${issuer.url}/` }),
    "no issuer": () => token({ iss: undefined }),
    "no audience": () => token({ aud: undefined }),
    "an unverified email by claim": () =>
      token({ iss: otherIssuer.url, email: "a@b", email_verified: false }, { kid: "other" }, stranger.privateKey),
    "an unknown key": () => token({}, { kid: "unknown" }, unknown.privateKey),
    "a changed payload": async () => {
      const [head, , proof] = (await token()).split(".");
      return `${head}.${body()}.${proof}`;
    },
    "two signatures": async () => {
      const [, , proof] = (await token()).split(".");
      return `${await token()}.${proof}`;
    },
    "two signatures in JSON": async () => {
      const [head, payload, proof] = (await token()).split(".");
      const signature = { protected: head, signature: proof };
      return JSON.stringify({ payload, signatures: [signature, signature] }).replaceAll(" ", "");
    },
    "a key of its own": () =>
      token({}, { kid: "x", jwk: stranger.publicKey.export({ format: "jwk" }) }, stranger.privateKey),
    "a key set of its own": () => token({}, { kid: "x", jku: `${webhook.url}/keys` }, stranger.privateKey),
    "a certificate of its own": () => token({}, { kid: "x", x5u: `${webhook.url}/cert` }, stranger.privateKey),
    "an unknown critical part": async () => {
      const [, payload, proof] = (await token()).split(".");
      return `${part({ alg: "RS256", kid: "first", crit: ["exotic"], exotic: 1 })}.${payload}.${proof}`;
    },
    huge: () => token({ padding: "x".repeat(150_000) }),
    "no expiry": () => token({ exp: undefined }),
    "no username": () => token({ sub: undefined }),
    "an unverified email": () => token({ email: "jane@example.com", email_verified: false }),
    "a reserved name": () => token({ sub: "system:admin" }),
  };

  test.each(Object.entries(attacks))("%s is 401", async (_name, make) => {
    const calls = webhook.asked.length;
    expect((await get(`${served.url}/api/v1/namespaces`, await make())).status).toBe(401);
    expect(webhook.asked.length).toBe(calls);
  });

  test("callers without credentials are let in at the paths that the file names, and nowhere else", async () => {
    expect((await get(`${served.url}/livez`)).status).toBe(200);
    expect((await get(`${served.url}/readyz`)).status).toBe(401);
    expect((await get(`${served.url}/livez/`)).status).toBe(401);
  });

  test("new keys are found when a token names one", async () => {
    keys = [jwk(second.publicKey, "second")];
    const taken = async (bearer: string): Promise<unknown> =>
      // After so many keys that nobody has, the issuer is called once a second.
      until(
        () => whoAmI(served.url, bearer),
        (user) => user !== 401,
      );
    const fresh = await token({}, { alg: "ES256", kid: "second" }, second.privateKey);
    expect(await taken(fresh)).toMatchObject({ username: "jane" });
    expect(await whoAmI(served.url, await token({ sub: "late" }))).toBe(401);
    keys = [jwk(rsa.publicKey, "first")];
    expect(await taken(await token({ sub: "again" }))).toMatchObject({ username: "again" });
  });

  test("a changed file is taken, a bad one is not, and the metrics tell of both", async () => {
    const metrics = async (): Promise<string> => (await get(`${served.url}/metrics`, await token())).text;
    const reloads = "apiserver_authentication_config_controller_automatic_reloads_total";
    file("authentication.json", authentication({ jwt: [{ issuer: { url: "http://bad" } }] }));
    expect(await until(metrics, (text) => text.includes(`${reloads}{status="failure"} 1`))).toContain(
      `${reloads}{status="failure"} 1`,
    );
    const clash = (authentication() as { jwt: object[] }).jwt;
    file("authentication.json", authentication({ jwt: [...clash, ...clash] }));
    expect(await until(metrics, (text) => text.includes(`${reloads}{status="failure"} 2`))).toContain(
      `${reloads}{status="failure"} 2`,
    );
    expect(await whoAmI(served.url, await token())).toMatchObject({ username: "jane" });
    const renamed = JSON.stringify(authentication()).replace(": claims.sub", ": 'new:' + claims.sub");
    file("authentication.json", renamed);
    const user = await until(
      async () => whoAmI(served.url, await token()),
      (found) => JSON.stringify(found).includes("new:jane"),
    );
    expect(user).toMatchObject({ username: "new:jane" });
  });

  test("why a token was refused, and a file not taken, is told in the log", async () => {
    const log = await stop(served.running);
    expect(log).toContain("it is not true that !user.username.startsWith('system:')");
    expect(log).toContain("jwt[2].issuer.url: Duplicate value");
    expect(log).toContain("the old one stays");
  });
});

describe("an authorization webhook", () => {
  let served: Awaited<ReturnType<typeof serving>>;

  beforeAll(async () => {
    const who = file("authentication-2.json", authentication());
    const may = file("authorization.json", authorization());
    const admin = file("tokens.csv", 'admin-of-the-test,admin,u1,"system:masters"\n');
    const flags = ["--authentication-config", who, "--authorization-config", may, "--token-auth-file", admin];
    served = await serving(...flags);
  });

  test("allows, denies, and leaves the rest to the next", async () => {
    const bearer = await token();
    expect((await get(`${served.url}/api/v1/namespaces/default/pods`, bearer)).status).toBe(200);
    const denied = await get(`${served.url}/api/v1/namespaces/default/secrets`, bearer);
    expect(denied).toMatchObject({ status: 403, text: expect.stringContaining("says the webhook") });
    expect((await get(`${served.url}/api/v1/namespaces/default/configmaps`, bearer)).status).toBe(403);
    expect(webhook.asked[0]).toMatchObject({
      url: "/authorize",
      body: { spec: { user: "jane", groups: ["idp:dev", "system:authenticated"] } },
    });
  });

  test("is asked once for what it has said, and not at all about what its conditions leave out", async () => {
    const bearer = await token();
    const before = webhook.asked.length;
    for (let round = 0; round < 5; round++) await get(`${served.url}/api/v1/namespaces/default/pods`, bearer);
    await get(`${served.url}/version`, bearer);
    expect(webhook.asked.length).toBe(before);
  });

  test("that says nothing makes sense is an error, and not a refusal", async () => {
    const { answer } = webhook;
    webhook.answer = () => ({ kind: "Nonsense" });
    const broken = await get(`${served.url}/api/v1/nodes`, await token());
    expect(broken).toMatchObject({
      status: 500,
      text: expect.stringContaining('Internal Server Error: "/api/v1/nodes"'),
    });
    webhook.answer = answer;
    expect((await get(`${served.url}/metrics`, await token({ groups: [] }))).status).toBe(403);
  });

  test("is counted under the name that its file gives it, and so are the others", async () => {
    const { text } = await get(`${served.url}/metrics`, "admin-of-the-test");
    for (const labels of [
      'decisions_total{decision="allowed",name="gate",type="Webhook"}',
      'decisions_total{decision="denied",name="gate",type="Webhook"}',
      'decisions_total{decision="allowed",name="roles",type="RBAC"}',
      'webhook_evaluations_total{name="gate",result="success"}',
      'match_condition_exclusions_total{name="gate",type="Webhook"}',
    ])
      expect(
        Number(text.split(`\napiserver_authorization_${labels} `, 2)[1]?.split("\n", 1)[0]),
        labels,
      ).toBeGreaterThan(0);
  });

  test("a changed file is taken, a bad one is not, and the metrics and the log tell of both", async () => {
    const bearer = await token({ sub: "reloads" });
    const pods = async (): Promise<number> =>
      (await get(`${served.url}/api/v1/namespaces/default/pods`, bearer)).status;
    const metrics = async (): Promise<string> => (await get(`${served.url}/metrics`, "admin-of-the-test")).text;
    const reloads = "apiserver_authorization_config_controller_automatic_reloads_total";
    expect(await pods()).toBe(200);
    for (const [count, bad] of [authorization({ timeout: "1m" }), { ...authorization(), authorizers: [] }].entries()) {
      file("authorization.json", bad);
      const failures = `${reloads}{status="failure"} ${count + 1}`;
      expect(await until(metrics, (text) => text.includes(failures))).toContain(failures);
      expect(await pods()).toBe(200);
    }
    // Of its conditions one is false now: nobody is left who would allow it.
    file("authorization.json", authorization({ matchConditions: [{ expression: "request.user == 'joe'" }] }));
    expect(await until(pods, (status) => status === 403)).toBe(403);
    expect(await metrics()).toContain(`${reloads}{status="success"} 1`);
    file("authorization.json", authorization());
    expect(await until(pods, (status) => status === 200)).toBe(200);
  });

  test("is reached through the tunnel that the egress file names; the issuer never is", async () => {
    const log = await stop(served.running);
    expect(log).toContain("authorizers[0].timeout: Invalid value");
    expect(log).toContain("authorizers: Required value");
    const proxies: readonly (readonly [RunningProxy, object])[] = await Promise.all([
      connectProxy("tcp").then((proxy): [RunningProxy, object] => [
        proxy,
        { proxyProtocol: "HTTPConnect", transport: { tcp: { url: proxy.address } } },
      ]),
      connectProxy("socket").then((proxy): [RunningProxy, object] => [
        proxy,
        { proxyProtocol: "HTTPConnect", transport: { uds: { udsName: proxy.address } } },
      ]),
      grpcProxy().then((proxy): [RunningProxy, object] => [
        proxy,
        { proxyProtocol: "GRPC", transport: { uds: { udsName: proxy.address } } },
      ]),
    ]);
    for (const [proxy, way] of proxies) {
      const egress = file("egress.json", {
        apiVersion: "apiserver.k8s.io/v1beta1",
        kind: "EgressSelectorConfiguration",
        egressSelections: [{ name: "controlplane", connection: way }],
      });
      const { url, running } = await serving(
        "--authentication-config",
        file("authentication-3.json", authentication()),
        "--authorization-config",
        file("authorization-3.json", authorization()),
        "--egress-selector-config-file",
        egress,
      );
      expect((await get(`${url}/api/v1/namespaces/default/pods`, await token())).status).toBe(200);
      expect(proxy.asked).toEqual([webhook.url.replace("https://", "")]);
      await stop(running);
      await proxy.close();
    }
  });
});

test("a webhook may be named by flags alone, as a mode among others", async () => {
  const { url, running } = await serving(
    ...["--authentication-config", file("authentication-5.json", authentication())],
    ...["--authorization-mode", "Webhook,RBAC", "--authorization-webhook-config-file", connection()],
    ...["--authorization-webhook-cache-authorized-ttl", "1h"],
  );
  const bearer = await token({ sub: "by-flags" });
  const before = webhook.asked.length;
  for (let round = 0; round < 3; round++) {
    expect((await get(`${url}/api/v1/namespaces/default/pods`, bearer)).status).toBe(200);
  }
  expect(webhook.asked.length).toBe(before + 1);
  // By flags alone it is v1beta1, as of old.
  expect(webhook.asked.at(-1)).toMatchObject({
    body: {
      apiVersion: "authorization.k8s.io/v1beta1",
      spec: { user: "by-flags", group: ["idp:dev", "system:authenticated"] },
    },
  });
  expect((await get(`${url}/api/v1/namespaces/default/configmaps`, bearer)).status).toBe(403);
  await stop(running);
});

test("all together: each proxy carries the webhook's calls, and the collector hears of requests that were let in and refused", async () => {
  const collector = await startCollector();
  const proxy = await grpcProxy();
  const { url, running } = await serving(
    ...["--authentication-config", file("authentication-4.json", authentication())],
    ...["--authorization-config", file("authorization-4.json", authorization())],
    ...[
      "--egress-selector-config-file",
      file("egress-4.json", {
        apiVersion: "apiserver.k8s.io/v1beta1",
        kind: "EgressSelectorConfiguration",
        egressSelections: [
          {
            name: "controlplane",
            connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: proxy.address } } },
          },
        ],
      }),
    ],
    ...[
      "--tracing-config-file",
      file("tracing-4.json", {
        apiVersion: "apiserver.config.k8s.io/v1beta1",
        kind: "TracingConfiguration",
        endpoint: `127.0.0.1:${collector.port}`,
        samplingRatePerMillion: 1_000_000,
      }),
    ],
  );
  const pods = `${url}/api/v1/namespaces/default/pods`;
  expect((await get(pods, await token())).status).toBe(200);
  expect((await get(`${url}/api/v1/namespaces/default/secrets`, await token())).status).toBe(403);
  expect((await get(pods, await token({ aud: "others" }))).status).toBe(401);
  expect((await get(pods)).status).toBe(401);
  await stop(running);
  expect(new Set(proxy.asked)).toEqual(new Set([webhook.url.replace("https://", "")]));
  const names = collector.received.map(({ name }) => name);
  expect(names.filter((name) => name.startsWith("GET /api/v1/namespaces/{namespace}/pods"))).toHaveLength(3);
  expect(names.filter((name) => name.startsWith("GET /api/v1/namespaces/{namespace}/secrets"))).toHaveLength(1);
  // The webhook's span is within that of the request that it was asked about.
  const traces = new Map(collector.received.map((span) => [span.traceId, 0]));
  for (const { traceId } of collector.received) traces.set(traceId, (traces.get(traceId) ?? 0) + 1);
  expect([...traces.values()].filter((count) => count > 1).length).toBeGreaterThanOrEqual(2);
  await proxy.close();
  collector.close();
});

describe("files that are not valid end the command before it listens", () => {
  const ended = (...flags: readonly string[]) => saidHere("serve", "--port", "0", "--profile", "kubernetes", ...flags);

  test("with all that is wrong", async () => {
    const bad = { ...authentication({ jwt: [{ issuer: { url: "http://a" } }] }), colour: "red" };
    const { code, stderr } = await ended("--authentication-config", file("bad.json", bad));
    expect(code).toBe(2);
    for (const field of ["colour", "jwt[0].issuer.url", "jwt[0].issuer.audiences", "jwt[0].claimMappings.username"]) {
      expect(stderr).toContain(field);
    }
  });

  test("and flags that say the same as a file", async () => {
    const flagged = await ended("--authentication-config", file("a.json", authentication()), "--anonymous-auth=true");
    expect(flagged).toMatchObject({ code: 2, stderr: expect.stringContaining("anonymous: Forbidden") });
    const modes = await ended(
      "--authorization-config",
      file("b.json", authorization()),
      "--authorization-mode",
      "RBAC",
    );
    expect(modes).toMatchObject({ code: 2, stderr: expect.stringContaining("leave one out") });
    const node = { ...authorization(), authorizers: [{ type: "Node", name: "n" }] };
    expect(await ended("--authorization-config", file("c.json", node))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("authorizers[0].type: Node is not simulated"),
    });
  });
});
