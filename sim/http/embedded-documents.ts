/** Where an embedded server calls the suite as an issuer of tokens and as an authorizer: functions in this process, a moment of virtual time. */
import type { DocumentHost, Reply } from "../../wire/ports.ts";
import type { IssuerCaller } from "../apiserver/access/tokens/issuer-keys.ts";
import type { ReviewCaller } from "../apiserver/access/webhooks/webhook-authorizer.ts";
import type { Process } from "../kernel/types.ts";

const callMicros = 500;

export interface EmbeddedDocuments {
  readonly host: DocumentHost;
  /** Nothing is encrypted, as with a certificate that machines trust: whoever trusts another alone is not served. */
  issuerCaller(process: Process): IssuerCaller;
  /** Reviews go to `path`. */
  reviewCaller(process: Process, path: string): ReviewCaller;
}

export function embeddedDocuments(url: string): EmbeddedDocuments {
  const replies = new Map<string, (document: unknown) => Reply>();
  const replied = (path: string, document: unknown): Reply =>
    replies.get(path)?.(document) ?? { status: 404, body: undefined };
  return {
    host: {
      url,
      answer(path, reply) {
        replies.set(path, reply);
        return () => void replies.delete(path);
      },
      async close() {
        replies.clear();
      },
    },
    issuerCaller:
      ({ clock }) =>
      ({ url: asked, certificateAuthority }, done) => {
        const refused = !asked.startsWith(`${url}/`)
          ? "connect: connection refused"
          : certificateAuthority === undefined
            ? undefined
            : "x509: certificate signed by unknown authority";
        if (refused !== undefined) return clock.after(callMicros, () => done({ error: refused }));
        return later(clock, () => replied(asked.slice(url.length), undefined), done);
      },
    reviewCaller:
      ({ clock }, path) =>
      (body, done) =>
        later(clock, () => replied(path, body), done),
  };
}

function later(
  clock: Process["clock"],
  reply: () => Reply,
  done: (answer: { readonly status: number; readonly body: unknown }) => void,
): () => void {
  let stop = clock.after(callMicros, () => {
    const { afterMillis = 0, status, body } = reply();
    stop = clock.after(afterMillis * 1000, () => done({ status, body }));
  });
  return () => stop();
}
