import { X509Certificate } from "node:crypto";
import { connect, createServer, type SecureVersion } from "node:tls";
import { describe, expect, it } from "vitest";
import { selfSignedCertificate } from "./self-signed.ts";

const pair = selfSignedCertificate({
  hosts: ["localhost", "127.0.0.1", "::1", "fe80::1:2"],
  notBeforeMillis: Date.UTC(2026, 0, 1),
  notAfterMillis: Date.UTC(2055, 0, 1),
});

describe("a self-signed certificate", () => {
  it("is read by the platform's own parser, with its names, dates and signature", () => {
    const certificate = new X509Certificate(pair.certificate);
    expect(certificate.subject).toBe("CN=localhost");
    expect(certificate.subjectAltName).toBe(
      "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:FE80:0:0:0:0:0:1:2",
    );
    expect(certificate.ca).toBe(true);
    expect(certificate.validFromDate.getTime()).toBe(Date.UTC(2026, 0, 1));
    expect(certificate.validToDate.getTime()).toBe(Date.UTC(2055, 0, 1));
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)(
    "is trusted as its own authority over %s",
    async (version: SecureVersion) => {
      const server = createServer({ cert: pair.certificate, key: pair.privateKey }, (socket) => socket.end());
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as { port: number };
      const options = { port, host: "127.0.0.1", ca: pair.certificate, minVersion: version, maxVersion: version };
      const protocol = await new Promise((resolve, reject) => {
        const socket = connect(options, () => resolve(socket.getProtocol()));
        socket.on("error", reject).on("close", () => server.close());
      });
      expect(protocol).toBe(version);
    },
  );
});
