import { describe, expect, it } from "vitest";
import { encodeBase64 } from "../../../wire/base64.ts";
import { DerError, itemsOf, objectIdText, readDer } from "./der.ts";
import { nodeRequest, personRequest } from "./requests.fixture.ts";
import { parseCertificateRequest } from "./request.ts";

describe("a request for a certificate", () => {
  it("is read with its subject, names and key", () => {
    const read = parseCertificateRequest(nodeRequest);
    expect(read).toMatchObject({
      commonName: "system:node:n1",
      organizations: ["system:nodes"],
      dnsNames: ["n1.example.com"],
      addresses: [new Uint8Array([10, 0, 0, 7])],
      otherNames: [],
      signatureAlgorithm: "1.2.840.10045.4.3.2",
    });
    expect(parseCertificateRequest(personRequest)).toMatchObject({
      commonName: "alice",
      organizations: ["devs", "ops"],
      dnsNames: [],
    });
  });

  it("is refused when it is something else, or a part of one", () => {
    const block = (label: string, body: string): string =>
      encodeBase64(new TextEncoder().encode(`-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`));
    const notOne = { error: "PEM block type must be CERTIFICATE REQUEST" };
    expect(parseCertificateRequest("")).toEqual(notOne);
    expect(parseCertificateRequest(encodeBase64(new TextEncoder().encode("hello")))).toEqual(notOne);
    expect(parseCertificateRequest(block("CERTIFICATE", "MAA="))).toEqual(notOne);
    for (const body of ["", "MAA=", "MIIB", "MAMCAQE="]) {
      expect(parseCertificateRequest(block("CERTIFICATE REQUEST", body))).toHaveProperty("error");
    }
  });
});

describe("DER", () => {
  const der = (...bytes: number[]) => readDer(Uint8Array.from(bytes));

  it("is read in its one form alone", () => {
    expect(itemsOf(der(0x30, 3, 0x02, 1, 7)).map(({ tag, content }) => [tag, [...content]])).toEqual([[2, [7]]]);
    for (const wrong of [[], [0x30], [0x30, 2, 0], [0x30, 0, 0], [0x30, 0x80, 0, 0], [0x30, 0x81, 1, 0], [0x1f, 0]]) {
      expect(() => der(...wrong)).toThrow(DerError);
    }
    expect(() => itemsOf(der(0x31, 0))).toThrow(DerError);
  });

  it("names its object identifiers", () => {
    expect(objectIdText(der(0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e))).toBe(
      "1.2.840.113549.1.9.14",
    );
    expect(objectIdText(der(0x06, 3, 0x55, 0x1d, 0x11))).toBe("2.5.29.17");
    expect(() => objectIdText(der(0x02, 1, 1))).toThrow(DerError);
  });
});
