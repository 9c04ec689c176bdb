/** The controllers that make a cluster live, started in a server's process as clients of its API. */
import type { Dialect } from "../../wire/dialect.ts";
import type { ApiHandler } from "../apiserver/http-message.ts";
import type { Process } from "../kernel/types.ts";
import { ApiTypes } from "./api-types.ts";
import { ControlClient } from "./control-client.ts";
import { DisruptionController } from "./disruption/disruption-controller.ts";
import { GarbageCollector } from "./garbage/garbage-collector.ts";
import { Reflectors } from "./reflectors.ts";

/** Which controllers run. Default: all. */
export interface ControllerSwitches {
  /** Empties namespaces that are being deleted. */
  readonly namespace?: boolean;
  /** Deletes what lost its owners, and sees to foreground deletion and to orphans. */
  readonly garbageCollection?: boolean;
  /** Keeps the status of disruption budgets. */
  readonly disruption?: boolean;
  /** Collects the rules of cluster roles that are made of others. */
  readonly clusterRoles?: boolean;
  /** Signs approved requests for certificates. */
  readonly certificates?: boolean;
  /** Establishes definitions of custom resources and takes them away: part of the API itself. */
  readonly customResources?: boolean;
}

/** A server alone: only what is part of the API itself runs. */
export const noControllers: ControllerSwitches = {
  namespace: false,
  garbageCollection: false,
  disruption: false,
  clusterRoles: false,
  certificates: false,
};

export interface ControllersOptions {
  /** Whose crash ends the controllers. The server may run in another one. */
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
  readonly switches: ControllerSwitches;
}

/** Starts garbage collection and the disruption controller, as soon as the present event is over. */
export function startControllers({ process, server, dialect, switches }: ControllersOptions): void {
  const { garbageCollection = true, disruption = true } = switches;
  if (!garbageCollection && !disruption) return;
  const clientOf = (account: string): ControlClient => new ControlClient({ process, server, dialect, account });
  const shared = clientOf("shared-informers");
  const reflectors = new Reflectors(shared);
  const types = new ApiTypes(shared, reflectors, dialect);
  const parts = { reflectors, types };
  process.clock.after(0, () =>
    types.start(() => {
      if (garbageCollection) new GarbageCollector({ client: clientOf("generic-garbage-collector"), ...parts }).start();
      if (disruption) new DisruptionController({ client: clientOf("disruption-controller"), ...parts }).start();
      reflectors.start();
    }),
  );
}
