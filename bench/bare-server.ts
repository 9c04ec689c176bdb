/**
 * A socket that answers every request with the same bytes and does nothing else: what the load generator reaches
 * against it is the most that it could say about any server. `node bench/bare-server.ts BODY_BYTES`.
 */
import { type AddressInfo, createServer } from "node:net";

function listen(bodyBytes: number): void {
  const body = "x".repeat(bodyBytes);
  const answer = Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n${body}`,
  );
  // The generator has one request in flight a connection and sends it in one piece: a chunk is a request.
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("data", () => socket.write(answer));
    socket.on("error", () => socket.destroy());
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

if (import.meta.main) listen(Number(process.argv[2] ?? 300));
