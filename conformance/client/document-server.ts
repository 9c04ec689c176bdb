/** One document over HTTP on this machine, for programs that fetch it; what they ask with is kept. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface DocumentServer {
  readonly url: string;
  /** Headers of each request, name and value in turn, as they came. */
  readonly requests: readonly (readonly string[])[];
  close(): Promise<void>;
}

export async function documentServer(text: string, contentType: string): Promise<DocumentServer> {
  const requests: string[][] = [];
  const server = createServer((request, response) => {
    requests.push(request.rawHeaders);
    response.writeHead(200, { "content-type": contentType }).end(text);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
