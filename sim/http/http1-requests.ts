/**
 * Requests as node's parser for HTTP/1.1 hands them on, and the heads that it lets pass and the real server does not:
 * which host is meant, and how a body is coded, must be certain. Source: the published server library.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Exchange, type ExchangeContext } from "./exchange.ts";

/** A listener for the requests of one server. */
export function http1Requests(context: ExchangeContext): (request: IncomingMessage, response: ServerResponse) => void {
  const refused = new WeakSet<Socket>();
  return (request, response) => {
    // Node hands on what came behind a head that was refused: nobody may smuggle a request there.
    if (refused.has(request.socket)) return;
    const refusal = refusalOf(request);
    if (refusal === undefined) new Exchange(context, request, response).begin(request);
    else {
      refused.add(request.socket);
      refuse(response, refusal);
    }
  };
}

interface Refusal {
  readonly status: number;
  readonly phrase: string;
  readonly text: string;
}

const unknownCoding: Refusal = { status: 501, phrase: "Not Implemented", text: "Unsupported transfer encoding" };
const noVersion: Refusal = { status: 400, phrase: "Bad Request", text: "400 Bad Request: malformed HTTP version" };
const tooManyHosts = "Bad Request: too many Host headers";

function refusalOf({ rawHeaders, httpVersion }: IncomingMessage): Refusal | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return noVersion;
  let hosts = 0;
  let codings = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (name === "host") hosts++;
    if (name !== "transfer-encoding" || httpVersion !== "1.1") continue;
    codings++;
    if (codings > 1 || (rawHeaders[at + 1] as string).toLowerCase() !== "chunked") return unknownCoding;
  }
  return hosts > 1 ? { status: 400, phrase: tooManyHosts, text: `400 ${tooManyHosts}` } : undefined;
}

function refuse(response: ServerResponse, { status, phrase, text }: Refusal): void {
  const headers = { "content-type": "text/plain; charset=utf-8", connection: "close", "content-length": text.length };
  response.writeHead(status, phrase, headers).end(text);
}
