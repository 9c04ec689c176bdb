/** Attacks on `touchstone serve` with all that it can be started with: nodes, chaos, a folder of data, figures of usage, a bound of memory. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import type { Attack, AttackRequest } from "../../sim/apiserver/attack-requests.fixture.ts";
import { attackTable } from "../../sim/apiserver/attack-table.fixture.ts";
import { type ServerTarget, startedServer } from "../server-target.ts";
import { crowdAttacks } from "./crowds.ts";
import { crowd, type ProcessAttack } from "./process-attack.ts";

const chaos = fileURLToPath(new URL("../../scenarios/chaos/bad-day.yaml", import.meta.url));

/** What is gentle enough that the attack itself comes through: answers that are late are nobody's silence. */
const ways: Readonly<Record<string, () => readonly string[]>> = {
  nodes: () => ["--nodes", "50", "--metrics-api"],
  data: () => ["--data-dir", mkdtempSync(join(tmpdir(), "attacks-"))],
  memory: () => ["--memory-max", "1200Mi"],
  chaos: () => ["--chaos", chaos, "--chaos-log", "/dev/null"],
};

type ServeAttack = ProcessAttack<ServerTarget>;

/** Of the second round: those that take most of a server. */
const chosen = [
  "labels",
  "owners",
  "managers",
  "escapes",
  "containers",
  "custom-objects",
  "custom-depth",
  "deep-schema",
];
const verbs = ["create", "update", "apply"];

const table = attackTable();
const ofTable: Readonly<Record<string, ServeAttack>> = Object.fromEntries(
  Object.entries(table)
    .filter(([name]) => {
      const [verb = "", encoding = "", shape = ""] = name.split(" ");
      return verbs.includes(verb) && encoding === "json" && chosen.includes(shape);
    })
    .map(([name, attack]) => [name.replaceAll(" ", "-"), played(attack)]),
);

function played(attack: Attack): ServeAttack {
  return async (target, tell) => {
    for (const each of attack.prepare?.() ?? []) await target.send(each);
    const strikes = [...(attack.strike?.() ?? [])];
    if (strikes.length === 0) return "none";
    for (const each of strikes) tell(String(await target.send(each)));
    return undefined;
  };
}

const json = { "content-type": "application/json" };
const pods = "/api/v1/namespaces/default/pods";
const configMaps = "/api/v1/namespaces/default/configmaps";

const create = (path: string, object: object): AttackRequest => ({
  method: "POST",
  path,
  headers: json,
  body: JSON.stringify(object),
});

const pod = (name: string, command: readonly string[]): AttackRequest =>
  create(pods, { metadata: { name }, spec: { containers: [{ name: "c", image: "local/box:1", command }] } });

const gets = (count: number, together: number, path: (at: number) => string): ServeAttack => {
  return (target, tell) => crowd(count, together, async (at) => tell(String(await target.send({ path: path(at) }))));
};

