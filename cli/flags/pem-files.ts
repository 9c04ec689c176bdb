/** PEM files that flags and connection files name: read and looked at before anything is run. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { fileText, writtenMebibytesMax } from "./file-text.ts";
import { UsageError } from "./usage-error.ts";

/** `where` is how errors call the place that names the file: a flag, or a path in a document. Throws `UsageError`. */
export function readText(file: string, where: string, mebibytesMax = writtenMebibytesMax): string {
  try {
    return fileText(file, mebibytesMax);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${where} ${error.message}`);
    throw new UsageError(`${where} ${file}: ${(error as Error).message}. Give a file that can be read.`);
  }
}

export function readCertificates(file: string, where: string): string {
  return requireCertificates(readText(file, where), `${where} ${file}`);
}

const begin = "-----BEGIN CERTIFICATE-----";
const end = "-----END CERTIFICATE-----";

/** Each from its begin to the next end. In one pass: a file may hold a hundred thousand begins and no end. */
export function certificateBlocks(pem: string): readonly string[] {
  const blocks: string[] = [];
  for (let from = pem.indexOf(begin); from >= 0; ) {
    const to = pem.indexOf(end, from);
    if (to < 0) break;
    blocks.push(pem.slice(from, to + end.length));
    from = pem.indexOf(begin, to);
  }
  return blocks;
}

/** One PEM certificate or more. */
export function requireCertificates(pem: string, where: string): string {
  const blocks = certificateBlocks(pem);
  try {
    for (const block of blocks) void new X509Certificate(block);
  } catch (error) {
    throw new UsageError(`${where}: a certificate cannot be read: ${(error as Error).message}. Give PEM certificates.`);
  }
  if (blocks.length === 0) throw new UsageError(`${where}: no certificate in it. Give PEM certificates.`);
  return pem;
}

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate with its own key. */
export function requirePair(pair: KeyPair, where: string): KeyPair {
  requireCertificates(pair.certificate, where);
  try {
    createPrivateKey(pair.key);
    createSecureContext({ cert: pair.certificate, key: pair.key });
  } catch (error) {
    throw new UsageError(`${where}: ${(error as Error).message}. Give a PEM certificate and its own PEM key.`);
  }
  return pair;
}
