/** Where a target at a URL calls the suite: JSON documents over HTTPS, for as long as the run. */
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Gathered } from "../../wire/gathered.ts";
import type { DocumentHost, Reply } from "../../wire/ports.ts";
import { unreadJson } from "./answer-limits.ts";
import { AnswerRoom } from "./answer-room.ts";
import { parsed } from "./read-answers.ts";

export interface ListenerOptions {
  /** Name or address under which the target reaches this machine; an IPv6 address without brackets. */
  readonly host: string;
  /** Port to listen on, on every address of this machine; 0 for any free one. */
  readonly port: number;
  /** PEM; good for `host`. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** A review is read up to this; what says more is no review of what the suite does. */
const documentBytesMax = 1024 * 1024;
/** Of all that have not come whole: the target opens as many connections as it likes. */
const arrivingBytesMax = 64 * 1024 * 1024;

/** Rejects when the port cannot be listened on. */
export async function listenForDocuments(options: ListenerOptions): Promise<DocumentHost> {
  const replies = new Map<string, (document: unknown) => Reply>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const room = new AnswerRoom(arrivingBytesMax);
  const { certificate, privateKey, host } = options;
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    // A target that breaks off is its own affair: nothing is owed to it any more.
    answer({ replies, timers, room }, request, response).catch(() => response.destroy());
  });
  await listening(server, options.port);
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    answer(path, reply) {
      replies.set(path, reply);
      return () => void replies.delete(path);
    },
    close: () =>
      new Promise((resolve) => {
        for (const timer of timers) clearTimeout(timer);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}

interface Desk {
  readonly replies: ReadonlyMap<string, (document: unknown) => Reply>;
  readonly timers: Set<ReturnType<typeof setTimeout>>;
  readonly room: AnswerRoom;
}

async function answer(
  { replies, timers, room }: Desk,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? "/").split("?")[0] as string;
  const reply = replies.get(path);
  const document = await documentOf(request, room);
  const isRead = request.method === "GET" || (request.method === "POST" && document !== undefined);
  const {
    status,
    body,
    afterMillis = 0,
  } = reply === undefined
    ? { status: 404, body: undefined }
    : isRead
      ? reply(request.method === "POST" ? document : undefined)
      : { status: 400, body: undefined };
  const say = (): void => {
    if (response.destroyed) return;
    response.writeHead(status, body === undefined ? {} : { "content-type": "application/json" });
    response.end(body === undefined ? "" : JSON.stringify(body));
  };
  if (afterMillis === 0) {
    say();
    return;
  }
  const timer = setTimeout(() => {
    timers.delete(timer);
    say();
  }, afterMillis);
  timers.add(timer);
}

/** Undefined for a body that is no JSON, or too long for a review. */
async function documentOf(request: IncomingMessage, room: AnswerRoom): Promise<unknown> {
  const body = new Gathered();
  const place = room.enter((why) => request.destroy(new Error(why)));
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      body.add(chunk);
      place.take(chunk.length);
      if (body.bytes > documentBytesMax) return undefined;
    }
  } finally {
    place.leave();
  }
  const bytes = body.joined();
  return unreadJson(bytes) === undefined ? parsed(new TextDecoder().decode(bytes)) : undefined;
}