const special: Readonly<Record<string, ServeAttack>> = {
  "crowd-of-pods": (target, tell) =>
    crowd(2_000, 32, async (at) => tell(String(await target.send(pod(`p${at}`, ["sleep", "1000000"]))))),
  "list-of-pods": gets(100, 16, () => pods),
  "table-of-pods": (target, tell) => {
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    return crowd(50, 16, async () => tell(String(await target.send({ path: pods, headers }))));
  },
  usage: gets(200, 16, () => "/apis/metrics.k8s.io/v1beta1/pods"),
  "usage-of-nodes": gets(200, 16, () => "/apis/metrics.k8s.io/v1beta1/nodes"),
  logs: gets(1_000, 64, (at) => `${pods}/p${at}/log`),
  "logs-of-much": async (target, tell) => {
    tell(String(await target.send(pod("much", ["sh", "-c", "seq 1 300000; sleep 100000"]))));
    await sleep(2_000);
    await gets(50, 16, () => `${pods}/much/log`)(target, tell);
  },
  "logs-followed": async ({ url }) => {
    const session = connectHttp2(url.href, { settings: { initialWindowSize: 0 } });
    session.on("error", () => {});
    for (let at = 0; at < 500; at++) {
      const stream = session.request({ ":path": `${pods}/much/log?follow=true`, authorization: "Bearer admin" });
      stream.on("error", () => {}).pause();
    }
    await sleep(3_000);
    session.destroy();
  },
  "proxies-of-nodes": gets(500, 32, (at) => `/api/v1/nodes/node-${at % 50}/proxy/stats/summary`),
  "busy-pods": (target, tell) =>
    crowd(50, 16, async (at) => {
      tell(String(await target.send(pod(`busy${at}`, ["sh", "-c", "while true; do echo aaaaaaaaaaaaaaaa; done"]))));
    }),
  "scripts-that-fork": (target, tell) =>
    crowd(50, 16, async (at) => {
      tell(String(await target.send(pod(`fork${at}`, ["sh", "-c", "f() { f | f & }; f; sleep 1000"]))));
    }),
  "many-containers": (target, tell) =>
    crowd(20, 4, async (at) => {
      const containers = Array.from({ length: 2_000 }, (_, of) => ({ name: `c${of}`, image: "local/box:1" }));
      tell(String(await target.send(create(pods, { metadata: { name: `wide${at}` }, spec: { containers } }))));
    }),
  deployment: (target, tell) =>
    crowd(5, 1, async (at) => {
      const labels = { a: `d${at}` };
      const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "local/box:1" }] } };
      const spec = { replicas: 2_000, selector: { matchLabels: labels }, template };
      const path = "/apis/apps/v1/namespaces/default/deployments";
      tell(String(await target.send(create(path, { metadata: { name: `d${at}` }, spec }))));
      await sleep(1_000);
    }),
  "nodes-of-somebody": (target, tell) =>
    crowd(2_000, 32, async (at) =>
      tell(String(await target.send(create("/api/v1/nodes", { metadata: { name: `mine-${at}` } })))),
    ),
  "writes-of-a-megabyte": (target, tell) =>
    crowd(300, 8, async (at) => {
      const object = { metadata: { name: `m${at % 20}` }, data: { k: `${at}${"v".repeat(1_000_000)}` } };
      const made = await target.send({
        ...create(`${configMaps}/m${at % 20}`, object),
        method: "PUT",
      });
      tell(String(made === 404 ? await target.send(create(configMaps, object)) : made));
    }),
  "objects-of-a-megabyte": (target, tell) =>
    crowd(1_500, 8, async (at) => {
      const object = { metadata: { name: `o${at}` }, data: { k: "v".repeat(1_000_000) } };
      tell(String(await target.send(create(configMaps, object))));
    }),
  "list-of-megabytes": gets(20, 8, () => configMaps),
  "unread-lists": async ({ url }) => {
    const sockets = Array.from({ length: 200 }, () => {
      const socket = connect(Number(url.port), url.hostname);
      socket.on("error", () => {}).pause();
      socket.write(`GET ${configMaps} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer admin\r\n\r\n`);
      return socket;
    });
    await sleep(3_000);
    sockets.forEach((socket) => socket.destroy());
  },
  "watches-of-everything": async ({ url }) => {
    const sockets = Array.from({ length: 500 }, (_, at) => {
      const socket = connect(Number(url.port), url.hostname);
      socket.on("error", () => {}).pause();
      const path = at % 2 === 0 ? pods : configMaps;
      socket.write(`GET ${path}?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer admin\r\n\r\n`);
      return socket;
    });
    await sleep(3_000);
    sockets.forEach((socket) => socket.destroy());
  },
  "deleted-configmaps": async (target, tell) => tell(String(await target.send({ method: "DELETE", path: configMaps }))),
  "deleted-pods": async (target, tell) => {
    tell(String(await target.send({ method: "DELETE", path: pods })));
    await sleep(3_000);
  },
  "deleted-nodes": async (target, tell) => {
    tell(String(await target.send({ method: "DELETE", path: "/api/v1/nodes" })));
    await sleep(3_000);
  },
};

/** By how it was started: names are `serve-way what`. */
export const serveGroups: readonly {
  readonly started: () => Promise<ServerTarget>;
  readonly attacks: Readonly<Record<string, ServeAttack>>;
}[] = Object.entries(ways).map(([way, flags]) => ({
  started: () => startedServer(flags()),
  attacks: Object.fromEntries(
    Object.entries({ ...ofTable, ...crowdAttacks, ...special }).map(([name, attack]) => [
      `serve-${way} ${name}`,
      attack,
    ]),
  ),
}));
