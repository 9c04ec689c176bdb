/** Ports for programs that must be told theirs before they listen. */
import { createServer } from "node:net";
import { pid } from "node:process";
import { threadId } from "node:worker_threads";

/** Below those that systems give to whoever asks for any port, a connection that goes out among them. */
const first = 20_000;
const count = 12_000;

let asked = 0;

/**
 * A port of the loopback that nobody listens on, and never the same twice in one thread: whoever was told it has time to
 * take it. Another process begins elsewhere, and so does another thread, which has this module for itself.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < count; tries++) {
    const port = first + ((pid * 97 + threadId * 401 + asked++) % count);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port between ${first} and ${first + count} is free`);
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once("error", () => resolve(false));
  server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  return promise;
}
