/** Where the suite goes: the embedded server on virtual time, or a server at a URL in real time. */
import { type CurlStyle, shellQuoted } from "../../conformance/client/exchange.ts";
import { listenForWebhooks } from "../../conformance/client/webhook-listener.ts";
import { type UrlTransport, urlTransport } from "../../conformance/client/url-transport.ts";
import { wallClock } from "../../conformance/client/wall-clock.ts";
import {
  planSuite,
  reportOf,
  runSuite,
  type SuiteSelection,
  type SuiteProgress,
  SuiteUsageError,
} from "../../conformance/run-suite.ts";
import type { ExchangeRecord, SuiteFailure, SuiteReport } from "../../reports/schema/suite-report.ts";
import { selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import { dialects } from "../../wire/dialect.ts";
import type { WebhookHost } from "../../wire/ports.ts";
import type { EmbeddedDetails } from "./embedded.ts";
import { defaultThreads } from "./default-threads.ts";
import { embeddedPool, inParallel } from "./embedded-pool.ts";
import { type Reached, readConnectionFile } from "../flags/connection-file.ts";
import { type HostAndPort, shownAddress } from "../flags/flag-values.ts";
import { requireToken } from "../flags/bearer-token.ts";
import { otherDialect } from "./other-dialect.ts";
import { openSuiteHosts, type SuiteAddresses } from "./suite-files.ts";
import { type KeyPair, readCertificates, readText, requirePair } from "../flags/pem-files.ts";
import { UsageError } from "../flags/usage-error.ts";

export type SuiteTarget =
  | { readonly kind: "embedded"; readonly details: EmbeddedDetails }
  | {
      readonly kind: "url";
      /** Undefined where the connection's file says it. */
      readonly url: string | undefined;
      readonly connection: Connection;
      /** How the server reaches this machine. Absent: it does not, and no webhook can be answered. */
      readonly webhookAddress?: HostAndPort | undefined;
      /** Nodes of the suite join it: objects of its own, run by agents in this process. */
      readonly joinNodes?: boolean | undefined;
      /** What the server's configuration files name as the suite's. Absent: nothing. */
      readonly addresses?: SuiteAddresses;
    };

/** How to reach and to trust a server, as the flags say it. */
export interface Connection {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly caFile?: string | undefined;
  /** Files, PEM; both or neither. */
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
  /** Default: under TLS what both sides agree on, HTTP/2 first; in the clear 1.1. */
  readonly http?: "1.1" | "2" | undefined;
  readonly insecureSkipTlsVerify: boolean;
  /** A connection file: instead of a URL and of every flag above but `http`. */
  readonly svcconfig?: string | undefined;
  /** Of the connection file; default its current one. */
  readonly context?: string | undefined;
}

/** The first flag that was given and that says how to reach a server. */
export function connectionFlagOf(connection: Connection): string | undefined {
  if (connection.svcconfig !== undefined) return "--svcconfig";
  if (connection.context !== undefined) return "--context";
  return credentialFlagOf(connection) ?? (connection.http === undefined ? undefined : "--http");
}

function credentialFlagOf(connection: Connection): string | undefined {
  if (connection.token !== undefined) return "--token";
  if (connection.tokenFile !== undefined) return "--token-file";
  if (connection.caFile !== undefined) return "--ca-file";
  if (connection.clientCert !== undefined) return "--client-cert";
  if (connection.clientKey !== undefined) return "--client-key";
  return connection.insecureSkipTlsVerify ? "--insecure-skip-tls-verify" : undefined;
}

export interface Selection extends SuiteSelection {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: SuiteProgress) => void;
  /** Only for a server at a URL: told into the names and labels of all that is made. */
  readonly runId?: string;
  /** Only for a server at a URL. */
  readonly compact?: () => Promise<void>;
  /** Only for a server at a URL: told while the run goes on, where the server's API groups are another dialect's. */
  readonly onOtherDialect?: (line: string) => void;
  /** Only where the run has one check: it does not cross to another thread. */
  readonly onHistory?: (history: readonly ExchangeRecord[]) => void;
}

