/** Attacks of the fourth round on `touchstone serve`: bodies, patches, lists, watches and reviews at their limits, in every encoding. */
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { connect as connectHttp2 } from "node:http2";
import type { AttackRequest } from "../../sim/apiserver/attack-requests.fixture.ts";
import { type ServerTarget, startedServer } from "../server-target.ts";
import { crowd, type ProcessAttack } from "./process-attack.ts";
import {
  asked,
  configMaps,
  create,
  frame,
  getOfRoot,
  json,
  keyed,
  opened,
  patch,
  pods,
  preface,
  times,
} from "./protocol-attacks.ts";

type ServeAttack = ProcessAttack<ServerTarget>;

/** Nearly what a server takes. */
const wholeBytes = 2_900_000;
const yaml = { "content-type": "application/yaml" };
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const authorization = "/apis/authorization.k8s.io/v1";
const admission = "/apis/admissionregistration.k8s.io/v1";

const container = { name: "c", image: "i" };
const dry = "?dryRun=All";
const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const metadataAlone = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };

/** So many small objects with labels. */
const smallOnes =
  (count: number) =>
  (target: ServerTarget): Promise<void> =>
    crowd(count, 32, (at) => {
      const labels = { app: `a${at % 100}`, tier: `t${at % 7}`, at: String(at) };
      return target.send(create(configMaps, { metadata: { name: `small-${at}`, labels }, data: { k: "v" } }));
    });

/** What is there first, and then requests. */
const staged =
  (stage: (target: ServerTarget) => Promise<unknown>, strike: ServeAttack): ServeAttack =>
  async (target, tell) => {
    await stage(target);
    return strike(target, tell);
  };

/** One object, and so many requests to it. */
const toOne = (path: string, object: object, strike: ServeAttack): ServeAttack =>
  staged((target) => target.send(create(path, object)), strike);

