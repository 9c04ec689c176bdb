/** Attacks of the fourth round on `touchstone serve`: frames of HTTP/2 by hand, crowds of connections, long selectors, tokens, leases. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { AttackRequest } from "../../sim/apiserver/attack-requests.fixture.ts";
import type { ServerTarget } from "../server-target.ts";
import { crowd, type ProcessAttack } from "./process-attack.ts";

type ServeAttack = ProcessAttack<ServerTarget>;

export const json = { "content-type": "application/json" };
export const configMaps = "/api/v1/namespaces/default/configmaps";
export const pods = "/api/v1/namespaces/default/pods";

export const create = (path: string, object: object): AttackRequest => ({
  method: "POST",
  path,
  headers: json,
  body: JSON.stringify(object),
});

export const patch = (path: string, type: string, body: unknown): AttackRequest => ({
  method: "PATCH",
  path,
  headers: { "content-type": `application/${type}` },
  body: JSON.stringify(body),
});

export const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

export const keyed = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));

export const asked = (count: number, together: number, request: (at: number) => AttackRequest): ServeAttack => {
  return (target, tell) => crowd(count, together, async (at) => tell(String(await target.send(request(at)))));
};

/** A frame of HTTP/2. */
export function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export const preface = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0)]);
/** `:method GET`, `:scheme http`, `:path /`, as the static table of headers has them. */
export const getOfRoot = Buffer.from([0x82, 0x86, 0x84]);

export function opened({ url }: ServerTarget): Socket {
  const socket = connect(Number(url.port), url.hostname);
  return socket.on("error", () => {}).resume();
}

const framed =
  (connections: number, frames: () => Buffer): ServeAttack =>
  async (target) => {
    const bytes = Buffer.concat([preface, frames()]);
    const sockets = Array.from({ length: connections }, () => opened(target));
    sockets.forEach((socket) => socket.write(bytes));
    await sleep(2_000);
    sockets.forEach((socket) => socket.destroy());
  };

const repeated = (count: number, make: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => make(at)));

const crowdOfConnections =
  (count: number, bytes: string): ServeAttack =>
  async (target) => {
    const sockets = Array.from({ length: count }, () => opened(target));
    await sleep(2_000);
    sockets.forEach((socket) => socket.write(bytes));
    await sleep(2_000);
    sockets.forEach((socket) => socket.destroy());
  };

const attacks: Readonly<Record<string, ServeAttack>> = {
  "http2 resets": framed(20, () =>
    repeated(20_000, (at) =>
      Buffer.concat([frame(1, 5, 2 * at + 1, getOfRoot), frame(3, 0, 2 * at + 1, Buffer.alloc(4, 0))]),
    ),
  ),
  "http2 continuations": framed(20, () =>
    Buffer.concat([frame(1, 1, 1, getOfRoot), repeated(20_000, () => frame(9, 0, 1, Buffer.from([0x82])))]),
  ),
  "http2 empty-continuations": framed(20, () =>
    Buffer.concat([frame(1, 1, 1, getOfRoot), repeated(100_000, () => frame(9, 0, 1))]),
  ),
  "http2 pings": framed(20, () => repeated(100_000, () => frame(6, 0, 0, Buffer.alloc(8)))),
  "http2 settings": framed(20, () => repeated(100_000, () => frame(4, 0, 0))),
  "http2 windows": framed(20, () => repeated(100_000, () => frame(8, 0, 0, Buffer.from([0, 0, 0, 1])))),
  "http2 empty-data": framed(20, () =>
    Buffer.concat([frame(1, 4, 1, getOfRoot), repeated(100_000, () => frame(0, 0, 1))]),
  ),
  "http2 priorities": framed(20, () => repeated(100_000, () => frame(2, 0, 1, Buffer.alloc(5)))),
  "connections-5000": crowdOfConnections(5_000, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"),
  "connections unfinished": crowdOfConnections(5_000, "GET /healthz HTTP/1.1\r\nHost: h\r\n"),
  "connections pipelined": crowdOfConnections(50, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".repeat(2_000)),
  "selector terms": asked(32, 16, () => ({
    path: `${configMaps}?labelSelector=${Array.from({ length: 1_000 }, (_, of) => `k${of}!%3Dv`).join(",")}`,
  })),
  "selector fields": asked(32, 16, () => ({
    path: `${configMaps}?fieldSelector=${Array.from({ length: 300 }, (_, of) => `metadata.name!%3Dv${of}`).join(",")}`,
  })),
  "tokens huge": asked(100, 32, (at) =>
    create("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: `${at}.${"x".repeat(2_900_000)}.y` } }),
  ),
  "leases of-thousands": asked(5_000, 200, (at) =>
    create("/apis/coordination.k8s.io/v1/namespaces/default/leases", {
      metadata: { name: `l${at}` },
      spec: { holderIdentity: `h${at}`, leaseDurationSeconds: 40 },
    }),
  ),
  "events flood": asked(10_000, 200, (at) =>
    create("/api/v1/namespaces/default/events", {
      metadata: { name: `e${at}` },
      involvedObject: { kind: "Pod", namespace: "default", name: "p" },
    }),
  ),
};

export const protocolAttacks: Readonly<Record<string, ServeAttack>> = Object.fromEntries(
  Object.entries(attacks).map(([name, attack]) => [`serve ${name}`, attack]),
);
