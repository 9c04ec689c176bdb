/** A simulated cluster on virtual time whose front-ends differ: on one store, late by their own lag, with clocks of their own. */
import type { SuiteClock, Transport, WebhookHost } from "../../wire/ports.ts";
import { hmacSigner } from "../apiserver/access/token-signer.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import { Cluster, type ServerSettings } from "../cluster/cluster.ts";
import { noControllers } from "../control/controllers.ts";
import { Kernel } from "../kernel/kernel.ts";
import { installTrap } from "../kernel/trap.ts";
import type { Micros, Process } from "../kernel/types.ts";
import { runVirtual, type VirtualDriver } from "../kernel/virtual-driver.ts";
import { embeddedTransport, virtualClock } from "./embedded-transport.ts";
import { embeddedWebhooks } from "./embedded-webhooks.ts";

export interface FrontEndsOptions extends Omit<ServerSettings, "tokens" | "webhooks" | "forward"> {
  readonly seed: string;
  readonly latencyMicros: { readonly min: Micros; readonly max: Micros };
  /** Beside the first, which runs the controllers. `skewMillis`: how far its clock is ahead, or behind. */
  readonly others: readonly { readonly cacheLagMicros: Micros; readonly skewMillis: number }[];
}

export interface FrontEnds {
  readonly transport: Transport;
  readonly others: readonly Transport[];
  readonly clock: SuiteClock;
  readonly webhooks: WebhookHost;
}

const token = "embedded";

export async function withFrontEnds<T>(
  { seed, latencyMicros, others, ...settings }: FrontEndsOptions,
  use: (target: FrontEnds) => Promise<T>,
): Promise<T> {
  const removeTrap = installTrap();
  try {
    const kernel = new Kernel({ seed });
    const client = kernel.process("suite");
    const webhooks = embeddedWebhooks();
    const cluster = new Cluster({ kernel });
    const tokenSigner = hmacSigner(client.prng.stream("token key")); // one for all: tokens are good everywhere
    const settingsOn = (process: Process): ServerSettings => ({
      ...settings,
      ...webhooks.reachedBy(process),
      tokenSigner,
      tokens: [{ token, user: "suite", uid: "suite", groups: ["system:masters"] }],
    });
    const { made: first } = cluster.addServer("apiserver-1", settingsOn);
    const further = others.map(({ skewMillis, cacheLagMicros }, index) => {
      const { made } = cluster.addServer(`apiserver-${index + 2}`, (process) => {
        setAhead(process, skewMillis);
        return { ...settingsOn(process), cacheLagMicros, controllers: noControllers, bootstrap: false };
      });
      return made;
    });
    const transportTo = (driver: VirtualDriver, handler: ApiServer): Transport =>
      embeddedTransport({
        driver,
        handler,
        client,
        headers: { authorization: `Bearer ${token}` },
        compress: (request, status, bodyBytes) => handler.packingOf(request, status, bodyBytes),
        latencyMicros,
      });
    const main = (driver: VirtualDriver): Promise<T> =>
      use({
        transport: transportTo(driver, first),
        others: further.map((other) => transportTo(driver, other)),
        clock: virtualClock(client),
        webhooks: webhooks.host,
      });
    return await runVirtual(kernel, main, { maxVirtualMicros: 30 * 86_400_000_000 });
  } finally {
    removeTrap();
  }
}

function setAhead(process: Process, millis: number): void {
  const clock = { ...process.clock, epochUnixMillis: process.clock.epochUnixMillis + millis };
  Object.defineProperty(process, "clock", { value: clock });
}
