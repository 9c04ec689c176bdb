/**
 * `node bench/attacks.ts [NAME…]`, `node bench/attacks.ts --round 2 [WORD…]`, `--round 3`, `--round 4`, `--round 5`: what hostile and merely large input does to a served API server. Each attack meets a
 * server of its own; a line of JSON says how much processor time one turn of its loop took at most while it lasted and two
 * seconds after, how long `/healthz` was silent meanwhile, how much memory the process held at most, and how the requests
 * were answered. Exit code 1 when a server ended.
 *
 * The second round is a table: each shape of a large body by each verb in each encoding, twenty at one server; words choose among the names (`create yaml labels`), in which all must stand. What is there afterwards is not looked at for long. The third,
 * the fourth and the fifth round are in `process-attacks.ts`.
 */
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, type AttackRequest, attacks } from "../sim/apiserver/attack-requests.fixture.ts";
import { attackTable } from "../sim/apiserver/attack-table.fixture.ts";
import { fifthRound, fourthRound, processAttackNames, thirdRound } from "./process-attacks.ts";
import { type ServerTarget, startedServer } from "./server-target.ts";
import { endedBefore, type Measured, Pulse } from "./victim.ts";

const table = attackTable();
/** Of the names that a wrong one is answered with: two rounds have thousands. */
const shownMax = 60;
/** Requests of one attack that are under way together. */
const togetherMax = 16;
const afterMillis = { first: 2_000, second: 200 } as const;

/** Sends all, some at a time, and counts how they were answered. */
async function sendAll(
  target: ServerTarget,
  requests: Iterable<AttackRequest>,
  statuses: Record<string, number>,
): Promise<void> {
  const under = new Set<Promise<void>>();
  for (const each of requests) {
    if (target.victim.isOver) break;
    if (under.size >= togetherMax) await Promise.race(under);
    const sent: Promise<void> = target.send(each).then((status) => {
      under.delete(sent);
      statuses[status] = (statuses[status] ?? 0) + 1;
    });
    under.add(sent);
  }
  await Promise.all(under);
}

async function measured(
  name: string,
  attack: Attack,
  target: ServerTarget,
  round: keyof typeof afterMillis,
): Promise<Measured | undefined> {
  const strikes = [...(attack.strike?.() ?? [])];
  if (strikes.length === 0 && attack.hold === undefined) return undefined; // there is no such combination
  // One after the other, where what is prepared builds on what was.
  if (round === "first") await sendAll(target, attack.prepare?.() ?? [], {});
  else for (const each of attack.prepare?.() ?? []) await target.send(each);
  const statuses: Record<string, number> = {};
  await sleep(100);
  if (target.victim.isOver) return endedBefore(name);
  target.victim.begin();
  const pulse = await Pulse.begun(target.url.href);
  const began = performance.now();
  await sendAll(target, strikes, statuses);
  const release = attack.hold === undefined ? undefined : await holds[attack.hold.is](target, attack.hold.count);
  const millis = performance.now() - began;
  await sleep(afterMillis[round]);
  const silenceMillis = Math.round(await pulse.longestMillis());
  release?.();
  return {
    attack: name,
    turnMillis: Math.round((await target.victim.longestTurnMicros()) / 1_000),
    silenceMillis,
    peakMegabytes: Math.round(target.victim.peakBytes() / 1_048_576),
    millis: Math.round(millis),
    statuses,
    ended: target.victim.isOver,
  };
}

type Hold = (target: ServerTarget, count: number) => Promise<() => void>;

const configMaps = "/api/v1/namespaces/default/configmaps";

