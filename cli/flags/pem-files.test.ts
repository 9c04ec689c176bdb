import { expect, it, vi } from "vitest";
import { certificateBlocks, requireCertificates } from "./pem-files.ts";

const begin = "-----BEGIN CERTIFICATE-----";
const end = "-----END CERTIFICATE-----";

it("takes each certificate from its begin to the next end", () => {
  const text = `before\n${begin}\nAA\n${end}\nbetween\n${begin}\nB-B\n${begin}\n${end}${begin}\nCC`;
  expect(certificateBlocks(text)).toEqual([`${begin}\nAA\n${end}`, `${begin}\nB-B\n${begin}\n${end}`]);
  expect(() => requireCertificates(text, "--ca-file ca.pem")).toThrow("--ca-file ca.pem: a certificate cannot be read");
});

it("looks for an end once, however many certificates begin", () => {
  const looked = vi.spyOn(String.prototype, "indexOf");
  const matched = vi.spyOn(String.prototype, "match");
  try {
    expect(() => requireCertificates(`${begin}\n`.repeat(20_000), "--ca-file")).toThrow("no certificate in it");
    expect(looked.mock.calls.filter(([sought]) => sought === end)).toHaveLength(1);
    expect(matched).not.toHaveBeenCalled();
  } finally {
    looked.mockRestore();
    matched.mockRestore();
  }
});
