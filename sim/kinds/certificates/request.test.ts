import fc from "fast-check";
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

describe("the first block of a PEM text", () => {
  const bytes = (text: string): string => encodeBase64(new TextEncoder().encode(text));
  const notOne = { error: "PEM block type must be CERTIFICATE REQUEST" };

  it("is the first that has an end of its own label, as a pattern finds it", () => {
    const piece = fc.constantFrom("-----", "BEGIN ", "END ", "CERTIFICATE REQUEST", "A", "\n", "\r\n", "MAA=", "-");
    const head = fc.constantFrom("-----BEGIN A-----\n", "-----BEGIN CERTIFICATE REQUEST-----\n", "-----END A-----");
    const end = fc.constantFrom("-----END CERTIFICATE REQUEST-----", "-----END B-----", "");
    const text = fc.array(fc.oneof(piece, head, end), { maxLength: 14 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, (pem) => {
        const [, label] = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([\s\S]*?)-----END \1-----/.exec(pem) ?? [];
        const read = parseCertificateRequest(bytes(pem));
        if (label !== "CERTIFICATE REQUEST") expect(read).toEqual(notOne);
      }),
      { seed: 1, numRuns: 3000 },
    );
    const before = "-----BEGIN A-----\n-----END B-----\n-----BEGIN B-----\n";
    expect(parseCertificateRequest(bytes(before + new TextDecoder().decode(decoded(nodeRequest))))).toMatchObject({
      commonName: "system:node:n1",
    });
  });

  it("is not looked for in what is longer than a request", () => {
    const error = "the request is longer than 262144 characters in base64";
    expect(parseCertificateRequest("A".repeat(262_144))).toEqual(notOne);
    expect(parseCertificateRequest("A".repeat(262_145))).toEqual({ error });
  });

  it.each([
    "-----BEGIN CERTIFICATE REQUEST-----\n".repeat(5_000),
    Array.from({ length: 8_000 }, (_, at) => `-----BEGIN A${at}-----\n`).join(""),
    `-----BEGIN A-----\n${"-----END ".repeat(20_000)}`,
  ])("is looked for in one pass over what has no end", (text) => {
    expect(parseCertificateRequest(bytes(text))).toEqual(notOne);
  });
});

const decoded = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

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
