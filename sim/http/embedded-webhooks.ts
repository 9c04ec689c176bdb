/** The embedded server's way to webhooks, and to services, that are functions in this process: no socket, a moment of virtual time. */
import type { WebhookHost } from "../../wire/ports.ts";
import type { WebhookCaller } from "../apiserver/admission/webhooks.ts";
import type { Forward } from "../apiserver/proxy/proxy.ts";
import type { Process } from "../kernel/types.ts";

/** How long a call takes, in virtual microseconds: long enough that other requests come in between. */
const callMicros = 500;

/** An address that examples are made of: one that can also be an endpoint. */
const hostUrl = "https://203.0.113.7:443";

export interface EmbeddedWebhooks {
  readonly host: WebhookHost;
  readonly caller: WebhookCaller;
  /** Reaches the same host: documents go there and come back as JSON. */
  readonly forward: Forward;
}

/** Calls to other addresses fail as those to a port where nobody listens. */
export function embeddedWebhooks(server: Process): EmbeddedWebhooks {
  const reviews = new Map<string, (document: unknown) => unknown>();
  return {
    host: {
      url: hostUrl,
      certificate: undefined,
      answer(path, review) {
        reviews.set(path, review);
        return () => void reviews.delete(path);
      },
      async close() {
        reviews.clear();
      },
    },
    caller({ url, body }, done) {
      return server.clock.after(callMicros, () => {
        const { host, hostname, pathname } = new URL(url);
        if (`https://${hostname}:443` !== hostUrl) {
          done({ error: `Post "${url}": dial tcp ${host}: connect: connection refused` });
          return;
        }
        const review = reviews.get(pathname);
        done(review === undefined ? { status: 404, body: "" } : { status: 200, body: review(body) });
      });
    },
    forward({ scheme, host, port, method, target, body }, done) {
      return server.clock.after(callMicros, () => {
        if (`${scheme}://${host}:${port}` !== hostUrl) {
          done({ error: `dial tcp ${host}:${port}: connect: connection refused` });
          return;
        }
        const { pathname } = new URL(target, hostUrl);
        const review = method === "POST" ? reviews.get(pathname) : undefined;
        const answer = review?.(JSON.parse(new TextDecoder().decode(body)));
        const headers = { "content-type": "application/json" };
        const bytes = new TextEncoder().encode(answer === undefined ? "" : JSON.stringify(answer));
        done({ status: review === undefined ? 404 : 200, headers, body: bytes });
      });
    },
  };
}
