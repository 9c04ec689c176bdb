/** What a connection is agreed on and how it goes: versions of TLS, and clients that leave without a word. */
import { connect as connectHttp2 } from "node:http2";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls, type SecureVersion, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import type { ApiHandler, Payload, Responder } from "../contract/http-message.ts";
import { listenHttp, type TlsOptions } from "./http-server.ts";
import type { Listening } from "./http1-server.ts";
import { selfSignedCertificate } from "./certificates/self-signed.ts";

const text = (value: string): Payload => ({
  object: undefined,
  contentType: "text/plain",
  bytes: () => Buffer.from(value),
});

const tls: TlsOptions = selfSignedCertificate({
  hosts: ["127.0.0.1"],
  notBeforeMillis: Date.now() - 3_600_000,
  notAfterMillis: Date.now() + 3_600_000,
});

let open: Listening | undefined;

afterEach(async () => {
  await open?.close(0);
  open = undefined;
});

async function serve(handler: ApiHandler, withTls: boolean): Promise<Listening> {
  open = await listenHttp({ handler, turn: (work) => work() }, 0, "127.0.0.1", withTls ? tls : undefined);
  return open;
}

describe("TLS", () => {
  const greeter: ApiHandler = {
    start(_request, responder) {
      responder.respond(200, {}, text("hello"));
      return () => {};
    },
  };

  function shakeHands(port: number, version: SecureVersion, protocol: string): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const socket = connectTls({
        host: "127.0.0.1",
        port,
        ca: tls.certificate,
        minVersion: version,
        maxVersion: version,
        ALPNProtocols: [protocol],
        ciphers: "DEFAULT@SECLEVEL=0", // or the client itself would not offer what is obsolete
      });
      socket.once("secureConnect", () => resolve(socket)).once("error", reject);
    });
  }

  const readAll = (socket: Socket): Promise<string> =>
    new Promise((resolve) => {
      let received = "";
      socket.on("data", (chunk: Buffer) => (received += chunk.toString())).on("end", () => resolve(received));
    });

  it.each<SecureVersion>(["TLSv1.2", "TLSv1.3"])("is spoken as %s, for HTTP/1.1 and HTTP/2", async (version) => {
    const { port, url } = await serve(greeter, true);
    const one = await shakeHands(port, version, "http/1.1");
    expect([one.getProtocol(), one.alpnProtocol]).toEqual([version, "http/1.1"]);
    one.write("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    expect(await readAll(one)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*hello$/);

    const two = await shakeHands(port, version, "h2");
    expect([two.getProtocol(), two.alpnProtocol]).toEqual([version, "h2"]);
    const session = connectHttp2(url, { createConnection: () => two });
    const request = session.request({ ":path": "/" }).setEncoding("utf8");
    expect(await new Promise((resolve) => request.once("data", resolve))).toBe("hello");
    session.destroy();
  });

  it("is refused in versions that are obsolete", async () => {
    const { port } = await serve(greeter, true);
    await expect(shakeHands(port, "TLSv1.1", "http/1.1")).rejects.toThrow(/protocol version/i);
  });
});

describe.each([
  ["in the clear", false],
  ["under TLS", true],
])("an HTTP/2 client that leaves with a watch half read, %s", (_name, withTls) => {
  it("is noticed, and holds nothing up", async () => {
    let responder: Responder | undefined;
    let noticed: () => void = () => {};
    const cancelled = new Promise<void>((resolve) => {
      noticed = resolve;
    });
    const listening = await serve(
      {
        start(_request, given) {
          responder = given;
          given.open(200, {});
          return noticed;
        },
      },
      withTls,
    );
    const address = { host: "127.0.0.1", port: listening.port };
    const socket = withTls
      ? connectTls({ ...address, ca: tls.certificate, ALPNProtocols: ["h2"] })
      : connectPlain(address);
    const session = connectHttp2(listening.url, { createConnection: () => socket });
    session.on("error", () => {});
    const watch = session.request({ ":path": "/watch" });
    watch.on("error", () => {});
    await new Promise((resolve) => watch.once("response", resolve));
    responder?.frame(text("x".repeat(1 << 20))); // more than a client takes without saying that it has read
    await new Promise((resolve) => watch.once("readable", resolve));
    session.destroy();
    await cancelled;
    await listening.close();
  });
});
