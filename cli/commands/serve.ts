/** `touchstone serve`: the simulated API server on a real socket until SIGINT or SIGTERM. */
import { hostname, totalmem } from "node:os";
import process from "node:process";
import { noControllers } from "../../sim/control/controllers.ts";
import type { AgentCredentials } from "../../sim/http/agent-credentials.ts";
import type { TlsOptions } from "../../sim/http/http-server.ts";
import { givenAuthority, type RunAuthority, runAuthority } from "../../sim/http/certificates/certificate-authority.ts";
import { selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import { nodesOf } from "../../sim/cluster/node-pools.ts";
import { memoryBytesMax } from "../../sim/http/memory-limit.ts";
import {
  startWallServer,
  TooLittleMemory,
  UnusableObjects,
  type WallServer,
  type WallServerOptions,
} from "../../sim/http/wall-server.ts";
import { readNodes, readObjects } from "../flags/cluster-files.ts";
import { profiles, servedProfile } from "../../sim/contract/profile.ts";
import { NoObjectPath } from "../../sim/contract/unreadable.ts";
import { gatesWith, requireBugs } from "./fault-gates.ts";
import type { ServeOptions } from "../command-line.ts";
import { pauseShortly } from "../targets/engine-room.ts";
import { exceptionText } from "../output/exceptions.ts";
import { interrupted } from "../output/interrupt.ts";
import { goOnAfterUncaught } from "../last-resort.ts";
import { logText } from "../output/line-log.ts";
import { chaosOf } from "./serve-chaos.ts";
import { dataIn } from "./serve-data.ts";
import { configurationOf, limitedLog, watchFiles } from "./serve-access.ts";
import { readCertificates, readText, requirePair } from "../flags/pem-files.ts";
import { parseTokenFile } from "../flags/token-file.ts";
import { fileText } from "../flags/file-text.ts";
import type { TypedBytes } from "../flags/flag-values.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";

export async function serve(options: ServeOptions): Promise<ExitCode> {
  pauseShortly();
  const profile = servedProfile(options.profile);
  const { tokenAuthFile, anonymousAuth = profile.anonymousAuth } = options;
  requireBugs(options.rarity, options.faults);
  requireHeap(options.memoryMax);
  const tokens = tokenAuthFile === undefined ? [] : parseTokenFile(fileText(tokenAuthFile), tokenAuthFile);
  const tls = withClientAuthorities(tlsOf(options), options.clientCaFile);
  const configuration = configurationOf(options, profile);
  const chaos = chaosOf(options);
  const settings: Omit<WallServerOptions, "seed" | "store" | "beforeServing"> = {
    port: options.port,
    bindAddress: options.bindAddress,
    profile,
    bugs: options.faults,
    bugRarity: options.rarity,
    historyWindowMicros: options.historyWindow,
    historyBytesMax: options.historyBytesMax,
    ...(options.memoryMax === undefined ? {} : { memoryBytesMax: options.memoryMax.bytes }),
    eventTtlMicros: options.eventTtl,
    unreadable: options.unreadable,
    tokens,
    anonymousAuth,
    featureGates: gatesWith(options.faults, options.featureGates),
    ...(configuration === undefined ? {} : { configuration, log: limitedLog() }),
    authorizationModes: (options.authorizationMode ?? ["AlwaysAllow"]).filter((mode) => mode !== "Webhook"),
    audiences: options.apiAudiences,
    ...(options.serviceAccountIssuer === undefined ? {} : { serviceAccountIssuer: options.serviceAccountIssuer }),
    limits: { readsMax: options.maxRequestsInflight, mutationsMax: options.maxMutatingRequestsInflight },
    requestTimeoutMicros: options.requestTimeout,
    controllers: options.controllers ? {} : noControllers,
    speed: options.speed,
    objects: options.objects.flatMap(readObjects),
    ...(options.nodes === undefined ? {} : { living: livingOf(options.nodes, options) }),
    ...(chaos === undefined ? {} : { chaos }),
    ...(tls === undefined ? {} : { tls }),
    serviceNetwork: options.serviceClusterIpRange,
    agentAddressTypes: options.kubeletPreferredAddressTypes,
    agentCredentials: agentCredentialsOf(options),
    signing: signingOf(options),
    metricsApi: options.metricsApi,
    ...(options.accessLog ? { accessLog: (entry: object) => logText(`${JSON.stringify(entry)}\n`) } : {}),
    onError: logException,
    ...(configuration?.tracing === undefined
      ? {}
      : { traceExporter: await exporterFor(options, configuration.tracing.endpoint) }),
  };
  // Only when nothing is wrong with what was asked for.
  const data = options.dataDir === undefined ? undefined : dataIn(options.dataDir, options.profile);
  const server = await listen(options, {
    ...settings,
    // What a run has drawn, the next one on the same data may not draw again: uids are for ever.
    seed: data === undefined || data.openings === 1 ? String(options.seed) : `${options.seed}/${data.openings}`,
    ...(data === undefined ? {} : { store: data.store }),
    beforeServing() {
      data?.keep();
      chaos?.begin();
    },
  }).catch((error: unknown) => {
    data?.abandon();
    throw error;
  });
  goOnAfterUncaught(logException);
  const stopWatching = watchFiles(options, profile, server);
  const interruption = interrupted(); // before the line that says it is ready
  if (options.tls && tls !== undefined) process.stderr.write(tls.certificate);
  const hasFile = options.authenticationConfig !== undefined;
  if (tokens.length === 0 && !anonymousAuth && tls?.clientAuthorities === undefined && !hasFile) {
    process.stderr.write(
      "No request can be authenticated: every answer will be 401. Give --token-auth-file or --anonymous-auth=true.\n",
    );
  }
  process.stdout.write(options.json ? `${JSON.stringify({ serving: server.url })}\n` : `serving on ${server.url}\n`);
  await interruption;
  stopWatching();
  await server.close();
  chaos?.close();
  data?.close();
  return exitCodes.good;
}

/** Memory that the engine cannot have would end the process instead of refusing a request. */
function requireHeap(memoryMax: TypedBytes | undefined): void {
  const most = memoryBytesMax();
  if (memoryMax === undefined || memoryMax.bytes <= most) return;
  const mebibytes = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)}Mi`;
  const heapBytes = 2 * memoryMax.bytes;
  const larger =
    heapBytes > totalmem()
      ? ""
      : `, or a larger heap, in MiB, by the environment: NODE_OPTIONS=--max-old-space-size=${Math.ceil(heapBytes / 2 ** 20)}`;
  throw new UsageError(
    `--memory-max ${memoryMax.text}: at most three quarters of the engine's heap can be in use, here ${mebibytes(most)}. Give less${larger}.`,
  );
}

