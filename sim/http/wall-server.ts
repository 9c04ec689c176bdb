/** A whole simulated API server in real time behind a socket: what `serve` runs. */
import osProcess from "node:process";
import type { ChaosPlan } from "../../scenarios/chaos.ts";
import type { Dialect } from "../../wire/dialect.ts";
import type { Forward } from "../apiserver/proxy/forward.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import { Cluster, type ServerSettings } from "../cluster/cluster.ts";
import type { Member } from "../cluster/member.ts";
import type { ApiHandler } from "../contract/http-message.ts";
import type { Process } from "../kernel/types.ts";
import { addLiving, type LivingNodes, type LivingOptions } from "../cluster/living.ts";
import type { NodeStreams } from "../cluster/simulated-node.ts";
import { noControllers } from "../control/controllers.ts";
import { Chaos, type ChaosDeed } from "../faults/chaos.ts";
import { seed, type SeedObject } from "../cluster/seed.ts";
import { NoObjectPath } from "../contract/unreadable.ts";
import type { ProcessFigures } from "../apiserver/metrics/server-metrics.ts";
import { Kernel } from "../kernel/kernel.ts";
import { WallDriver } from "../kernel/wall-driver.ts";
import { type RunAuthority, runAuthority } from "./certificates/certificate-authority.ts";
import type { AgentCredentials } from "./agent-credentials.ts";
import type { HttpServerOptions, Listening } from "./http1-server.ts";
import { listenHttp, type TlsOptions } from "./http-server.ts";
import { RsaKeys, rsaSigner } from "./certificates/rsa-signer.ts";
import { httpForwarder } from "./http-forwarder.ts";
import { paceSocket } from "./paced-socket.ts";
import { heldBytes, leastBytes } from "./memory-limit.ts";
import { nodeForward, tunnelsToNodes } from "../cluster/node-forward.ts";
import { UsageApi } from "../cluster/usage-api.ts";
import { StreamServer } from "../streams/stream-server.ts";
import type { RevisionStore } from "../store/revision-store.ts";
import { scaledWall } from "./scaled-wall.ts";
import type { AccessConfiguration } from "../apiserver/access/access.ts";
import type { ReloadedFile } from "../apiserver/metrics/access-metrics.ts";
import type { SpanSender } from "../contract/tracing.ts";
import type { TracingSettings } from "../configuration/tracing.ts";
import type { AuthenticationSettings } from "../configuration/authentication.ts";
import type { AuthorizerSettings, AuthorizerWebhookSettings } from "../configuration/authorization.ts";
import type { Dialer, Dialers } from "./egress/dialer.ts";
import { httpsIssuerCaller } from "./issuer-caller.ts";
import { reviewCaller, type ReviewTarget } from "./review-caller.ts";
import { readKey } from "./verification-keys.ts";
import { wallPorts } from "./wall.ts";
import { httpsWebhookCaller } from "./webhook-caller.ts";

/** What configuration files say, and where the webhooks are that they name. */
export interface WallConfiguration extends Pick<AccessConfiguration, "rules" | "authentication" | "authorizers"> {
  readonly reviewTarget: (settings: AuthorizerWebhookSettings) => ReviewTarget;
  readonly egress: Dialers;
  /** Default: nobody traces. */
  readonly tracing?: TracingSettings;
}

/** A server that listens, and whose files may change. */
export interface WallServer extends Listening {
  configureAuthentication(settings: AuthenticationSettings): void;
  configureAuthorizers(authorizers: readonly AuthorizerSettings[]): void;
  /** A changed file was not taken. */
  refusedFile(file: ReloadedFile): void;
}

/** The way to a collector of traces. */
interface WallTraces {
  readonly send: SpanSender;
  close(): Promise<void>;
}

export interface WallServerOptions extends Omit<ServerSettings, "access" | "tracing"> {
  /** Default: there are no such files. */
  readonly configuration?: WallConfiguration;
  /** Makes the way to a collector, where the configuration names one. `turn` runs what it answers. */
  readonly traceExporter?: (endpoint: string, turn: (work: () => void) => void) => WallTraces;
  /** Of generated names and uids. */
  readonly seed: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly bindAddress: string;
  /** Default: an empty one, which ends with the process. */
  readonly store?: RevisionStore;
  /** Default: plain. */
  readonly tls?: TlsOptions;
  /** Seconds of the cluster in one of the world, above zero. Default 1. */
  readonly speed?: number;
  /** Controllers, a scheduler and these nodes. Default: a server alone. */
  readonly living?: Omit<LivingOptions, "dialect" | "streams">;
  /** Put into the store, in whatever order they come, before anybody is served. Default: nothing. */
  readonly objects?: readonly SeedObject[];
  /** What goes wrong for whoever comes in through the socket. Default: nothing. */
  readonly chaos?: WallChaos;
  /** How agents of nodes are reached. Default: nothing is shown, and any certificate is taken. */
  readonly agentCredentials?: AgentCredentials;
  /** Usage of nodes and pods is served too, as an add-on does in a real cluster. Default false. */
  readonly metricsApi?: boolean;
  /** What signs certificates, and whose certificates are credentials. Default: one made for this run. */
  readonly signing?: RunAuthority;
  readonly accessLog?: HttpServerOptions["accessLog"];
  readonly patience?: HttpServerOptions["patience"];
  readonly memoryBytesMax?: HttpServerOptions["memoryBytesMax"];
  /** Called once it listens, and before anybody is served. What it throws ends the start. */
  readonly beforeServing?: () => void;
  /** Something threw: our bug. The server goes on without what it happened in (`what`), which is half-done. */
  readonly onError: (error: unknown, what: string) => void;
}

