/** The embedded server's way to webhooks that are functions in this process: no socket, a moment of virtual time. */
import type { WebhookHost } from "../../wire/ports.ts";
import type { WebhookCaller } from "../apiserver/admission/webhooks.ts";
import type { Process } from "../kernel/types.ts";

/** How long a call takes, in virtual microseconds: long enough that other requests come in between. */
const callMicros = 500;

const hostUrl = "https://suite.example:443";

export interface EmbeddedWebhooks {
  readonly host: WebhookHost;
  readonly caller: WebhookCaller;
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
  };
}
