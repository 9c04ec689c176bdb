/** A whole simulated API server on virtual time, with the suite's ports to it: what `conform` judges without a URL. */
import type { SuiteClock, Transport, WebhookHost } from "../../wire/ports.ts";
import { Cluster, type ServerSettings } from "../cluster/cluster.ts";
import { shouldCompress } from "../contract/compression.ts";
import { Kernel } from "../kernel/kernel.ts";
import { installTrap } from "../kernel/trap.ts";
import type { Micros } from "../kernel/types.ts";
import { runVirtual } from "../kernel/virtual-driver.ts";
import { embeddedTransport, virtualClock } from "./embedded-transport.ts";
import { embeddedWebhooks } from "./embedded-webhooks.ts";

export interface EmbeddedServerOptions extends Omit<ServerSettings, "tokens" | "webhooks" | "forward"> {
  readonly seed: string;
  /** As `EmbeddedOptions.latencyMicros`. Default 0. */
  readonly latencyMicros?: { readonly min: Micros; readonly max: Micros };
}

export interface EmbeddedTarget {
  readonly transport: Transport;
  readonly clock: SuiteClock;
  readonly webhooks: WebhookHost;
}

/** The one user of the embedded server, with every right. */
const embeddedToken = "embedded";

/** Long enough for thousands of expiries of five minutes; a run that wants more is stuck. */
const virtualYearMicros = 365 * 86_400_000_000;

/** Runs `use` against a fresh server on virtual time, and answers as it does. Real time and chance are trapped meanwhile. */
export async function withEmbeddedServer<T>(
  options: EmbeddedServerOptions,
  use: (target: EmbeddedTarget) => Promise<T>,
): Promise<T> {
  const { seed, latencyMicros, ...serverOptions } = options;
  const removeTrap = installTrap();
  try {
    const kernel = new Kernel({ seed });
    const client = kernel.process("suite");
    const webhooks = embeddedWebhooks();
    const { made: server } = new Cluster({ kernel }).addServer("apiserver-1", (process) => ({
      ...serverOptions,
      ...webhooks.reachedBy(process),
      tokens: [{ token: embeddedToken, user: "suite", uid: "suite", groups: ["system:masters"] }],
    }));
    const main = (driver: Parameters<Parameters<typeof runVirtual>[1]>[0]): Promise<T> =>
      use({
        transport: embeddedTransport({
          driver,
          handler: server,
          client,
          headers: { authorization: `Bearer ${embeddedToken}` },
          compress: (request, status, bodyBytes) => shouldCompress(server, request, status, bodyBytes),
          ...(latencyMicros === undefined ? {} : { latencyMicros }),
        }),
        clock: virtualClock(client),
        webhooks: webhooks.host,
      });
    return await runVirtual(kernel, main, { maxVirtualMicros: virtualYearMicros });
  } finally {
    removeTrap();
  }
}
