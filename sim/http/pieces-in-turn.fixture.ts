/** For tests: how much of what a server is sent it reads in one turn of the loop. */
import { setImmediate } from "node:timers/promises";
import { listenHttp } from "./http-server.ts";
import { RawSocket } from "./raw-socket.fixture.ts";

interface Reader {
  push(...given: unknown[]): boolean;
}

/**
 * The most pieces of bodies that `prototype` is handed in a turn, while `connections` bring as much as `sent` each to a server
 * that answers nothing, with `pieces` pieces in it.
 */
export async function mostPiecesInTurn(
  prototype: object,
  { connections, sent, pieces }: { connections: number; sent: string | Uint8Array; pieces: number },
): Promise<number> {
  const handler = { start: () => () => {} };
  const server = await listenHttp({ handler, turn: (work) => work() }, 0, "127.0.0.1");
  const reader = prototype as Reader;
  const { push } = reader;
  let inTurn = 0;
  reader.push = function (...given) {
    inTurn++;
    return push.apply(this, given);
  };
  const sockets = Array.from({ length: connections }, () => new RawSocket(server.port, sent));
  let most = 0;
  for (let all = 0; all < connections * pieces; inTurn = 0) {
    await setImmediate();
    most = Math.max(most, inTurn);
    all += inTurn;
  }
  reader.push = push;
  for (const socket of sockets) socket.destroy();
  await server.close(0);
  return most;
}