export async function runSuiteOn(target: SuiteTarget, selection: Selection): Promise<SuiteReport> {
  try {
    return await (target.kind === "url" ? runOnUrl(target, selection) : runEmbedded(target.details, selection));
  } catch (error) {
    if (error instanceof SuiteUsageError) throw new UsageError(`${error.message}.`);
    if (selection.path === undefined || !/wrong path/.test((error as Error).message)) throw error;
    throw new UsageError(
      `path ${selection.path} names no program of ${selection.only?.join(", ")} at seed ${selection.seed}: it was found by another version of the check, or by other --runs. Run the check without the path.`,
    );
  }
}

/** Each check on a server of its own, so that the report is the same whatever the number of threads. */
async function runEmbedded(details: EmbeddedDetails, selection: Selection): Promise<SuiteReport> {
  const jobs = selection.jobs ?? defaultThreads();
  const {
    onProgress,
    onHistory,
    onOtherDialect: _never,
    signal = new AbortController().signal,
    only: _only,
    skip: _skip,
    shard: _shard, // the plan below has its share; each thread has one check
    ...plain
  } = selection;
  const options = { ...selection, jobs, targetKind: "embedded", targetDetails: details } as const;
  const planned = planSuite(options);
  const { checks, requirements } = planned.plan;
  onProgress?.({ kind: "planned", checks: checks.length, requirements: requirements.length });
  const threads = Math.max(1, Math.min(jobs, checks.length));
  const pool = embeddedPool(threads, signal);
  try {
    const parts = await inParallel(checks, threads, async ({ id }) => {
      const { part } = await pool.run(
        { details, selection: plain, check: id },
        (progress) => {
          if (progress.kind !== "phase") onProgress?.(flagged(progress, details));
        },
        onHistory,
      );
      return part;
    });
    const report = reportOf(options, planned, parts);
    return { ...report, checks: report.checks.map((check) => flagged(check, details)) };
  } finally {
    await pool.close();
  }
}

/** The suite knows how to name a program, but not how its caller made the server: whatever holds a failure is told. */
function flagged<Holder extends { readonly failure?: SuiteFailure | undefined } | SuiteProgress>(
  holder: Holder,
  details: EmbeddedDetails,
): Holder {
  if (!("failure" in holder) || holder.failure === undefined) return holder;
  return { ...holder, failure: { ...holder.failure, replay: replayLine(holder.failure, details) } };
}

/**
 * The command line that makes the finding again. With rare bugs one program is not enough: whether they show in it hangs
 * on every request that went before.
 */
export function replayLine({ replay, path }: Pick<SuiteFailure, "replay" | "path">, details: EmbeddedDetails): string {
  const again =
    details.rarity === undefined || path === "" ? replay : replay.replace(/ --path \S+/, ` --runs ${runsUntil(path)}`);
  return again + serverFlags(details);
}

/** As many programs as there were until the one that `path` names, that one included. */
export function runsUntil(path: string): number {
  return Number(path.split(":", 1)[0]) + 1;
}

/** What a command line needs beside the program's own flags to make this server again; begins with a space, or is empty. */
function serverFlags({ faults, rarity, featureGates }: Omit<EmbeddedDetails, "seed">): string {
  const gates = Object.entries(featureGates).map(([name, on]) => `${name}=${on}`);
  return [
    ...faults.map((name) => ` --fault ${name}`),
    ...(rarity === undefined || faults.length === 0 ? [] : [` --rarity ${rarity}`]),
    ...(gates.length === 0 ? [] : [` --feature-gates ${gates.join(",")}`]),
  ].join("");
}