export interface WallChaos {
  readonly plan: ChaosPlan;
  readonly seed: string;
  readonly did: (deed: ChaosDeed) => void;
}

/** Objects that were to be there at the start and cannot be made. The message has one a line. */
export class UnusableObjects extends Error {}

/** The process holds more before anybody has come than `memoryBytesMax` leaves room for. */
export class TooLittleMemory extends Error {
  readonly heldBytes: number;
  /** Of `memoryBytesMax`. */
  readonly leastBytes: number;

  constructor(held: number) {
    super(`${held} bytes are held at the start`);
    this.heldBytes = held;
    this.leastBytes = leastBytes(held);
  }
}

/** Listens; rejects with node's error when it cannot, and with `UnusableObjects` or `TooLittleMemory`. Closing ends the server's timers too. */
export async function startWallServer(options: WallServerOptions): Promise<WallServer> {
  const begun: (() => void)[] = [];
  try {
    return await started(options, begun);
  } catch (error) {
    for (const end of begun) end(); // timers and sockets would keep the program alive
    throw error;
  }
}

/** `begun` is told how to end what has been begun. */
async function started(options: WallServerOptions, begun: (() => void)[]): Promise<WallServer> {
  const {
    seed: runSeed,
    port,
    bindAddress,
    tls,
    accessLog,
    patience,
    memoryBytesMax,
    onError,
    speed = 1,
    living,
    objects = [],
    configuration,
    traceExporter,
    store,
    chaos,
    agentCredentials = {},
    signing,
    metricsApi = false,
    beforeServing,
    ...serverOptions
  } = options;
  let exceptionCount = 0;
  const caught = (error: unknown, what: string): void => {
    exceptionCount++;
    onError(error, what);
  };
  const kernel = new Kernel({ seed: runSeed, epochUnixMillis: Date.now(), caught });
  const driver = new WallDriver(kernel, scaledWall(wallPorts, speed), { onError: (error) => caught(error, "event") });
  begun.push(() => driver.stop());
  const certificateAuthority = signing ?? runAuthority(Date.now());
  let url = "";
  let nodes: LivingNodes | undefined;
  const cluster = new Cluster({ kernel, ...(store === undefined ? {} : { store }) });
  const tokenKeys = new RsaKeys();
  const exporters: WallTraces[] = [];
  const tracingOf = (process: Process): Pick<ServerSettings, "tracing"> => {
    if (configuration?.tracing === undefined || traceExporter === undefined) return {};
    const { endpoint, samplesPerMillion } = configuration.tracing;
    const exporter = traceExporter(endpoint, (work) => driver.enter(process, work));
    exporters.push(exporter);
    return { tracing: { samplesPerMillion, send: exporter.send } };
  };
  const settings = (process: Process): ServerSettings => ({
    ...callersOf(
      (work) => driver.enter(process, work),
      configuration,
      () => nodes,
      agentCredentials,
    ),
    ...tracingOf(process),
    tokenSigner: rsaSigner(tokenKeys, (work) => driver.enter(process, work)),
    certificateAuthority,
    processFigures: () => ({ ...processFigures(), exceptionCount }),
    advertisedUrl: () => url,
    ...serverOptions,
  });
  const { process, made: server } = asThrown(() => cluster.addServer("apiserver-1", settings));
  const { dialect } = server.profile;
  const streamServer = living === undefined ? undefined : await StreamServer.listen((socket) => paceSocket(socket));
  if (living !== undefined && streamServer !== undefined) {
    begun.push(() => streamServer.close());
    const streams: NodeStreams = (machine) =>
      streamServer.addressesOf(() => ({ state: machine(), turn: (work) => driver.enter(machine().process, work) }));
    nodes = addLiving(cluster, { ...living, dialect, streams });
  }
  if (objects.length > 0) {
    const problems = await seeded(cluster, driver, dialect, objects);
    if (problems.length > 0) throw new UnusableObjects(problems.join("\n"));
  }
  if (memoryBytesMax !== undefined) requireMemory(memoryBytesMax);
  const nodeAt = (host: string, port: string) => nodes?.at(host, port);
  const reaching = (inner: ApiHandler): ApiHandler => {
    const handler = metricsApi ? new UsageApi({ server: inner, process, dialect }) : inner;
    if (living === undefined) return handler;
    return { start: (request, responder) => handler.start(request, tunnelsToNodes(responder, nodeAt)) };
  };
  const listening = await listenHttp(
    {
      handler: reaching(chaos === undefined ? server : withChaos(chaos, cluster, driver, settings)),
      turn: (work) => driver.enter(process, work),
      compress: (request, status, _headers, bodyBytes) => server.packingOf(request, status, bodyBytes),
      upgrades: { path: connectionPath, credentials: agentCredentials },
      ...(accessLog === undefined ? {} : { accessLog }),
      ...(patience === undefined ? {} : { patience }),
      ...(memoryBytesMax === undefined ? {} : { memoryBytesMax }),
      oldVersions: {
        bytes: () => server.oldVersions?.bytes() ?? 0,
        forget: () => driver.enter(process, () => server.oldVersions?.forget()),
      },
    },
    port,
    bindAddress,
    tls === undefined ? undefined : trusting(tls, certificateAuthority),
  );
  begun.push(() => void listening.close(0));
  beforeServing?.(); // no turn has passed in which a connection could have come
  url = listening.url;
  driver.enter(process, () => server.advertise(url));
  const changed = (file: ReloadedFile, change: () => void): void =>
    driver.enter(process, () => {
      change();
      server.reloaded(file, "success");
    });
  return {
    ...listening,
    configureAuthentication: (settings) =>
      changed("authentication", () => server.access.configureAuthentication(settings)),
    configureAuthorizers: (rows) => changed("authorization", () => server.access.configureAuthorizers(rows)),
    refusedFile: (file) => driver.enter(process, () => server.reloaded(file, "failure")),
    async close(graceMillis) {
      await listening.close(graceMillis);
      driver.enter(process, () => server.flushTraces());
      await Promise.all(exporters.map(closedSoon));
      streamServer?.close();
      driver.stop();
    },
  };
}

