/**
 * For tests: what the suite asks of a server that others use too. Whatever it asks to change or to delete is its own by the path
 * alone, so that a server which minds no parameter still loses nothing; and what it makes outside its namespaces, be it dry,
 * has a name of its own.
 */
import type { Transport, WireRequest } from "../../wire/ports.ts";

export interface GuestBook {
  /** Changes and deletions that were asked for. */
  asked: number;
  /** Requests about others' things. */
  readonly others: Set<string>;
}

/** In a namespace of this run, or of a name that it has made. */
export const isOwn = (path: string, runId: string): boolean => new RegExp(`touchstone-${runId}-\\d`).test(path);

export function noting(book: GuestBook, check: string, runId: string, transport: Transport): Transport {
  return {
    close: () => transport.close(),
    open(request, sink) {
      const { method } = request;
      const [path = ""] = request.path.split("?");
      if (["DELETE", "PUT", "PATCH"].includes(method)) {
        book.asked += 1;
        if (!isOwn(path, runId)) book.others.add(`${check}: ${method} ${request.path}`);
      }
      if (method === "POST" && !isOwn(path, runId) && !isQuestion(path) && !isOwn(nameIn(request), runId)) {
        book.others.add(`${check}: POST ${request.path} of ${nameIn(request)}`);
      }
      return transport.open(request, sink);
    },
  };
}

/** A review changes nothing; nor does an event for no namespace, which no server takes. */
const isQuestion = (path: string): boolean => /reviews$|^\/apis\/events\.[^/]+\/v1\/events$/.test(path);

function nameIn({ body = "" }: WireRequest): string {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return text.startsWith("{")
    ? String((JSON.parse(text) as { metadata?: { name?: unknown } }).metadata?.name)
    : "no name";
}