/** Connections that are left as they are. */
const holds: Readonly<Record<"unread-watches" | "unread-streams" | "unfinished-bodies", Hold>> = {
  async "unread-watches"({ url }, count) {
    const sockets = Array.from({ length: count }, () => {
      const socket = connect(Number(url.port), url.hostname);
      socket.on("error", () => {}).pause();
      socket.write(
        `GET ${configMaps}?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer admin\r\n\r\n`,
      );
      return socket;
    });
    await sleep(3_000);
    return () => sockets.forEach((socket) => socket.destroy());
  },
  async "unread-streams"({ url }, count) {
    const sessions = Array.from({ length: Math.ceil(count / 250) }, () => {
      const session = connectHttp2(url.href, { settings: { initialWindowSize: 0 } });
      session.on("error", () => {});
      for (let at = 0; at < 250; at++) {
        const stream = session.request({
          [constants.HTTP2_HEADER_PATH]: configMaps,
          authorization: "Bearer admin",
        });
        stream.on("error", () => {}).pause();
      }
      return session;
    });
    await sleep(3_000);
    return () => sessions.forEach((session) => session.destroy());
  },
  async "unfinished-bodies"({ url }, count) {
    const body = "v".repeat(2_900_000);
    const sockets = Array.from({ length: count }, () => {
      const socket = connect(Number(url.port), url.hostname);
      socket.on("error", () => {});
      socket.write(`POST ${configMaps} HTTP/1.1\r\nHost: h\r\nContent-Length: 2900001\r\n\r\n`);
      socket.write(body);
      return socket;
    });
    await sleep(3_000);
    return () => sockets.forEach((socket) => socket.destroy());
  },
};

/** Each at a server of its own. */
async function* firstRound(names: readonly string[]): AsyncGenerator<Measured | undefined> {
  for (const name of names) {
    const target = await startedServer();
    try {
      yield await measured(name, attacks[name] as Attack, target, "first");
    } finally {
      target.stop();
    }
  }
}

/** So many leave up to a gigabyte of objects behind. */
const attacksPerServer = 20;

/** Some at one server, and the next at another: what one request takes is looked for, not what is there in the end. */
async function* secondRound(names: readonly string[]): AsyncGenerator<Measured | undefined> {
  let target = await startedServer();
  let count = 0;
  try {
    for (const name of names) {
      if (target.victim.isOver || count >= attacksPerServer) {
        target.stop();
        target = await startedServer();
        count = 0;
      }
      const found = await measured(name, table[name] as Attack, target, "second");
      if (found !== undefined) count++;
      yield found;
    }
  } finally {
    target.stop();
  }
}

interface Round {
  readonly names: readonly string[];
  /** Whether words choose those names in which all of them stand, or names are given whole. */
  readonly byWords: boolean;
  readonly play: (names: readonly string[]) => AsyncGenerator<Measured | undefined>;
}

const rounds: Readonly<Record<string, Round>> = {
  1: { names: Object.keys(attacks), byWords: false, play: firstRound },
  2: { names: Object.keys(table), byWords: true, play: secondRound },
  3: { names: processAttackNames(), byWords: true, play: thirdRound },
  4: { ...fourthRound, byWords: true },
  5: { ...fifthRound, byWords: true },
};

async function main(args: readonly string[]): Promise<number> {
  const [number, asked] = args[0] === "--round" ? [args[1] ?? "", args.slice(2)] : ["1", args];
  const round = rounds[number];
  if (round === undefined) {
    console.error(`attacks: there is no round ${number}. Rounds: ${Object.keys(rounds).join(", ")}.`);
    return 2;
  }
  const { names: all, byWords, play } = round;
  const wanted = asked.flatMap((words) => words.split(" "));
  const names = byWords
    ? all.filter((name) => wanted.every((word) => name.split(" ").includes(word)))
    : asked.length > 0
      ? asked
      : all;
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0 || names.length === 0) {
    const words = unknown.length > 0 ? unknown : asked;
    const shown =
      all.length <= shownMax
        ? all.join(", ")
        : `${all.slice(0, shownMax).join(", ")} and ${all.length - shownMax} more`;
    console.error(`attacks: no attack is called ${words.join(" or ")}. Attacks: ${shown}.`);
    return 2;
  }
  let code = 0;
  for await (const found of play(names)) {
    if (found === undefined) continue;
    console.log(JSON.stringify(found));
    if (found.ended) code = 1;
  }
  return code;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
