/**
 * The two ways for clients that can't be handed a `fetch` or a dispatcher: handlers for a user's own msw set-up, and
 * interception of `node:http` for an unmodified client. Both are loaded only when they are asked for.
 */
import type { RequestHandler } from "msw";

type Fetch = typeof globalThis.fetch;

export interface Interception<T> {
  readonly result: T;
  readonly end: () => void;
}

/** Handlers that send every request to `origin` into the simulated server. */
export async function mswHandlers(origin: string, fetch: Fetch): Promise<Interception<RequestHandler[]>> {
  const { http, HttpResponse } = await import("msw");
  const guard = await keepOffTheNetwork(origin);
  const answer = ({ request }: { readonly request: Request }): Promise<Response> => {
    guard.begin();
    // A handler that throws is answered with 500: a broken connection has to be said.
    return fetch(request).then(headersAtOnce, () => HttpResponse.error());
  };
  return { result: [http.all(`${origin}/*`, answer), http.all(origin, answer)], end: guard.end };
}

/**
 * Intercepts requests of this process to `origin`, whichever client makes them (`node:http`, `node:https`, the global
 * `fetch`, undici). Other requests pass through.
 */
export async function interceptOrigin(origin: string, fetch: Fetch): Promise<() => void> {
  const { HttpRequestInterceptor } = await import("@mswjs/interceptors/http");
  const guard = await keepOffTheNetwork(origin);
  const interceptor = new HttpRequestInterceptor();
  // oxlint-disable-next-line typescript/no-misused-promises -- the interceptor waits for its listeners
  interceptor.on("request", async ({ request, controller }) => {
    if (new URL(request.url).origin !== origin) return;
    guard.begin();
    const answer = await fetch(request).then(headersAtOnce, (error: Error) => error);
    if (answer instanceof Response) controller.respondWith(answer);
    else controller.errorWith((answer.cause as Error | undefined) ?? answer);
  });
  interceptor.apply();
  return () => {
    interceptor.dispose();
    guard.end();
  };
}

/**
 * After an abort undici opens the next connection ahead of any request, and the interceptors let a connection pass
 * that has carried none. This one waits, as there is no such host.
 */
async function keepOffTheNetwork(origin: string): Promise<{ begin(): void; end(): void }> {
  const { SocketInterceptor } = await import("@mswjs/interceptors/net");
  const { hostname } = new URL(origin);
  const sockets = SocketInterceptor.singleton(SocketInterceptor);
  type Listener = Parameters<typeof sockets.on<"connection">>[1];
  const onConnection: Listener = ({ connectionOptions, controller }) => {
    if (connectionOptions.host === hostname) Object.assign(controller, { passthrough: () => undefined });
  };
  return {
    begin() {
      if (!sockets.listeners("connection").includes(onConnection)) sockets.on("connection", onConnection);
    },
    end: () => sockets.removeListener("connection", onConnection),
  };
}

/**
 * Interceptors hold the headers back until the body begins: an empty chunk brings those of a quiet watch out. A body
 * of unknown length is chunked, as the server's is, or a broken connection would look like its end.
 */
function headersAtOnce(response: Response): Response {
  if (response.body === null) return response;
  if (!response.headers.has("content-length")) response.headers.set("transfer-encoding", "chunked");
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(0)),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
}
