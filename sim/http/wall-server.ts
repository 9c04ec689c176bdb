/** A whole simulated API server in real time behind a socket: what `serve` runs. */
import osProcess from "node:process";
import type { Dialect } from "../../wire/dialect.ts";
import type { Forward } from "../apiserver/proxy/forward.ts";
import { Cluster, type ServerSettings } from "../cluster/cluster.ts";
import { addLiving, type LivingNodes, type LivingOptions } from "../cluster/living.ts";
import { seed, type SeedObject } from "../cluster/seed.ts";
import { NoObjectPath } from "../contract/unreadable.ts";
import type { ProcessFigures } from "../apiserver/metrics/server-metrics.ts";
import { shouldCompress } from "../contract/compression.ts";
import { Kernel } from "../kernel/kernel.ts";
import { WallDriver } from "../kernel/wall-driver.ts";
import { type RunAuthority, runAuthority } from "./certificates/certificate-authority.ts";
import type { HttpServerOptions, Listening } from "./http1-server.ts";
import { listenHttp, type TlsOptions } from "./http-server.ts";
import { rsaSigner } from "./certificates/rsa-signer.ts";
import { httpForwarder } from "./http-forwarder.ts";
import { scaledWall } from "./scaled-wall.ts";
import { wallPorts } from "./wall.ts";
import { httpsWebhookCaller } from "./webhook-caller.ts";

export interface WallServerOptions extends ServerSettings {
  /** Of generated names and uids. */
  readonly seed: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly bindAddress: string;
  /** Default: plain. */
  readonly tls?: TlsOptions;
  /** Seconds of the cluster in one of the world, above zero. Default 1. */
  readonly speed?: number;
  /** Controllers, a scheduler and these nodes. Default: a server alone. */
  readonly living?: Omit<LivingOptions, "dialect">;
  /** Put into the store, in whatever order they come, before anybody is served. Default: nothing. */
  readonly objects?: readonly SeedObject[];
  readonly accessLog?: HttpServerOptions["accessLog"];
  readonly patience?: HttpServerOptions["patience"];
  /** Something threw: our bug. The server goes on without what it happened in (`what`), which is half-done. */
  readonly onError: (error: unknown, what: string) => void;
}

/** Objects that were to be there at the start and cannot be made. The message has one a line. */
export class UnusableObjects extends Error {}

/** Listens; rejects with node's error when it cannot, and with `UnusableObjects`. Closing ends the server's timers too. */
export async function startWallServer(options: WallServerOptions): Promise<Listening> {
  const {
    seed: runSeed,
    port,
    bindAddress,
    tls,
    accessLog,
    patience,
    onError,
    speed = 1,
    living,
    objects = [],
    ...serverOptions
  } = options;
  let exceptionCount = 0;
  const caught = (error: unknown, what: string): void => {
    exceptionCount++;
    onError(error, what);
  };
  const kernel = new Kernel({ seed: runSeed, epochUnixMillis: Date.now(), caught });
  const driver = new WallDriver(kernel, scaledWall(wallPorts, speed), { onError: (error) => caught(error, "event") });
  const certificateAuthority = runAuthority(Date.now());
  let url = "";
  let nodes: LivingNodes | undefined;
  const cluster = new Cluster({ kernel });
  const { process, made: server } = stoppingOnError(driver, () =>
    cluster.addServer("apiserver-1", (process) => ({
      webhooks: httpsWebhookCaller((work) => driver.enter(process, work)),
      forward: nodesFirst(
        () => nodes,
        httpForwarder((work) => driver.enter(process, work)),
      ),
      tokenSigner: rsaSigner(),
      certificateAuthority,
      processFigures: () => ({ ...processFigures(), exceptionCount }),
      advertisedUrl: () => url,
      ...serverOptions,
    })),
  );
  const { dialect } = server.profile;
  if (living !== undefined) nodes = addLiving(cluster, { ...living, dialect });
  if (objects.length > 0) {
    const problems = await seeded(cluster, driver, dialect, objects);
    if (problems.length > 0) {
      driver.stop();
      throw new UnusableObjects(problems.join("\n"));
    }
  }
  const listening = await listenHttp(
    {
      handler: server,
      turn: (work) => driver.enter(process, work),
      compress: (request, status, _headers, bodyBytes) => shouldCompress(server, request, status, bodyBytes),
      ...(accessLog === undefined ? {} : { accessLog }),
      ...(patience === undefined ? {} : { patience }),
    },
    port,
    bindAddress,
    tls === undefined ? undefined : trusting(tls, certificateAuthority),
  ).catch((error: unknown) => {
    driver.stop(); // its timers would keep the program alive
    throw error;
  });
  url = listening.url;
  driver.enter(process, () => server.advertise(url));
  return {
    ...listening,
    async close(graceMillis) {
      await listening.close(graceMillis);
      driver.stop();
    },
  };
}

/** Nodes of the cluster itself answer where they are; everybody else is reached over the machine's network. */
function nodesFirst(nodes: () => LivingNodes | undefined, outside: Forward): Forward {
  return (request, done) => {
    const answer = nodes()?.answer(request.host, request.port, request.target);
    if (answer === undefined) return outside(request, done);
    const headers = { "content-type": "text/plain" };
    done({ status: answer.status, headers, body: new TextEncoder().encode(answer.text) });
    return () => {};
  };
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

function processFigures(): Omit<ProcessFigures, "exceptionCount"> {
  const { user, system } = osProcess.cpuUsage();
  return { cpuSeconds: (user + system) / 1_000_000, residentBytes: osProcess.memoryUsage.rss() };
}

/** Whoever shows a certificate that this server has signed is who it says. */
function trusting(tls: TlsOptions, { certificate }: RunAuthority): TlsOptions {
  const { clientAuthorities = "" } = tls;
  return { ...tls, clientAuthorities: clientAuthorities + certificate };
}

/** The timers of a driver would keep the program alive. What a process threw is told as it was thrown. */
function stoppingOnError<Made>(driver: WallDriver, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    driver.stop();
    throw error instanceof Error && error.cause instanceof NoObjectPath ? error.cause : error;
  }
}
