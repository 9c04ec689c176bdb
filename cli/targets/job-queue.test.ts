import { createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { jobQueue } from "./job-queue.ts";

/** What a person is told who names this server as a queue. */
async function told(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as { readonly port: number };
    return await jobQueue("capacity", `redis://:secret@127.0.0.1:${port}`, "test").then(
      () => "taken",
      ({ message }: Error) => message.replace(String(port), "PORT"),
    );
  } finally {
    server.close();
  }
}

const refused = (why: string): string =>
  `--queue redis://:***@127.0.0.1:PORT: ${why}. Start a Redis server there, or give another URL.`;

describe("a queue that cannot be reached", () => {
  it("is told in the same words whatever answers there that is no Redis server, and without its password", async () => {
    const noRedis = refused("something answers there, and it is no Redis server");
    expect(await told((socket) => socket.resetAndDestroy())).toBe(noRedis);
    expect(await told((socket) => socket.end())).toBe(noRedis);
    expect(await told((socket) => socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))).toBe(noRedis);
    expect(await told((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"))).toBe(noRedis);
  });

  it("is told in Redis' own words where Redis refuses", async () => {
    const why = "WRONGPASS invalid username-password pair or user is disabled";
    const refuseEach = (socket: Socket) =>
      socket.on("data", (data) => {
        const commands = String(data).match(/^\*\d+\r$/gm)?.length ?? 0;
        socket.write(`-${why}\r\n`.repeat(commands));
      });
    expect(await told(refuseEach)).toBe(refused(`Redis says: ${why}`));
  });

  it("is told that nothing listens there", async () => {
    await expect(jobQueue("capacity", "redis://127.0.0.1:1", "test")).rejects.toThrow(
      "--queue redis://127.0.0.1:1: nothing listens there.",
    );
  });
});
