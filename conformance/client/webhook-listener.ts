/** Where a target at a URL calls the suite's webhooks: a listener over HTTPS, open for as long as the run. */
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookHost } from "../../wire/ports.ts";

export interface WebhookListenerOptions {
  /** Name or address under which the target reaches this machine; an IPv6 address without brackets. */
  readonly host: string;
  /** Port to listen on, on every address of this machine; 0 for any free one. */
  readonly port: number;
  /** PEM; good for `host`. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** A review is read up to this; what says more is no review of a write that the suite makes. */
const reviewBytesMax = 1024 * 1024;

/** Rejects when the port cannot be listened on. */
export async function listenForWebhooks(options: WebhookListenerOptions): Promise<WebhookHost> {
  const reviews = new Map<string, (document: unknown) => unknown>();
  const { certificate, privateKey, host } = options;
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    // A target that breaks off is its own affair: nothing is owed to it any more.
    answer(reviews, request, response).catch(() => response.destroy());
  });
  await listening(server, options.port);
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    certificate,
    answer(path, review) {
      reviews.set(path, review);
      return () => void reviews.delete(path);
    },
    close: () =>
      new Promise((resolve) => {
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

async function answer(
  reviews: ReadonlyMap<string, (document: unknown) => unknown>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? "/").split("?")[0] as string;
  const review = request.method === "POST" ? reviews.get(path) : undefined;
  const document = await documentOf(request);
  if (review === undefined || document === undefined) {
    response.writeHead(review === undefined ? 404 : 400).end();
    return;
  }
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(review(document)));
}

/** Undefined for a body that is no JSON, or too long for a review. */
async function documentOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > reviewBytesMax) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    return undefined;
  }
}
