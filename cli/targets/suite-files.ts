/**
 * The configuration files with which a server lets the suite judge how it reads tokens and asks authorizers. They are made
 * once, in a folder that also keeps the suite's certificate: a server that trusts it goes on to do so in later runs.
 */
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { stringify } from "yaml";
import { listenForDocuments } from "../../conformance/client/document-listener.ts";
import { drawnSigner } from "../../conformance/client/signing-keys.ts";
import {
  authenticationFile,
  authorizationFile,
  authorizerNames,
  connectionFile,
} from "../../conformance/model/access-files.ts";
import { type CertificatePair, selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import type { Dialect } from "../../wire/dialect.ts";
import type { AccessHosts, DocumentHost } from "../../wire/ports.ts";
import type { HostAndPort } from "../flags/flag-values.ts";
import { requirePair } from "../flags/pem-files.ts";
import { UsageError } from "../flags/usage-error.ts";
import { prepareFolder } from "../output/written-files.ts";

/** Where the server reaches the suite, and the folder of the files. */
export interface SuiteAddresses {
  readonly tokenIssuer?: HostAndPort | undefined;
  readonly authorizerAddress?: HostAndPort | undefined;
  readonly accessFiles?: string | undefined;
}

const certificateName = "suite-certificate.pem";
const keyName = "suite-key.pem";
const dayMillis = 86_400_000;

/** A file for the server, by its path. */
export interface SuiteFile {
  readonly path: string;
  /** The flag that takes it; undefined for one that another file names. */
  readonly flag: string | undefined;
  readonly document: object;
}

/** Writes the files. Throws `UsageError`. */
export function writeSuiteFiles(addresses: SuiteAddresses, dialect: Dialect): readonly SuiteFile[] {
  const { tokenIssuer, authorizerAddress, accessFiles } = addresses;
  if (tokenIssuer === undefined && authorizerAddress === undefined) {
    throw new UsageError(
      "--print-config: say how the server reaches the suite: --token-issuer HOST:PORT, --authorizer-address HOST:PORT, or both.",
    );
  }
  if (accessFiles === undefined) {
    throw new UsageError("--print-config needs a folder for the files and the suite's key: give --access-files DIR.");
  }
  const [issuerUrl, authorizerUrl] = urlsOf(addresses);
  prepareFolder(accessFiles, "--access-files");
  const hosts = [tokenIssuer, authorizerAddress].flatMap((address) => (address === undefined ? [] : [address.host]));
  const { certificate } = pairIn(accessFiles, [...new Set(hosts)]);
  const at = (name: string): string => resolve(accessFiles, name);
  const files: SuiteFile[] = [];
  if (issuerUrl !== undefined) {
    const address = { url: issuerUrl, certificate, otherCertificate: made(hosts).certificate };
    files.push({
      path: at("authentication.yaml"),
      flag: "--authentication-config",
      document: authenticationFile(dialect, address),
    });
  }
  if (authorizerUrl !== undefined) {
    const connections = { first: at("webhook-first.yaml"), second: at("webhook-second.yaml") };
    const document = authorizationFile(dialect, connections);
    files.push({ path: at("authorization.yaml"), flag: "--authorization-config", document });
    for (const name of authorizerNames) {
      files.push({
        path: connections[name],
        flag: undefined,
        document: connectionFile(authorizerUrl, name, certificate),
      });
    }
  }
  for (const { path, document } of files) writeFileSync(path, stringify(document));
  return files;
}

/** The files in one text, a YAML document each, after what is to be done with them. */
export function suiteFilesText(files: readonly SuiteFile[], flags: readonly string[]): string {
  const started = files.flatMap(({ flag, path }) => (flag === undefined ? [] : [`#     ${flag} ${path}`]));
  const head = [
    "# Start the server with these files, which have been written,",
    ...started,
    "# and judge it with:",
    `#     touchstone conform URL ${flags.join(" ")}`,
    "# Whoever holds the key in their folder can be anybody to that server, but for names and groups of system:.",
    "",
  ];
  return head.join("\n") + files.map(({ path, document }) => `--- # ${path}\n${stringify(document)}`).join("");
}

/** Opens what the flags say; closing is the caller's. Undefined: they say nothing. Throws `UsageError`. */
export async function openSuiteHosts(
  addresses: SuiteAddresses,
): Promise<{ readonly hosts: AccessHosts; close(): Promise<void> } | undefined> {
  const { tokenIssuer, authorizerAddress, accessFiles } = addresses;
  if (tokenIssuer === undefined && authorizerAddress === undefined) {
    if (accessFiles === undefined) return undefined;
    throw new UsageError(
      "--access-files: nothing would be served: give --token-issuer or --authorizer-address as well.",
    );
  }
  const flag = tokenIssuer === undefined ? "--authorizer-address" : "--token-issuer";
  if (accessFiles === undefined) {
    throw new UsageError(
      `${flag} needs the folder that --print-config has written its files into: give --access-files DIR.`,
    );
  }
  urlsOf(addresses);
  const pair = keptPair(accessFiles);
  const open = new Map<string, DocumentHost>();
  const hostAt = async ({ host, port = 0 }: HostAndPort, name: string): Promise<DocumentHost> => {
    const known = open.get(`${host} ${port}`);
    if (known !== undefined) return known;
    requireGoodFor(pair, host, name, accessFiles);
    const listening = await listenForDocuments({ host, port, ...pair }).catch((error: unknown) => {
      throw new UsageError(`${name}: port ${port} of this machine cannot be listened on: ${(error as Error).message}.`);
    });
    open.set(`${host} ${port}`, listening);
    return listening;
  };
  const close = async (): Promise<void> => void (await Promise.all([...open.values()].map((host) => host.close())));
  try {
    const issuer = tokenIssuer === undefined ? undefined : await hostAt(tokenIssuer, "--token-issuer");
    const authorizer =
      authorizerAddress === undefined ? undefined : await hostAt(authorizerAddress, "--authorizer-address");
    const id = Date.now().toString(36); // a server may still know the keys of an earlier run
    const signers = {
      signer: drawnSigner(`suite-${id}`),
      stranger: drawnSigner(`stranger-${id}`),
      successor: drawnSigner(`successor-${id}`),
    };
    return {
      hosts: {
        ...(issuer === undefined ? {} : { issuer: { host: issuer, ...signers } }),
        ...(authorizer === undefined ? {} : { authorizer }),
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The files name the port, so that it must be known. */
function urlsOf({ tokenIssuer, authorizerAddress }: SuiteAddresses): [string | undefined, string | undefined] {
  const urlOf = (flag: string, address: HostAndPort | undefined): string | undefined => {
    if (address === undefined) return undefined;
    const { host, port } = address;
    if (port !== undefined) return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
    throw new UsageError(`${flag} ${host}: the server's file has to name a port: give ${host}:PORT.`);
  };
  return [urlOf("--token-issuer", tokenIssuer), urlOf("--authorizer-address", authorizerAddress)];
}

/** The one that is there, while it is good for these hosts; or else a new one, which is kept. */
function pairIn(folder: string, hosts: readonly string[]): CertificatePair {
  if (existsSync(join(folder, certificateName)) && existsSync(join(folder, keyName))) {
    const kept = keptPair(folder);
    if (hosts.every((host) => isGoodFor(kept, host))) return kept;
  }
  const pair = made(hosts);
  writeFileSync(join(folder, certificateName), pair.certificate);
  writeFileSync(join(folder, keyName), pair.privateKey, { mode: 0o600 });
  return pair;
}

function made(hosts: readonly string[]): CertificatePair {
  const now = Date.now();
  return selfSignedCertificate({ hosts, notBeforeMillis: now - dayMillis, notAfterMillis: now + 365 * dayMillis });
}

function keptPair(folder: string): CertificatePair {
  const read = (name: string): string => {
    try {
      return readFileSync(join(folder, name), "utf8");
    } catch (error) {
      throw new UsageError(
        `--access-files ${folder}: ${(error as Error).message}. Make the files first: touchstone conform --print-config with the same flags.`,
      );
    }
  };
  const [certificate, privateKey] = [read(certificateName), read(keyName)];
  requirePair({ certificate, key: privateKey }, `--access-files ${folder}`);
  return { certificate, privateKey };
}

function isGoodFor({ certificate }: CertificatePair, host: string): boolean {
  const known = new X509Certificate(certificate);
  const isNamed = (isIP(host) === 0 ? known.checkHost(host) : known.checkIP(host)) !== undefined;
  return isNamed && Date.parse(known.validTo) > Date.now();
}

function requireGoodFor(pair: CertificatePair, host: string, flag: string, folder: string): void {
  if (isGoodFor(pair, host)) return;
  throw new UsageError(
    `${flag} ${host}: the certificate in ${folder} is not good for it, or has expired. Make the files again with --print-config, and start the server with them.`,
  );
}