async function runOnUrl(
  {
    url,
    connection,
    webhookAddress,
    joinNodes = false,
    addresses = {},
  }: Extract<SuiteTarget, { readonly kind: "url" }>,
  selection: Selection,
): Promise<SuiteReport> {
  const { reached, transport } = transportTo(url, connection);
  const access = await openSuiteHosts(addresses);
  const webhooks = webhookAddress === undefined ? undefined : await openWebhooks(webhookAddress);
  const brokenAgents: unknown[] = [];
  const nodes = joinNodes
    ? (await import("../../sim/http/remote-nodes.ts")).remoteNodes({
        ...remoteAddressOf(reached),
        dialect: dialects[selection.profile === "svc" ? "svc" : "kubernetes"],
        seed: `nodes of ${selection.seed}`,
        onError: (error) => brokenAgents.push(error),
      })
    : undefined;
  const { onOtherDialect, ...suite } = selection;
  const onProgress = (what: SuiteProgress): void => {
    selection.onProgress?.(what);
    // By now the target has shown that it is such a server.
    if (onOtherDialect === undefined || what.kind !== "phase" || what.phase !== "checking") return;
    void otherDialect(transport, selection.profile).then((line) => line !== undefined && onOtherDialect(line));
  };
  try {
    const report = await runSuite({
      ...suite,
      onProgress,
      transport,
      webhooks,
      nodes,
      hosts: access?.hosts,
      clock: wallClock,
      targetKind: "url",
      address: reached.url,
      curl: curlOf(connection, reached),
      replayFlags: [
        ...replayFlagsOf(connection),
        ...addressFlags({ webhookAddress, ...addresses }),
        ...(joinNodes ? ["--join-nodes"] : []),
      ],
    });
    if (brokenAgents.length > 0) throw brokenAgents[0];
    const protocol = transport.protocol();
    return { ...report, target: { ...report.target, protocol } };
  } finally {
    await nodes?.close();
    await Promise.all([transport.close(), webhooks?.close(), access?.close()]);
  }
}

/** As a client that is no part of the suite's own reaches the target, with the same credentials. */
function remoteAddressOf({
  url,
  token,
  authority,
  clientCertificate,
  tlsServerName,
  insecureSkipTlsVerify,
  impersonation,
}: Reached) {
  return {
    url: url.replace(/\/$/, ""),
    authority,
    tlsServerName,
    insecureSkipTlsVerify,
    clientCertificate: clientCertificate && {
      certificate: clientCertificate.certificate,
      key: clientCertificate.key,
    },
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...impersonation },
  };
}

const dayMillis = 86_400_000;

/** With a certificate that is made for this run, and that the configurations of its webhooks name. */
async function openWebhooks({ host, port = 0 }: HostAndPort): Promise<WebhookHost> {
  const now = Date.now();
  const { certificate, privateKey } = selfSignedCertificate({
    hosts: [host],
    notBeforeMillis: now - dayMillis,
    notAfterMillis: now + 7 * dayMillis,
  });
  try {
    return await listenForWebhooks({ host, port, certificate, privateKey });
  } catch (error) {
    throw new UsageError(
      `--webhook-address: port ${port} of this machine cannot be listened on: ${(error as Error).message}. Give another, or leave it out for any free one.`,
    );
  }
}

/** Where the target is; `$SERVER` stands for the embedded one. Throws `UsageError` as `transportTo` does. */
export function addressOf(target: SuiteTarget): { readonly kind: SuiteTarget["kind"]; readonly address: string } {
  const address = target.kind === "url" ? reachedBy(target.url, target.connection).url : "$SERVER";
  return { kind: target.kind, address };
}

