/**
 * A client's connection that is handed on: the request goes to somebody else, and the two connections become one. For
 * commands, terminals and ports, whose protocol nobody in between has to know.
 */
import { type IncomingMessage, request as requestHttp, STATUS_CODES } from "node:http";
import { request as requestHttps } from "node:https";
import type { Duplex } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import type { TunnelTarget } from "../contract/http-message.ts";
import type { Cancel } from "../kernel/types.ts";
import { type AgentCredentials, tlsOptionsOf } from "./agent-credentials.ts";
import { readFlowing } from "./answer-body.ts";
import { globalLookup } from "./http-forwarder.ts";
import { paceSocket, passedBytesMax } from "./paced-socket.ts";

type Outcome = { readonly status: number } | { readonly error: string };

const connectMillisMax = 30_000;

/** `head` came behind the client's request and is the first that it has to say. */
export function openTunnel(
  client: Duplex,
  head: Buffer,
  to: TunnelTarget,
  credentials: AgentCredentials,
  done: (outcome: Outcome) => void,
): Cancel {
  let isDecided = false;
  const decide = (outcome: Outcome): void => {
    if (isDecided) return;
    isDecided = true;
    clearTimeout(late);
    done(outcome);
  };
  const { scheme, host, port, method, target, headers } = to;
  const outgoing = (scheme === "https" ? requestHttps : requestHttp)({
    host,
    ...(port === "" ? {} : { port: Number(port) }),
    method,
    path: target,
    headers,
    agent: false,
    ...(to.isGlobalOnly === true ? { lookup: globalLookup } : {}),
    ...(scheme === "https" ? tlsOptionsOf(to.isAgent === true ? credentials : {}) : {}),
  });
  outgoing.on("socket", (socket) => paceSocket(socket));
  const late = setTimeout(() => outgoing.destroy(new Error("i/o timeout")), connectMillisMax);
  const end = (): void => {
    outgoing.destroy();
    client.destroy();
  };
  outgoing.on("error", (error) => {
    if (isDecided) end();
    else decide({ error: wordsOf(to, error) });
  });
  outgoing.on("upgrade", (answer, socket, first) => {
    client.write(headOf(answer));
    client.write(first);
    socket.write(head);
    for (const each of [client, socket]) paceSocket(each, passedBytesMax);
    join(client, socket, to);
    decide({ status: answer.statusCode ?? 101 });
  });
  outgoing.on("response", (answer) => {
    client.write(headOf(answer, true));
    answer.on("error", end);
    const take = (bytes: Uint8Array, resume: () => void): boolean => {
      if (client.write(bytes)) return true;
      client.once("drain", resume);
      return false;
    };
    readFlowing(answer, take, () => void client.end());
    decide({ status: answer.statusCode ?? 502 });
  });
  outgoing.end();
  return () => {
    isDecided = true;
    clearTimeout(late);
    end();
  };
}

/** What one says the other hears, until either ends, is silent for too long, or has had its time. */
function join(one: Duplex, other: Duplex, { idleMillisMax = 0, millisMax }: TunnelTarget): void {
  const end = (): void => {
    one.destroy();
    other.destroy();
    clearTimeout(whole);
    clearTimeout(idle);
  };
  const whole = millisMax === undefined ? undefined : setTimeout(end, millisMax);
  const idle = idleMillisMax === 0 ? undefined : setTimeout(end, idleMillisMax);
  const heard = (): void => void idle?.refresh();
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on("data", heard);
    from.pipe(to);
    from.on("error", end);
    from.on("close", () => {
      // What it said last may still be on its way.
      to.end();
      clearTimeout(whole);
      clearTimeout(idle);
    });
  }
}

/** Of an answer that ends its connection, its length is where that ends. */
function headOf({ statusCode = 502, statusMessage, rawHeaders }: IncomingMessage, isLast = false): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage || (STATUS_CODES[statusCode] ?? "")}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (isLast && /^(?:connection|keep-alive|transfer-encoding)$/i.test(name)) continue;
    lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  if (isLast) lines.push("Connection: close");
  return `${lines.join("\r\n")}\r\n\r\n`;
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
};

function wordsOf({ host, port, scheme }: TunnelTarget, error: NodeJS.ErrnoException): string {
  const word = words[error.code ?? ""];
  if (word === undefined) return error.message;
  return `dial tcp ${host.includes(":") ? `[${host}]` : host}:${port || (scheme === "https" ? "443" : "80")}: ${word}`;
}
