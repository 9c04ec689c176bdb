/** Requests that are cut in the turn in which they are sent, over HTTP/2. A process of their own may hang in native code. */
import { execFile } from "node:child_process";
import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";

let server: Http2Server | undefined;

afterEach(() => {
  server?.close();
});

const client = (url: string): string => `
  import { urlTransport } from ${JSON.stringify(new URL("url-transport.ts", import.meta.url).href)};
  const transport = urlTransport(${JSON.stringify(url)}, { http: "2" });
  const send = (cut) => new Promise((resolve) => {
    const end = () => resolve(1);
    const cancel = transport.open({ method: "POST", path: "/", headers: {}, body: "body" }, { head() {}, chunk() {}, end, failed: end });
    if (cut) { cancel(); resolve(0); }
  });
  let answered = 0;
  for (let round = 0; round < 20; round++) {
    for (const each of await Promise.all([send(true), send(false)])) answered += each;
  }
  await transport.close();
  console.log(answered);
`;

it("cuts some of the requests of one turn, and the others are answered", async () => {
  let begun = 0;
  server = createServer((request, response) => {
    begun += 1;
    request.resume().on("end", () => response.end("answer"));
    request.on("error", () => {});
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const words = ["--input-type=module", "--eval", client(url)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 30_000, killSignal: "SIGKILL" });
  expect(stdout).toBe("20\n");
  expect(begun).toBeGreaterThan(20); // what was cut had been sent
});
