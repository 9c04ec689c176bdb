/**
 * Handlers in the form that undici had up to version 7, which Node's own `fetch` still hands to a dispatcher:
 * `onConnect`, `onHeaders`, `onData`, `onComplete`, `onError`, with raw headers and a boolean that asks for a pause.
 * Source: undici's documentation of version 6, Dispatcher, DispatchHandlers.
 */
import type { Dispatcher } from "undici";

interface LegacyHandler {
  onConnect?(abort: (reason?: Error) => void, context?: unknown): void;
  onHeaders(statusCode: number, headers: Buffer[], resume: () => void, statusText: string): boolean | void;
  onData(chunk: Buffer): boolean | void;
  onComplete(trailers: Buffer[]): void;
  onError(error: Error): void;
}

/** The handler itself when it is of today's form, or one that passes everything on to a handler of the old form. */
export function currentHandler(handler: Dispatcher.DispatchHandler | LegacyHandler): Dispatcher.DispatchHandler {
  if (!isLegacy(handler)) return handler;
  return {
    onRequestStart(controller) {
      handler.onConnect?.((reason) => controller.abort(reason ?? new Error("the request was aborted")), {});
    },
    onResponseStart(controller, statusCode, headers, statusText) {
      const raw = rawHeaders(headers);
      if (handler.onHeaders(statusCode, raw, () => controller.resume(), statusText ?? "") === false) controller.pause();
    },
    onResponseData(controller, chunk) {
      if (handler.onData(chunk) === false) controller.pause();
    },
    onResponseEnd() {
      handler.onComplete([]);
    },
    onResponseError(_, error) {
      handler.onError(error);
    },
  };
}

function isLegacy(handler: Dispatcher.DispatchHandler | LegacyHandler): handler is LegacyHandler {
  const methods = handler as Record<string, unknown>;
  return methods["onRequestStart"] === undefined && typeof methods["onHeaders"] === "function";
}

/** Names and values in turn. */
function rawHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Buffer[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((one) => [Buffer.from(name), Buffer.from(one)]),
  );
}
