/** The serving certificate of an agent: the one that flags name, or a self-signed one that is kept in its directory. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { X509Certificate } from "node:crypto";
import type { AgentSettings } from "../../sim/configuration/agent/settings.ts";
import { selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import { tlsVersionOf } from "../../sim/http/agent-sockets.ts";
import type { TlsOptions } from "../../sim/http/http-server.ts";
import { opensslSuites } from "../../sim/http/tls-suites.ts";
import { readCertificates, readText, requirePair } from "../flags/pem-files.ts";
import { UsageError } from "../flags/usage-error.ts";
import { fileText } from "../flags/file-text.ts";
import { PairFile } from "./pair-file.ts";

const yearMillis = 365 * 86_400_000;
const hourMillis = 3_600_000;

/** Of the serving certificates that the cluster has signed, below --cert-dir. */
export const servingPairs = (settings: AgentSettings): PairFile =>
  new PairFile(settings.text("cert-dir"), "nodeagent-server");

/**
 * `hosts` are the node's names and addresses, the first its own name. `isAskedFor`: the cluster is to sign one, and until it
 * has, there is none. Throws `UsageError`. `warn` hears what OpenSSL lacks.
 */
export function servingTls(
  settings: AgentSettings,
  hosts: readonly string[],
  isAskedFor: boolean,
  warn: (line: string) => void,
): TlsOptions {
  const pair = isAskedFor
    ? (servingPairs(settings).read(Date.now()) ?? { certificate: "", privateKey: "" })
    : (givenPair(settings) ?? keptPair(settings.text("cert-dir"), hosts));
  const authorities = settings.text("client-ca-file");
  const minVersion = tlsVersionOf(settings.text("tls-min-version"));
  const { ciphers, missing } = opensslSuites(settings.texts("tls-cipher-suites"));
  for (const name of missing) warn(`--tls-cipher-suites ${name}: the TLS library of this machine does not have it.`);
  if (missing.length > 0 && ciphers === undefined) {
    throw new UsageError("--tls-cipher-suites: none of them is one that this machine's TLS library has. Name another.");
  }
  // OpenSSL speaks the versions before 1.2 at its lowest level of security alone.
  const isOld = minVersion === "TLSv1" || minVersion === "TLSv1.1";
  const suites = isOld ? `${ciphers ?? "DEFAULT"}:@SECLEVEL=0` : ciphers;
  return {
    certificate: pair.certificate,
    privateKey: pair.privateKey,
    minVersion,
    ...(suites === undefined ? {} : { ciphers: suites }),
    ...(authorities === "" ? {} : { clientAuthorities: readCertificates(authorities, "--client-ca-file") }),
  };
}

function givenPair(settings: AgentSettings): TlsOptions | undefined {
  const [file, keyFile] = [settings.text("tls-cert-file"), settings.text("tls-private-key-file")];
  if (file === "" && keyFile === "") return undefined;
  const certificate = readText(file, "--tls-cert-file");
  if (keyFile === "") {
    process.stderr.write("--tls-cert-file without --tls-private-key-file: the agent serves with a pair of its own.\n");
    return undefined;
  }
  const pair = { certificate, key: readText(keyFile, "--tls-private-key-file") };
  requirePair(pair, `--tls-cert-file ${file}`);
  return { certificate: pair.certificate, privateKey: pair.key };
}

/** One that is there and still holds is taken again, so that those who have seen it know it. */
function keptPair(directory: string, hosts: readonly string[]): TlsOptions {
  const [file, keyFile] = [join(directory, "nodeagent.crt"), join(directory, "nodeagent.key")];
  const now = Date.now();
  try {
    const [certificate, privateKey] = [fileText(file), fileText(keyFile)];
    if (new X509Certificate(certificate).validToDate.getTime() > now + hourMillis) return { certificate, privateKey };
  } catch {
    // There is none, or none that can be read: one is made.
  }
  const made = selfSignedCertificate({ hosts, notBeforeMillis: now - hourMillis, notAfterMillis: now + yearMillis });
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(file, made.certificate, { mode: 0o644 });
    writeFileSync(keyFile, made.privateKey, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(
      `--cert-dir ${directory}: ${(error as Error).message}. Name a directory that this user may write to, or give --tls-cert-file and --tls-private-key-file.`,
    );
  }
  return made;
}