function requireMemory(bytesMax: number): void {
  const held = heldBytes();
  if (bytesMax < leastBytes(held)) throw new TooLittleMemory(held);
}

/** Chaos in front of the first server, with front-ends that lag beside it. The cluster's own parts come by another way. */
function withChaos(
  chaos: WallChaos,
  cluster: Cluster,
  driver: WallDriver,
  settings: (process: Process) => ServerSettings,
): ApiHandler {
  const { process, made: server } = cluster.members.get("apiserver-1") as Member<ApiServer>;
  const stale = (row: number) => {
    const { made } = cluster.addServer(`apiserver-stale-${row + 1}`, (own) => ({
      ...settings(own),
      controllers: noControllers,
    }));
    return { handler: made, setLag: (lagMicros: number) => made.setCacheLag(lagMicros) };
  };
  return driver.enter(process, () => new Chaos({ ...chaos, process, server, stale }));
}

const traceMillisMax = 2_000;

/** A collector that does not answer keeps nobody from ending. What was just handed over begins in a turn of its own. */
function closedSoon(exporter: WallTraces): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, traceMillisMax);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    setImmediate(() => void exporter.close().then(end, end));
  });
}

function seeded(
  cluster: Cluster,
  driver: WallDriver,
  dialect: Dialect,
  objects: readonly SeedObject[],
): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const process = cluster.kernel.process("seed");
    driver.enter(process, () =>
      seed(process, cluster.api(process), dialect, objects, ({ problems }) => resolve(problems)),
    );
  });
}

type Turn = (work: () => void) => void;

/** Where a connection may change its protocol: everywhere else the wish is passed over. */
const connectionPath = /\/(?:exec|attach|portforward|proxy)(?:\/|$)/;

/** Whom the server calls, and by which way. */
function callersOf(
  turn: Turn,
  configuration: WallConfiguration | undefined,
  nodes: () => LivingNodes | undefined,
  credentials: AgentCredentials,
) {
  const at = (host: string, port: string) => nodes()?.at(host, port);
  const forward = (dial?: Dialer): Forward =>
    nodeForward({ at, turn, elsewhere: httpForwarder(turn, dial, undefined, credentials) });
  if (configuration === undefined) return { webhooks: httpsWebhookCaller(turn), forward: forward() };
  const { reviewTarget, egress, tracing: _tracing, ...files } = configuration;
  const access: AccessConfiguration = {
    ...files,
    readKey,
    callIssuer: httpsIssuerCaller(turn),
    reviews: (settings) => reviewCaller(reviewTarget(settings), turn, egress.controlplane),
  };
  return {
    webhooks: httpsWebhookCaller(turn, egress),
    forward: forward(egress.cluster),
    access,
  };
}

function processFigures(): Omit<ProcessFigures, "exceptionCount"> {
  const { user, system } = osProcess.cpuUsage();
  return { cpuSeconds: (user + system) / 1_000_000, residentBytes: osProcess.memoryUsage.rss() };
}

/** Whoever shows a certificate that this server has signed is who it says. */
function trusting(tls: TlsOptions, { certificate }: RunAuthority): TlsOptions {
  const { clientAuthorities = "" } = tls;
  return { ...tls, clientAuthorities: clientAuthorities + certificate };
}

/** What a process threw is told as it was thrown. */
function asThrown<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw error instanceof Error && error.cause instanceof NoObjectPath ? error.cause : error;
  }
}