/** Watches that are opened together, and closed after some time. */
const watches =
  (count: number, query: (at: number) => string, headers: Readonly<Record<string, string>> = {}): ServeAttack =>
  async (target) => {
    const more = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    const sockets = times(count, (at) => {
      const socket = opened(target);
      const path = `${configMaps}?watch=1${query(at)}`;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer admin\r\n${more}\r\n`);
      return socket;
    });
    await sleep(3_000);
    sockets.forEach((socket) => socket.destroy());
    await sleep(500);
  };

/** All pages of a list, one after the other. */
const pages =
  (clients: number, query: string): ServeAttack =>
  (target, tell) =>
    crowd(clients, clients, async () => {
      let next = "";
      for (let page = 0; page < 2_000; page++) {
        const answer = await fetch(new URL(`${configMaps}?${query}&continue=${next}`, target.url), {
          headers: { authorization: "Bearer admin" },
        });
        tell(String(answer.status));
        const list = (await answer.json()) as { readonly metadata?: { readonly continue?: string } };
        next = list.metadata?.continue ?? "";
        if (next === "") return;
      }
    });

/** Connections over TLS that are made together, and all of whose first bytes are sent together. */
const overTls =
  (count: number, bytes: string | Buffer, protocol: string): ServeAttack =>
  async ({ url }, tell) => {
    const sockets = times(count, () => {
      const socket = connectTls({
        port: Number(url.port),
        host: url.hostname,
        rejectUnauthorized: false,
        ALPNProtocols: [protocol],
      });
      socket.on("error", () => {}).once("data", (data: Buffer) => tell(data.toString("latin1", 9, 12)));
      socket.write(bytes);
      return socket;
    });
    await sleep(6_000);
    sockets.forEach((socket) => socket.destroy());
  };

/** A text of unknown fields as YAML has them, of nearly what a server takes. */
function unknownYaml(): string {
  const lines = ["apiVersion: v1", "kind: ConfigMap", "metadata: {name: unknown}"];
  for (let at = 0; at < 90_000; at++) lines.push(`unknown-field-${at}-${"u".repeat(8)}: 1`);
  return lines.join("\n").slice(0, wholeBytes);
}

const unknownJson = (): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "unknown" },
    ...Object.fromEntries(times(90_000, (at) => [`unknown-field-${at}-${"u".repeat(7)}`, 1])),
  });

const strict = `${configMaps}?dryRun=All&fieldValidation=Strict`;
const warned = `${configMaps}?dryRun=All&fieldValidation=Warn`;

const sixtyFour = (path: string, headers: Readonly<Record<string, string>>, text: () => string): ServeAttack => {
  const body = text();
  return asked(64, 16, () => ({ method: "POST", path, headers, body }));
};

/** Each of its parts is wrong in several ways. */
const invalidPod = (count: number): object => ({
  metadata: { name: "Invalid_Name" },
  spec: {
    containers: times(count, (at) => ({
      name: `Not_${at}`,
      imagePullPolicy: "Sometimes",
      ports: [{ containerPort: 70_000, protocol: "X" }],
      env: [{ name: "=" }],
      resources: { limits: { cpu: "-1" }, requests: { cpu: "2" } },
    })),
  },
});

const allOf = async (target: ServerTarget, requests: readonly AttackRequest[]): Promise<void> => {
  await crowd(requests.length, 16, (at) => target.send(requests[at] as AttackRequest));
};

const definition = (at: number, spec: object, more: object = {}): AttackRequest =>
  create(definitions, {
    metadata: { name: `fourths${at}.fourth.example` },
    spec: {
      group: "fourth.example",
      scope: "Namespaced",
      names: { plural: `fourths${at}`, singular: `fourth${at}`, kind: `Fourth${at}`, listKind: `Fourth${at}List` },
      versions: ["v1", "v2"].map((name) => ({
        name,
        served: true,
        storage: name === "v1",
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      })),
      ...more,
    },
  });
const customs = (version: string): string => `/apis/fourth.example/${version}/namespaces/default/fourths0`;

/** A listener that takes connections, and says nothing. */
const silentWebhooks: ServeAttack = async (target, tell) => {
  const listener = createServer((socket) => socket.on("error", () => {}).resume());
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as { readonly port: number };
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
  const webhooks = times(20, (at) => ({
    name: `silent-${at}.example.org`,
    clientConfig: { url: `https://127.0.0.1:${port}/` },
    rules,
    failurePolicy: "Ignore",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 2,
  }));
  await target.send(create(`${admission}/validatingwebhookconfigurations`, { metadata: { name: "silent" }, webhooks }));
  await asked(180, 180, (at) =>
    create(configMaps, { metadata: { name: `waits-${at}` }, data: { k: "v".repeat(300_000) } }),
  )(target, tell);
  listener.close();
};

/** Streams of HTTP/2 without a body, all of them at once, on some connections. */
const streams =
  (connections: number, count: number, path: string): ServeAttack =>
  async ({ url }, tell) => {
    const sessions = times(connections, () => connectHttp2(url.href).on("error", () => {}));
    for (const session of sessions) {
      for (let at = 0; at < count; at++) {
        const stream = session.request({ ":path": path, authorization: "Bearer admin" });
        stream.on("error", () => {}).on("response", (headers) => tell(String(headers[":status"])));
        stream.resume();
      }
    }
    await sleep(4_000);
    sessions.forEach((session) => session.destroy());
  };

/** Requests on so many streams, each ended by the client at once. */
function resets(count: number): Buffer {
  const frames: Buffer[] = [preface];
  for (let at = 0; at < count; at++) {
    frames.push(frame(1, 5, 2 * at + 1, getOfRoot), frame(3, 0, 2 * at + 1, Buffer.from([0, 0, 0, 8])));
  }
  return Buffer.concat(frames);
}

const sent =
  (connections: number, bytes: () => Buffer): ServeAttack =>
  async (target) => {
    const whole = bytes();
    const sockets = times(connections, () => opened(target));
    sockets.forEach((socket) => socket.write(whole));
    await sleep(4_000);
    sockets.forEach((socket) => socket.destroy());
  };

const one = `${configMaps}/one`;
const object = (data: object): object => ({ metadata: { name: "one" }, data });
const operations = (make: (at: number) => object): object[] => times(10_000, make);

