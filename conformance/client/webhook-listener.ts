/** Where a target at a URL calls the suite's admission webhooks: what is posted is a review, and nothing else is served. */
import type { Reply, WebhookHost } from "../../wire/ports.ts";
import { listenForDocuments, type ListenerOptions } from "./document-listener.ts";

/** Rejects when the port cannot be listened on. */
export async function listenForWebhooks(options: ListenerOptions): Promise<WebhookHost> {
  const host = await listenForDocuments(options);
  return {
    url: host.url,
    certificate: options.certificate,
    answer: (path, review) => host.answer(path, (document) => reviewed(review, document)),
    close: () => host.close(),
  };
}

const reviewed = (review: (document: unknown) => unknown, document: unknown): Reply =>
  document === undefined ? { status: 404, body: undefined } : { status: 200, body: review(document) };