/** Throws `UsageError` for flags and files that do not go together; nothing is sent. */
export function transportTo(
  url: string | undefined,
  connection: Connection,
): { readonly reached: Reached; readonly transport: UrlTransport } {
  const reached = reachedBy(url, connection);
  const { token, authority, clientCertificate, tlsServerName, insecureSkipTlsVerify, impersonation } = reached;
  const { http } = connection;
  const transport = urlTransport(reached.url, {
    ...(token === undefined ? {} : { token }),
    ...(authority === undefined ? {} : { certificateAuthority: authority }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(impersonation === undefined ? {} : { impersonation }),
    ...(http === undefined ? {} : { http }),
    insecureSkipTlsVerify,
  });
  return { reached, transport };
}

/** Read once: a run has one answer, and a pipe has nothing left for a second reader. */
function reachedBy(url: string | undefined, connection: Connection): Reached {
  const known = answers.get(connection);
  if (known !== undefined && known.url === url) return known.reached;
  const reached = readReached(url, connection);
  answers.set(connection, { url, reached });
  return reached;
}

const answers = new WeakMap<Connection, { readonly url: string | undefined; readonly reached: Reached }>();

/** By the connection file, or by the URL and the flags: never by both, since one of them would be ignored. */
function readReached(url: string | undefined, connection: Connection): Reached {
  const { svcconfig, context, caFile, insecureSkipTlsVerify } = connection;
  if (svcconfig !== undefined) {
    const other = url === undefined ? credentialFlagOf(connection) : "a URL";
    if (other === undefined) return readConnectionFile(svcconfig, context);
    throw new UsageError(
      `--svcconfig says which server to reach and how, and ${other} was given as well: leave one of them out.`,
    );
  }
  if (context !== undefined) {
    throw new UsageError("--context names a context of a connection file: give the file with --svcconfig as well.");
  }
  if (url === undefined) throw new UsageError("no server was named: give a URL or --svcconfig.");
  return {
    url,
    token: tokenOf(connection),
    authority: caFile === undefined ? undefined : readCertificates(caFile, "--ca-file"),
    clientCertificate: pairOf(connection),
    tlsServerName: undefined,
    impersonation: undefined,
    insecureSkipTlsVerify,
  };
}

/** The token itself never enters a report. What only a connection file holds is named as the user's to fill in. */
function curlOf({ caFile, clientCert, clientKey, http }: Connection, reached: Reached): Omit<CurlStyle, "address"> {
  const { token, authority, clientCertificate, insecureSkipTlsVerify, impersonation = {} } = reached;
  const file = (path: string | undefined, variable: string): string =>
    path === undefined ? variable : shellQuoted(path);
  return {
    credentials: [
      ...(token === undefined ? [] : ['-H "Authorization: Bearer $TOKEN"']),
      ...(clientCertificate === undefined
        ? []
        : [`--cert ${file(clientCert, "$CLIENT_CERT")} --key ${file(clientKey, "$CLIENT_KEY")}`]),
    ],
    acting: Object.entries(impersonation).flatMap(([name, values]) =>
      [values].flat().map((value) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ),
    flags: [
      ...(authority === undefined ? [] : [`--cacert ${file(caFile, "$CA_FILE")}`]),
      ...(http === "2" ? ["--http2-prior-knowledge"] : http === "1.1" ? ["--http1.1"] : []),
      ...(insecureSkipTlsVerify ? ["-k"] : []),
    ],
  };
}

/** The flags that reach the target again from the same folder; a token is named, not told. */
function replayFlagsOf(connection: Connection): string[] {
  const named = (flag: string, value: string | undefined): string[] =>
    value === undefined ? [] : [flag, shellQuoted(value)];
  return [
    ...named("--svcconfig", connection.svcconfig),
    ...named("--context", connection.context),
    ...(connection.token === undefined ? [] : ["--token", '"$TOKEN"']),
    ...named("--token-file", connection.tokenFile),
    ...named("--ca-file", connection.caFile),
    ...named("--client-cert", connection.clientCert),
    ...named("--client-key", connection.clientKey),
    ...named("--http", connection.http),
    ...(connection.insecureSkipTlsVerify ? ["--insecure-skip-tls-verify"] : []),
  ];
}

/** The flags that say how the target reaches the suite. */
export function addressFlags({
  webhookAddress,
  tokenIssuer,
  authorizerAddress,
  accessFiles,
}: SuiteAddresses & { readonly webhookAddress?: HostAndPort | undefined }): string[] {
  const named = (flag: string, address: HostAndPort | undefined): string[] =>
    address === undefined ? [] : [flag, shownAddress(address)];
  return [
    ...named("--webhook-address", webhookAddress),
    ...named("--token-issuer", tokenIssuer),
    ...named("--authorizer-address", authorizerAddress),
    ...(accessFiles === undefined ? [] : ["--access-files", shellQuoted(accessFiles)]),
  ];
}

function pairOf({ clientCert, clientKey }: Connection): KeyPair | undefined {
  if (clientCert === undefined && clientKey === undefined) return undefined;
  if (clientCert === undefined || clientKey === undefined) {
    throw new UsageError("--client-cert and --client-key go together: give both, or neither.");
  }
  const pair = { certificate: readText(clientCert, "--client-cert"), key: readText(clientKey, "--client-key") };
  return requirePair(pair, `--client-cert ${clientCert} --client-key ${clientKey}`);
}

function tokenOf({ token, tokenFile }: Connection): string | undefined {
  if (token !== undefined && tokenFile !== undefined) {
    throw new UsageError("--token and --token-file both say which token to send: give one of them.");
  }
  if (tokenFile === undefined) return token === undefined ? undefined : requireToken(token, "--token");
  return requireToken(readText(tokenFile, "--token-file").trim(), `--token-file ${tokenFile}`);
}
