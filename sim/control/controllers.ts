/** The controllers that make a cluster live, started in a server's process as clients of its API. */
import type { Dialect } from "../../wire/dialect.ts";
import type { ServerBugs } from "../planted/server-bugs.ts";
import type { ApiHandler } from "../contract/http-message.ts";
import type { Process } from "../kernel/types.ts";
import { ApiTypes } from "./api-types.ts";
import { CertificateApprover } from "./certificate-approver.ts";
import { type CertificateAuthority, CertificateSigner } from "./certificate-signer.ts";
import { ControlClient } from "../client/control-client.ts";
import { DisruptionController } from "./disruption/disruption-controller.ts";
import { GarbageCollector } from "./garbage/garbage-collector.ts";
import { QueueCounts } from "../client/queue-counts.ts";
import { NamespaceController } from "./namespace-controller.ts";
import { Reflectors } from "../client/reflectors.ts";
import { RoleAggregation } from "./role-aggregation.ts";

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
  /** Approves requests of nodes for client certificates. */
  readonly certificateApproval?: boolean;
  /** Signs approved requests for certificates. */
  readonly certificates?: boolean;
}

/** A server alone: only what is part of the API itself runs. */
export const noControllers: ControllerSwitches = {
  namespace: false,
  garbageCollection: false,
  disruption: false,
  clusterRoles: false,
  certificateApproval: false,
  certificates: false,
};

export interface ControllersOptions {
  /** Whose crash ends the controllers. The server may run in another one. */
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
  readonly switches: ControllerSwitches;
  /** Undefined: nothing can be signed. */
  readonly authority?: CertificateAuthority | undefined;
  /** Planted bugs. Default: none. */
  readonly bugs?: ServerBugs | undefined;
  /** Where work queues count what they do. Default: nobody looks. */
  readonly queueCounts?: QueueCounts;
}

/** What controllers are made of: what they share, and a client under an account of their own. */
interface Parts {
  readonly reflectors: Reflectors;
  readonly types: ApiTypes;
  readonly dialect: Dialect;
  readonly authority: CertificateAuthority | undefined;
  readonly bugs: ServerBugs | undefined;
  readonly clientOf: (account: string) => ControlClient;
}

type Switch = keyof ControllerSwitches;

const controllers: Readonly<Record<Switch, (parts: Parts) => { start(): void }>> = {
  namespace: (parts) => new NamespaceController({ client: parts.clientOf("namespace-controller"), ...parts }),
  garbageCollection: (parts) => new GarbageCollector({ client: parts.clientOf("generic-garbage-collector"), ...parts }),
  disruption: (parts) => new DisruptionController({ client: parts.clientOf("disruption-controller"), ...parts }),
  clusterRoles: (parts) =>
    new RoleAggregation({ client: parts.clientOf("clusterrole-aggregation-controller"), ...parts }),
  certificateApproval: (parts) =>
    new CertificateApprover({ client: parts.clientOf("certificate-controller"), ...parts }),
  certificates: (parts) => new CertificateSigner({ client: parts.clientOf("certificate-controller"), ...parts }),
};

/** Starts what is switched on, as soon as the present event is over. */
export function startControllers({
  process,
  server,
  dialect,
  switches,
  authority,
  bugs,
  queueCounts = new QueueCounts(),
}: ControllersOptions): void {
  const wanted = (Object.keys(controllers) as Switch[]).filter((name) => switches[name] ?? true);
  if (wanted.length === 0) return;
  const clientOf = (account: string): ControlClient =>
    new ControlClient({ process, server, dialect, account, queueCounts });
  const shared = clientOf("shared-informers");
  const reflectors = new Reflectors(shared);
  const types = new ApiTypes(shared, reflectors, dialect);
  const parts = { reflectors, types, dialect, authority, bugs, clientOf };
  process.clock.after(0, () =>
    types.start(() => {
      for (const name of wanted) controllers[name](parts).start();
      reflectors.start();
    }),
  );
}
