import { expect, it } from "vitest";
import { clientCertificates, type OnConnection } from "./client-certificate.ts";

const shown = { subject: { CN: "tester", O: "testers" } };
const connection = (authorized: boolean) => ({ authorized, getPeerCertificate: () => shown });
const overHttp2 = (destroyed: boolean, socket: object): OnConnection =>
  ({ socket: {}, stream: { session: { destroyed, socket } } }) as OnConnection;

it("reads the user and the groups, over either version", () => {
  const identity = { commonName: "tester", organizations: ["testers"] };
  expect(clientCertificates()({ socket: connection(true) })).toEqual(identity);
  expect(clientCertificates()(overHttp2(false, connection(true)))).toEqual(identity);
});

it("takes nothing from a certificate that no authority stands for", () => {
  expect(clientCertificates()(overHttp2(false, connection(false)))).toBe("invalid");
});

it("takes a client that has left for nobody", () => {
  expect(clientCertificates()(overHttp2(true, connection(true)))).toBe("invalid");
  expect(clientCertificates()({ socket: {}, stream: { session: undefined } })).toBe("invalid");
});