const attacks: Readonly<Record<string, ServeAttack>> = {
  "pod-resources": asked(32, 16, (at) =>
    create(`${pods}${dry}`, {
      metadata: { name: `r-${at}` },
      spec: {
        containers: times(4, (of) => {
          const amounts = Object.fromEntries(times(8_000, (it) => [`example.org/r${it}`, "1"]));
          return { name: `c${of}`, image: "i", resources: { limits: amounts, requests: amounts } };
        }),
      },
    }),
  ),
  "pod-resources kept": asked(16, 8, (at) =>
    create(pods, {
      metadata: { name: `r-${at}` },
      spec: {
        containers: times(100, (of) => ({
          ...container,
          name: `c${of}`,
          resources: { limits: Object.fromEntries(times(700, (it) => [`example.org/r${of}-${it}`, "1"])) },
        })),
      },
    }),
  ),
  "strict-unknown-megabytes json": sixtyFour(strict, json, unknownJson),
  "strict-unknown-megabytes yaml": sixtyFour(strict, yaml, unknownYaml),
  "warned-unknown-megabytes json": sixtyFour(warned, json, unknownJson),
  "warned-unknown-megabytes yaml": sixtyFour(warned, yaml, unknownYaml),
  "invalid-megabytes": sixtyFour(pods, json, () => JSON.stringify(invalidPod(6_000))),
  "invalid-megabytes yaml": sixtyFour(pods, yaml, () => JSON.stringify(invalidPod(6_000))),
  "invalid-keys-megabytes": sixtyFour(configMaps, json, () =>
    JSON.stringify({
      metadata: { name: "i" },
      data: Object.fromEntries(times(90_000, (at) => [`/not-a-key-${at}`, ""])),
    }),
  ),
  "invalid-labels-megabytes": sixtyFour(configMaps, json, () =>
    JSON.stringify({ metadata: { name: "i", labels: Object.fromEntries(times(90_000, (at) => [`a/b/${at}`, "_"])) } }),
  ),
  "h2-rapid-reset": sent(4, () => resets(100_000)),
  "h2-streams": streams(20, 2_000, "/version"),
  "h2-streams of-lists": staged(smallOnes(3_000), streams(4, 90, configMaps)),
  "h2-long-headers": sent(20, () => {
    // A header that is not kept in the table of either side: its name, and 16,000 letters.
    const value = Buffer.concat([Buffer.from([0x7f, 0x81, 0x7c]), Buffer.alloc(16_000, 97)]);
    const literal = Buffer.concat([Buffer.from([0x00, 0x06]), Buffer.from("x-long"), value]);
    return Buffer.concat([preface, frame(1, 1, 1, getOfRoot), ...times(200, () => frame(9, 0, 1, literal))]);
  }),
  "watches opened-and-closed": asked(1_500, 150, (at) => ({
    path: `${configMaps}?watch=1&resourceVersion=0&timeoutSeconds=${1 + (at % 2)}`,
  })),
  "watches by-selectors": staged(
    smallOnes(10_000),
    watches(200, (at) => `&labelSelector=app%20in%20(a${at % 100},b,c),tier!%3Dt${at % 7},!none`),
  ),
  "watches as-tables": staged(
    smallOnes(5_000),
    watches(50, () => "&resourceVersion=0", table),
  ),
  "watches as-yaml": staged(
    smallOnes(5_000),
    watches(50, () => "", { accept: "application/yaml" }),
  ),
  "watches as-protobuf": staged(
    smallOnes(5_000),
    watches(100, () => "", { accept: "application/vnd.kubernetes.protobuf;stream=watch" }),
  ),
  "watches that-begin-with-lists": staged(
    smallOnes(10_000),
    watches(60, () => "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan", {
      accept: "application/cbor-seq",
    }),
  ),
  "pages of-one": staged(smallOnes(20_000), pages(8, "limit=1")),
  "pages of-one selected": staged(smallOnes(20_000), pages(8, "limit=1&labelSelector=at%3D19999")),
  "list of-thousands table": staged(
    smallOnes(15_000),
    asked(32, 16, () => ({ path: configMaps, headers: table })),
  ),
  "list of-thousands gzip": staged(
    smallOnes(15_000),
    asked(32, 16, () => ({ path: configMaps, headers: { "accept-encoding": "gzip" } })),
  ),
  "list of-thousands yaml": staged(
    smallOnes(15_000),
    asked(32, 16, () => ({ path: configMaps, headers: { accept: "application/yaml", "accept-encoding": "gzip" } })),
  ),
  "list of-thousands metadata": staged(
    smallOnes(15_000),
    asked(32, 16, () => ({ path: `${configMaps}?pretty=true`, headers: metadataAlone })),
  ),
  "list by-thousands-of-terms": staged(
    smallOnes(10_000),
    asked(16, 16, () => ({
      path: `${configMaps}?labelSelector=app%20notin%20(${times(2_000, (at) => `v${at}`).join(",")})`,
    })),
  ),
  "list by-terms-of-presence": staged(
    smallOnes(20_000),
    asked(16, 16, () => ({ path: `${configMaps}?labelSelector=${times(2_000, (at) => `!k${at}`).join(",")}` })),
  ),
  "deletions of-thousands": staged(
    smallOnes(15_000),
    asked(8, 8, (at) => ({ method: "DELETE", path: `${configMaps}?labelSelector=tier!%3Dt${at}` })),
  ),
  "json-patch moves": toOne(
    configMaps,
    object({ a: "v".repeat(900_000) }),
    asked(32, 16, () =>
      patch(
        one,
        "json-patch+json",
        operations((at) => {
          const [from, to] = at % 2 === 0 ? ["a", "b"] : ["b", "a"];
          return { op: "move", from: `/data/${from}`, path: `/data/${to}` };
        }),
      ),
    ),
  ),
  "json-patch tests": toOne(
    configMaps,
    object(keyed(20_000, "value")),
    asked(32, 16, () =>
      patch(one, "json-patch+json", [
        ...times(5_000, () => ({ op: "copy", from: "/data", path: "/x" })),
        ...times(4_999, () => ({ op: "test", path: "/data", value: { k: 1 } })),
      ]),
    ),
  ),
  "json-patch equal-tests": toOne(
    configMaps,
    object(keyed(200, "value")),
    asked(32, 16, () =>
      patch(
        one,
        "json-patch+json",
        times(600, () => ({ op: "test", path: "/data", value: keyed(200, "value") })),
      ),
    ),
  ),
  "strategic deletions": toOne(
    pods,
    {
      metadata: { name: "listed" },
      spec: { containers: [{ ...container, env: times(20_000, (at) => ({ name: `e${at}`, value: "v" })) }] },
    },
    asked(16, 16, () =>
      patch(`${pods}/listed${dry}`, "strategic-merge-patch+json", {
        spec: { containers: [{ name: "c", env: times(40_000, (at) => ({ $patch: "delete", name: `e${at}` })) }] },
      }),
    ),
  ),
  "strategic orders": toOne(
    pods,
    {
      metadata: { name: "listed", finalizers: times(20_000, (at) => `a.b/f${at}`) },
      spec: { containers: [container] },
    },
    asked(16, 16, () =>
      patch(`${pods}/listed${dry}`, "strategic-merge-patch+json", {
        metadata: {
          "$deleteFromPrimitiveList/finalizers": times(20_000, (at) => `a.b/f${at}`),
          "$setElementOrder/finalizers": times(20_000, (at) => `a.b/f${at + 20_000}`),
          finalizers: times(20_000, (at) => `a.b/f${at + 20_000}`),
        },
      }),
    ),
  ),
  "apply of-many-managers": asked(600, 64, (at) =>
    patch(`${one}?fieldManager=m${at}&force=true`, "apply-patch+yaml", {
      apiVersion: "v1",
      kind: "ConfigMap",
      ...object(keyed(300, "same")),
    }),
  ),
  "apply of-conflicts": async (target, tell) => {
    const applied = (manager: string, value: string): AttackRequest =>
      patch(`${one}?fieldManager=${manager}`, "apply-patch+yaml", {
        apiVersion: "v1",
        kind: "ConfigMap",
        ...object(keyed(40_000, value)),
      });
    await target.send(applied("first", "v"));
    await asked(32, 16, (at) => applied(`m${at}`, "w"))(target, tell);
  },
  "rules at-budget": async (target, tell) => {
    const numbers = { type: "array", maxItems: 300, items: { type: "integer" } };
    const rule = "self.n.all(a, self.n.all(b, a + b < 1000000))";
    const properties = { n: numbers };
    await target.send(
      definition(0, {
        type: "object",
        properties,
        "x-kubernetes-validations": times(8, (at) => ({ rule: `${rule} || ${at} > 9` })),
      }),
    );
    await sleep(1_500);
    await asked(100, 50, (at) =>
      create(customs("v1"), {
        apiVersion: "fourth.example/v1",
        kind: "Fourth0",
        metadata: { name: `ruled-${at}` },
        spec: { n: times(300, (of) => of) },
      }),
    )(target, tell);
  },
  "conversion of-thousands": async (target, tell) => {
    await target.send(definition(0, { type: "object", "x-kubernetes-preserve-unknown-fields": true }));
    await sleep(1_500);
    await crowd(8_000, 32, (at) =>
      target.send(
        create(customs("v1"), {
          apiVersion: "fourth.example/v1",
          kind: "Fourth0",
          metadata: { name: `c-${at}` },
          spec: { a: times(10, (of) => ({ of })) },
        }),
      ),
    );
    await asked(32, 16, (at) => ({ path: customs("v2"), headers: at % 2 === 0 ? {} : table }))(target, tell);
  },
  "webhooks silent": silentWebhooks,
  "openapi of-hundreds": async (target, tell) => {
    const properties = keyed(60, { type: "string", description: "d".repeat(100) });
    await allOf(
      target,
      times(300, (at) => definition(at, { type: "object", properties })),
    );
    const paths = ["/openapi/v2", "/openapi/v3/apis/fourth.example/v1", "/apis/fourth.example/v1", "/openapi/v3"];
    await asked(64, 32, (at) => ({ path: paths[at % paths.length] as string }))(target, tell);
  },
  "reviews of-access": asked(10_000, 150, (at) =>
    create(`${authorization}/subjectaccessreviews`, {
      spec: {
        user: `u${at}`,
        groups: times(100, (of) => `g${of}`),
        resourceAttributes: { verb: "get", resource: "pods", namespace: "default" },
      },
    }),
  ),
  "reviews of-groups": asked(64, 16, () =>
    create(`${authorization}/subjectaccessreviews`, {
      spec: {
        user: "u",
        groups: times(90_000, (of) => `group-${of}`),
        extra: keyed(2_000, ["v"]),
        resourceAttributes: { verb: "get", resource: "pods", namespace: "default" },
      },
    }),
  ),
  "tokens in-headers": asked(2_000, 100, (at) => ({
    path: configMaps,
    as: "",
    headers: { authorization: `Bearer ${"a.".repeat(3_500)}${at}` },
  })),
  "leases renewed-by-thousands": async (target, tell) => {
    const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    await crowd(5_000, 64, (at) =>
      target.send(create(path, { metadata: { name: `l${at}` }, spec: { holderIdentity: "h" } })),
    );
    await asked(5_000, 250, (at) => patch(`${path}/l${at}`, "merge-patch+json", { spec: { leaseTransitions: at } }))(
      target,
      tell,
    );
  },
};

const tlsAttacks: Readonly<Record<string, ServeAttack>> = {
  "tls-connections-1000": overTls(
    1_000,
    "GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n",
    "http/1.1",
  ),
  "tls-h2-rapid-reset": overTls(4, resets(30_000), "h2"),
  "tls-pipelined": overTls(40, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".repeat(2_000), "http/1.1"),
};

const named = (some: Readonly<Record<string, ServeAttack>>): Readonly<Record<string, ServeAttack>> =>
  Object.fromEntries(Object.entries(some).map(([name, attack]) => [`serve ${name}`, attack]));

/** By how a server is started for each of them. */
export const requestGroups: readonly {
  readonly started: () => Promise<ServerTarget>;
  readonly attacks: Readonly<Record<string, ServeAttack>>;
}[] = [
  { started: () => startedServer(), attacks: named(attacks) },
  { started: () => startedServer(["--tls"]), attacks: named(tlsAttacks) },
];
