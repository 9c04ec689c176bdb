/** A controller's client: the account that it has in a cluster, and what its queues count. */
import type { Dialect } from "../../wire/dialect.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import { ApiClient, type ClientRequest } from "./api-client.ts";
import { kept } from "./item-scope.ts";
import { QueueCounts } from "./queue-counts.ts";
import type { WatchHearer } from "./reflector.ts";

export interface ControlClientOptions {
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
  /** Of the controller's service account, such as `generic-garbage-collector`. */
  readonly account: string;
  /** Where work queues count what they do. Default: nobody looks. */
  readonly queueCounts?: QueueCounts;
}

export interface ControlAnswer {
  /** 0 when the connection broke or nothing came in time: whether anything happened is unknown. */
  readonly status: number;
  /** Undefined when the answer is no object. */
  readonly object: JsonObject | undefined;
}

/** A server ends a request itself after a minute, and says so. */
const deadlineMicros: Micros = 65_000_000;

const lost: ControlAnswer = { status: 0, object: undefined };

export class ControlClient {
  readonly process: Process;
  readonly queueCounts: QueueCounts;
  private readonly api: ApiClient;

  constructor({ process, server, dialect, account, queueCounts = new QueueCounts() }: ControlClientOptions) {
    const { system } = dialect.systemNamespaces;
    this.process = process;
    this.queueCounts = queueCounts;
    const agent = `${system.split("-", 1)[0]}-controller-manager/v1.33.3/${account}`;
    const identity = { commonName: `system:serviceaccount:${system}:${account}`, organizations: ["system:masters"] };
    this.api = new ApiClient(process, server, identity, agent);
  }

  /** `done` fires once, within the call or later, unless the call is cancelled or this process dies. */
  call(request: ClientRequest, done: (answer: ControlAnswer) => void): Cancel {
    const told = kept(done);
    return this.api.call(request, deadlineMicros, (answer) =>
      told(answer.ok ? { status: answer.status, object: answer.payload?.object } : lost),
    );
  }

  get(path: string, done: (answer: ControlAnswer) => void): Cancel {
    return this.call({ method: "GET", path }, done);
  }

  /** Nothing is heard after the cancel, nor when this process has died. */
  watch(path: string, query: string, hearer: WatchHearer): Cancel {
    return this.api.watch(
      { method: "GET", path, query },
      {
        opened: () => {},
        event: (type, object) => hearer.event(type, object),
        refused: (status) => hearer.refused(status),
        ended: () => hearer.ended(),
      },
    );
  }
}
