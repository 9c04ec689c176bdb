/**
 * HTTP/2 streams that are cut without harm. A stream that is destroyed while its headers or its body still wait in
 * Node's session drives that session into a loop without end: it asks what is gone for the rest of the body. A turn
 * later is not late enough, as a busy socket may take any number of turns. So a cut waits until all has been sent.
 */
import { subscribe } from "node:diagnostics_channel";
import type { ClientHttp2Stream } from "node:http2";

/** Whose stream is made next, in this very call. */
let opening: ((stream: ClientHttp2Stream) => void) | undefined;

subscribe("http2.client.stream.created", (message) => {
  opening?.((message as { readonly stream: ClientHttp2Stream }).stream);
  opening = undefined;
});

/** Tells the stream that is opened before this call returns to its event loop, if there is one. */
export function onOpenedStream(tell: (stream: ClientHttp2Stream) => void): void {
  opening = tell;
  queueMicrotask(() => {
    if (opening === tell) opening = undefined;
  });
}

const askAgainMillis = 10;

/** Calls back once all of the stream's request is on its way; never when the stream ends before. */
export function whenSent(stream: ClientHttp2Stream, sent: () => void): void {
  if (stream.writableFinished) whenFlushed(stream, sent);
  else stream.once("finish", () => whenFlushed(stream, sent));
}

/** What was finished may still wait behind other writes. An answered ping has gone out with all that did. */
function whenFlushed(stream: ClientHttp2Stream, flushed: () => void): void {
  const { session } = stream;
  if (stream.destroyed || session === undefined || session.destroyed) return;
  const asked = session.ping((failed) => {
    if (failed === null && !stream.destroyed) flushed();
  });
  // Only so many pings may be under way.
  if (!asked) setTimeout(() => whenFlushed(stream, flushed), askAgainMillis).unref();
}
