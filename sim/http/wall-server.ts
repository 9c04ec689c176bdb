/** A whole simulated API server in real time behind a socket: what `serve` runs. */
import osProcess from "node:process";
import { Cluster, type ServerSettings } from "../cluster/cluster.ts";
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
  readonly accessLog?: HttpServerOptions["accessLog"];
  readonly patience?: HttpServerOptions["patience"];
  /** Something threw: our bug. The server goes on without what it happened in (`what`), which is half-done. */
  readonly onError: (error: unknown, what: string) => void;
}

/** Listens; rejects with node's error when it cannot. Closing ends the server's timers too. */
export async function startWallServer(options: WallServerOptions): Promise<Listening> {
  const { seed, port, bindAddress, tls, accessLog, patience, onError, ...serverOptions } = options;
  let exceptionCount = 0;
  const caught = (error: unknown, what: string): void => {
    exceptionCount++;
    onError(error, what);
  };
  const kernel = new Kernel({ seed, epochUnixMillis: Date.now(), caught });
  const driver = new WallDriver(kernel, wallPorts, { onError: (error) => caught(error, "event") });
  const certificateAuthority = runAuthority(Date.now());
  let url = "";
  const { process, made: server } = stoppingOnError(driver, () =>
    new Cluster({ kernel }).addServer("apiserver-1", (process) => ({
      webhooks: httpsWebhookCaller((work) => driver.enter(process, work)),
      forward: httpForwarder((work) => driver.enter(process, work)),
      tokenSigner: rsaSigner(),
      certificateAuthority,
      processFigures: () => ({ ...processFigures(), exceptionCount }),
      advertisedUrl: () => url,
      ...serverOptions,
    })),
  );
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
