/**
 * Hands requests on over HTTP and HTTPS, for a server that runs in real time. Whoever is at the other end of a proxied
 * request need not prove who it is: so it is on the real server, too.
 */
import { lookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { clearTimeout, setTimeout } from "node:timers";
import type { Forward, ForwardedAnswer, ForwardedFlow, ForwardedRequest } from "../apiserver/proxy/forward.ts";
import { addressNotAllowed, isReachable } from "../apiserver/proxy/locations.ts";
import type { Cancel } from "../kernel/types.ts";
import { type AgentCredentials, tlsOptionsOf } from "./agent-credentials.ts";
import { readFlowing, readWhole } from "./answer-body.ts";
import { ArrivingAnswers } from "./arriving-answers.ts";
import { type Dialer, throughDialer } from "./egress/dialer.ts";
import type { Gathered } from "../../wire/gathered.ts";
import { paceSocket } from "./paced-socket.ts";

export interface ForwardingLimits {
  /** Of an answer's body. */
  readonly answerBytesMax: number;
  /** From the request to the end of its answer. */
  readonly answerMillisMax: number;
}

const wholeBytesMax = 32 * 1024 * 1024;
const forwardingLimits: ForwardingLimits = { answerBytesMax: wholeBytesMax, answerMillisMax: 60_000 };

/** `turn` runs what comes from outside as an event of the server. */
export function httpForwarder(
  turn: (work: () => void) => void,
  dial?: Dialer,
  limits: ForwardingLimits = forwardingLimits,
  credentials: AgentCredentials = {},
): Forward {
  return (request, done, flow) => {
    try {
      return send({ request, dial, limits, credentials, turn, flow }, (answer) => turn(() => done(answer)));
    } catch (error) {
      done({ error: (error as Error).message }); // what no request can be made of
      return () => {};
    }
  };
}

interface Sending {
  readonly request: ForwardedRequest;
  readonly dial: Dialer | undefined;
  readonly limits: ForwardingLimits;
  readonly credentials: AgentCredentials;
  readonly turn: (work: () => void) => void;
  readonly flow: ForwardedFlow | undefined;
}

function send(sending: Sending, done: (answer: ForwardedAnswer) => void): Cancel {
  const { request, limits, flow } = sending;
  let isOver = false;
  const end = (answer: ForwardedAnswer): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    done(answer);
  };
  const outgoing = opened(sending);
  const giveUp = (error: string): void => {
    end({ error });
    outgoing.destroy();
  };
  const late = `no answer within ${limits.answerMillisMax / 1000} s`;
  const timer = setTimeout(() => giveUp(late), limits.answerMillisMax);
  outgoing.on("socket", (socket) => paceSocket(socket));
  outgoing.on("error", (error) => end({ error: reason(request, error) }));
  outgoing.on("response", (incoming) => {
    const { statusCode = 0 } = incoming;
    if (flow === undefined || statusCode < 200 || statusCode > 299) read(incoming, limits.answerBytesMax, end, giveUp);
    else {
      clearTimeout(timer);
      isOver = true;
      letFlow(incoming, flow, sending.turn);
    }
  });
  // Nobody has asked for that; unheard, it would end the connection without a word.
  outgoing.on("upgrade", () => giveUp("the answer is another protocol, which nobody has asked for"));
  outgoing.end(request.body);
  return () => {
    isOver = true;
    clearTimeout(timer);
    outgoing.destroy();
  };
}

function letFlow(incoming: IncomingMessage, flow: ForwardedFlow, turn: Sending["turn"]): void {
  const { statusCode = 200, headers } = incoming;
  turn(() => flow.open(statusCode, headers as Record<string, string | string[]>));
  const take = (bytes: Uint8Array, resume: () => void): boolean => {
    let goesOn = true;
    turn(() => (goesOn = flow.chunk(bytes, resume)));
    return goesOn;
  };
  readFlowing(incoming, take, () => turn(() => flow.end()));
}

function opened({ request, dial, credentials }: Sending): ClientRequest {
  const { scheme, host, port, method, target, headers, body, isGlobalOnly } = request;
  if (!/^\d*$/.test(port)) throw new Error(`dial tcp: lookup tcp/${port}: unknown port`);
  const length = body === undefined ? {} : { "content-length": body.length };
  return (scheme === "https" ? requestHttps : requestHttp)({
    host,
    ...(port === "" ? {} : { port: Number(port) }),
    method,
    path: target,
    ...throughDialer(dial, scheme === "https"),
    ...(isGlobalOnly === true ? { lookup: globalLookup } : {}),
    headers: { ...headers, ...length },
    ...(scheme === "https" ? tlsOptionsOf(request.isAgent === true ? credentials : {}) : {}),
  });
}

function read(
  incoming: IncomingMessage,
  bytesMax: number,
  end: (answer: ForwardedAnswer) => void,
  giveUp: (error: string) => void,
): void {
  const { statusCode: status = 0 } = incoming;
  if (status < 200 || status > 599) {
    giveUp(`the answer has the status ${status}, which no client would understand`);
    return;
  }
  const headers = incoming.headers as Record<string, string | string[]>;
  const place = {
    pause: () => void incoming.pause(),
    resume: () => void incoming.resume(),
    evicted: () => giveUp("others had to wait for the answer for too long"),
  };
  incoming.on("close", () => arriving.release(place));
  readWhole(incoming, bytesMax, {
    held: (bytes) => arriving.hold(place, bytes),
    whole: (gathered) => end(wholeAnswer(status, headers, gathered)),
    tooLong: () => giveUp(`the answer is longer than ${bytesMax} bytes`),
    broken: ({ message }) => end({ error: message }),
  });
}

/** Few need the body in one piece. */
const wholeAnswer = (
  status: number,
  headers: Record<string, string | string[]>,
  gathered: Gathered,
): ForwardedAnswer => ({
  status,
  headers,
  pieces: gathered.pieces(),
  get body() {
    return gathered.joined();
  },
});

/** Of all servers of this process. */
const arriving = new ArrivingAnswers();

/** Many names mean the machine itself, also those that are numbers in other clothes: what counts is where they lead. */
export const globalLookup: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) done(error, [], 0);
    else if (!addresses.every(({ address }) => isReachable(address))) done(new Error(addressNotAllowed), [], 0);
    else if (options.all === true) done(null, addresses);
    else done(null, (addresses[0] as LookupAddress).address, (addresses[0] as LookupAddress).family);
  });
};

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ETIMEDOUT: "i/o timeout",
};

function reason({ host, port, scheme }: ForwardedRequest, error: Error): string {
  const word = words[(error as NodeJS.ErrnoException).code ?? ""];
  if (word === undefined) return error.message;
  const address = host.includes(":") ? `[${host}]` : host;
  return `dial tcp ${address}:${port || (scheme === "https" ? "443" : "80")}: ${word}`;
}
