/** A scheduler as a process of its own, a client of the API server. */
import type { Dialect } from "../../../wire/dialect.ts";
import { ControlClient } from "../../client/control-client.ts";
import { Reflectors } from "../../client/reflectors.ts";
import type { ApiHandler } from "../../contract/http-message.ts";
import type { Process } from "../../kernel/types.ts";
import { Informers } from "../shared/informers.ts";
import { type Rate, throttled } from "../shared/throttle.ts";
import { Scheduler } from "./scheduler.ts";

export interface SchedulerProcessOptions {
  /** Whose crash ends the scheduler; the next one begins from what the server has. */
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
  /** Of its requests. Default: as fast as the server answers. */
  readonly rate?: Rate;
}

export function startScheduler({ process, server, dialect, rate }: SchedulerProcessOptions): void {
  const limited = rate === undefined ? server : throttled(process, server, rate);
  const client = new ControlClient({ process, server: limited, dialect, account: "scheduler" });
  process.clock.after(0, () => {
    const reflectors = new Reflectors(client);
    new Scheduler({ client, informers: new Informers(reflectors), dialect }).start();
    reflectors.start();
  });
}