/** The exporter's packages are large: only who traces loads them. */
async function exporterFor(options: ServeOptions, endpoint: string): Promise<TraceExporterOf> {
  const { profile, tracingConfigFile } = options;
  if (endpoint.startsWith("unix-abstract:")) {
    throw new UsageError(
      `--tracing-config-file ${tracingConfigFile}: endpoint ${endpoint}: sockets without a file are not supported: give unix:///PATH or HOST:PORT.`,
    );
  }
  const { traceExporter } = await import("../../sim/grpc/trace-exporter.ts");
  return (address, turn) => traceExporter(address, `${profile}-apiserver`, turn);
}

type TraceExporterOf = NonNullable<WallServerOptions["traceExporter"]>;

/** An exception is a bug, and one request's, one watch's or one item's: it is told, and the server goes on. */
function logException(error: unknown, what: string): void {
  logText(`touchstone: exception in ${what}: ${exceptionText(error)}\n`);
}

async function listen(options: ServeOptions, server: WallServerOptions): Promise<WallServer> {
  try {
    return await startWallServer(server);
  } catch (error) {
    if (error instanceof UnusableObjects)
      throw new UsageError(`--objects: not all of them can be made.\n${error.message}`);
    if (error instanceof TooLittleMemory) throw new UsageError(tooLittle(options.memoryMax?.text ?? "", error));
    if (error instanceof NoObjectPath) throw new UsageError(`--unreadable ${error.message}`);
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (options.tlsCertFile !== undefined && code.startsWith("ERR_OSSL")) {
      throw new UsageError(
        `--tls-cert-file ${options.tlsCertFile} --tls-private-key-file ${options.tlsPrivateKeyFile}: ${message}. Give a PEM certificate and its own PEM key.`,
      );
    }
    const where = `--bind-address ${options.bindAddress} --port ${options.port}`;
    if (code === "EADDRINUSE")
      throw new UsageError(`${where}: another process listens there. Choose another port, or 0 for any free one.`);
    if (code === "EACCES") throw new UsageError(`${where}: this user may not listen there. Choose a port above 1023.`);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EINVAL") {
      throw new UsageError(`${where}: this machine has no such address. Choose one of its own, such as 127.0.0.1.`);
    }
    throw error;
  }
}

