/** The embedded server's way to webhooks, and to services, that are functions in this process: no socket, a moment of virtual time. */
import type { WebhookHost } from "../../wire/ports.ts";
import type { WebhookCaller } from "../apiserver/admission/webhooks.ts";
import type { Forward, ForwardedAnswer } from "../apiserver/proxy/forward.ts";
import type { Process } from "../kernel/types.ts";
import { copyJson } from "../objects/copy.ts";

/** How long a call takes, in virtual microseconds: long enough that other requests come in between. */
const callMicros = 500;

/** An address that examples are made of: one that can also be an endpoint. */
const hostUrl = "https://203.0.113.7:443";

export interface EmbeddedWebhooks {
  readonly host: WebhookHost;
  /** How a server in `process` reaches the host: as webhooks, and by forwarding, where documents go and come back as JSON. */
  reachedBy(process: Process): { readonly webhooks: WebhookCaller; readonly forward: Forward };
}

/** Calls to other addresses fail as those to a port where nobody listens. */
export function embeddedWebhooks(): EmbeddedWebhooks {
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
    reachedBy: ({ clock }) => ({
      webhooks({ url, body }, done) {
        return clock.after(callMicros, () => {
          const { host, hostname, pathname } = new URL(url);
          if (`https://${hostname}:443` !== hostUrl) {
            done({ error: `Post "${url}": dial tcp ${host}: connect: connection refused` });
            return;
          }
          const review = reviews.get(pathname);
          done(review === undefined ? { status: 404, body: "" } : { status: 200, body: review(copyJson(body)) });
        });
      },
      forward({ scheme, host, port, method, target, body }, done) {
        return clock.after(callMicros, () => {
          if (`${scheme}://${host}:${port}` !== hostUrl) {
            done({ error: `dial tcp ${host}:${port}: connect: connection refused` });
            return;
          }
          const review = method === "POST" ? reviews.get(target.replace(/[?].*$/s, "")) : undefined;
          done(review === undefined ? saying(404, "") : reviewed(review, new TextDecoder().decode(body)));
        });
      },
    }),
  };
}

function reviewed(review: (document: unknown) => unknown, text: string): ForwardedAnswer {
  const document = parsed(text);
  return document === undefined ? saying(400, "") : saying(200, JSON.stringify(review(document)));
}

const saying = (status: number, text: string): ForwardedAnswer => ({
  status,
  headers: { "content-type": "application/json" },
  body: new TextEncoder().encode(text),
});

/** Undefined where it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