/** In whole MiB, upwards: what is said to be enough is enough the next time too. */
function tooLittle(typed: string, { heldBytes, leastBytes }: TooLittleMemory): string {
  const [held, least] = [heldBytes, leastBytes * leastRoom].map((each) => `${Math.ceil(each / 2 ** 20)}Mi`);
  return `--memory-max ${typed}: this server holds ${held} before anybody has asked for anything, with what --data-dir, --objects and --nodes have put into it, and needs room for requests. Give ${least} or more.`;
}

/** No two starts hold the same. */
const leastRoom = 1.25;

/** `--nodes` without controllers would be pods that nobody makes. */
function livingOf(nodes: string, { profile, controllers, clientRates }: ServeOptions) {
  if (!controllers) throw new UsageError("--nodes: nothing lives with --controllers=false: leave one of them out.");
  return { nodes: nodesOf(readNodes(nodes), profiles[profile].dialect), hasRealRates: clientRates === "real" };
}

const dayMillis = 86_400_000;

function tlsOf({ tls, tlsCertFile, tlsPrivateKeyFile, bindAddress }: ServeOptions): TlsOptions | undefined {
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined)) {
    throw new UsageError(
      "--tls-cert-file and --tls-private-key-file go together: give both, or --tls for a certificate made for this run.",
    );
  }
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    if (tls)
      throw new UsageError("--tls makes a certificate for this run, and --tls-cert-file gives another: leave one out.");
    return { certificate: fileText(tlsCertFile), privateKey: fileText(tlsPrivateKeyFile) };
  }
  if (!tls) return undefined;
  const now = Date.now();
  const hosts = [...new Set([bindAddress, "127.0.0.1", "::1", "localhost", hostname()])];
  return selfSignedCertificate({ hosts, notBeforeMillis: now - dayMillis, notAfterMillis: now + 365 * dayMillis });
}

/** What agents of nodes are shown, and whom the server believes there. */
function agentCredentialsOf(options: ServeOptions): AgentCredentials {
  const { kubeletClientCertificate: certificate, kubeletClientKey: key, kubeletCertificateAuthority } = options;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new UsageError("--kubelet-client-certificate and --kubelet-client-key go together: give both.");
  }
  const [certificateFlag, keyFlag] = ["--kubelet-client-certificate", "--kubelet-client-key"];
  const pair =
    certificate === undefined || key === undefined
      ? undefined
      : requirePair(
          { certificate: readText(certificate, certificateFlag), key: readText(key, keyFlag) },
          `${certificateFlag} ${certificate}`,
        );
  return {
    clientCertificate: pair,
    authority:
      kubeletCertificateAuthority === undefined
        ? undefined
        : readCertificates(kubeletCertificateAuthority, "--kubelet-certificate-authority"),
  };
}

/** Who signs certificates here. */
function signingOf(options: ServeOptions): RunAuthority {
  const { clusterSigningCertFile: file, clusterSigningKeyFile: keyFile, clusterSigningDuration } = options;
  const seconds = Math.floor(clusterSigningDuration / 1_000_000);
  if (seconds < 1) throw new UsageError("--cluster-signing-duration: a certificate lasts for a second at least.");
  if ((file === undefined) !== (keyFile === undefined)) {
    throw new UsageError("--cluster-signing-cert-file and --cluster-signing-key-file go together: give both.");
  }
  if (file === undefined || keyFile === undefined) return runAuthority(Date.now(), seconds);
  const [fileFlag, keyFlag] = ["--cluster-signing-cert-file", "--cluster-signing-key-file"];
  try {
    return givenAuthority({ certificate: readText(file, fileFlag), key: readText(keyFile, keyFlag) }, seconds);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${fileFlag} ${file}: ${(error as Error).message}. Give a PEM certificate of an authority and its own PEM key.`,
    );
  }
}

function withClientAuthorities(tls: TlsOptions | undefined, file: string | undefined): TlsOptions | undefined {
  if (file === undefined) return tls;
  if (tls === undefined) {
    throw new UsageError(
      "--client-ca-file: client certificates need TLS: add --tls, or --tls-cert-file and --tls-private-key-file.",
    );
  }
  return { ...tls, clientAuthorities: readCertificates(file, "--client-ca-file") };
}
