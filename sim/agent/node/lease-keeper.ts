/**
 * Keeps the node's lease: made once the node is there, owned by it, and renewed four times in its duration.
 * Source: the fact sheet of the 1.33 agent, registration and node status; bugs of leases without owner, and of nodes that
 * were deleted.
 */
import { groupInDialect } from "../../../wire/dialect.ts";
import { formatMicroTime } from "../../../wire/time.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import { turns } from "../piece.ts";
import type { ApiAnswer, ApiCaller } from "../ports.ts";

export interface LeaseOptions {
  readonly nodeName: string;
  readonly dialect: Dialect;
  readonly durationSeconds: number;
  /** Between renewals, and a little more. */
  readonly renewMicros: Micros;
}

export interface LeasePorts {
  readonly process: Process;
  /** Draws on no rate. */
  readonly api: ApiCaller;
  /** The node as the API has it; undefined while it has none. */
  readonly node: () => JsonObject | undefined;
}

const attemptsMax = 5;
const ensureMicrosMin: Micros = 200_000;
const ensureMicrosMax: Micros = 7_000_000;
const failedMicros: Micros = 1_000_000;

export class LeaseKeeper {
  private readonly options: LeaseOptions;
  private readonly ports: LeasePorts;
  private readonly collection: string;
  private readonly path: string;
  private readonly apiVersion: string;
  private lease: JsonObject | undefined;

  constructor(options: LeaseOptions, ports: LeasePorts) {
    this.options = options;
    this.ports = ports;
    const { dialect } = options;
    const group = groupInDialect(dialect, "coordination.svc.io");
    this.collection = `/apis/${group}/v1/namespaces/${dialect.systemNamespaces.nodeLease}/leases`;
    this.path = `${this.collection}/${options.nodeName}`;
    this.apiVersion = `${group}/v1`;
  }

  start(): void {
    turns(this.ports.process, "node-lease", "renewal of the node's lease", failedMicros, (next) => this.turn(next));
  }

  private turn(next: (micros: Micros) => void): void {
    const { process, node } = this.ports;
    if (node() === undefined) {
      this.lease = undefined;
      next(ensureMicrosMin); // the node comes first
      return;
    }
    const { renewMicros } = this.options;
    const done = (): void => next(renewMicros + process.prng.intInclusive(0, Math.floor(renewMicros / 25)));
    if (this.lease === undefined) this.ensure(ensureMicrosMin, () => this.renew(attemptsMax, done));
    else this.renew(attemptsMax, done);
  }

  /** Reads the lease, or makes it; tries until one of the two has worked, or the node is gone. */
  private ensure(waitMicros: Micros, done: () => void): void {
    const { process, api } = this.ports;
    const again = (): void =>
      void process.clock.after(waitMicros, () => this.ensure(Math.min(2 * waitMicros, ensureMicrosMax), done));
    api.call({ method: "GET", path: this.path }, (found) => {
      if (found.status === 200) {
        this.lease = found.object;
        done();
        return;
      }
      const fresh = found.status === 404 ? this.renewed(undefined) : undefined;
      if (fresh === undefined) {
        again();
        return;
      }
      api.call({ method: "POST", path: this.collection, body: fresh }, (made) => {
        if (made.status !== 201) {
          again();
          return;
        }
        this.lease = made.object;
        done();
      });
    });
  }

  private renew(attempts: number, done: () => void): void {
    const { api } = this.ports;
    const body = this.renewed(this.lease);
    if (body === undefined || attempts === 0) {
      this.lease = undefined;
      done();
      return;
    }
    api.call({ method: "PUT", path: this.path, body }, (answer: ApiAnswer) => {
      if (answer.status === 200) {
        this.lease = answer.object;
        done();
        return;
      }
      // Somebody else wrote it, or it is gone: read again, and try the rest of the attempts.
      api.call({ method: "GET", path: this.path }, (found) => {
        if (found.status === 200) this.lease = found.object;
        else if (found.status === 404) this.lease = undefined;
        if (this.lease === undefined) this.ensure(ensureMicrosMin, done);
        else this.renew(attempts - 1, done);
      });
    });
  }

  /** Undefined: there is no node to own it, and a lease without an owner would stay for ever. */
  private renewed(before: JsonObject | undefined): JsonObject | undefined {
    const { nodeName, dialect, durationSeconds } = this.options;
    const node = this.ports.node();
    if (node === undefined) return undefined;
    const { clock } = this.ports.process;
    const micros = clock.epochUnixMillis * 1000 + clock.nowMicros();
    const spec = before === undefined ? {} : before["spec"];
    const owners = before === undefined ? undefined : metadataOf(before).ownerReferences;
    const isOwned = owners !== undefined && owners.length > 0;
    const owner = { apiVersion: "v1", kind: "Node", name: nodeName, uid: metadataOf(node).uid ?? "" };
    return {
      ...before,
      apiVersion: this.apiVersion,
      kind: "Lease",
      metadata:
        before !== undefined && isOwned
          ? (before["metadata"] as JsonObject)
          : {
              ...(before === undefined
                ? { name: nodeName, namespace: dialect.systemNamespaces.nodeLease }
                : (before["metadata"] as JsonObject)),
              ownerReferences: [owner],
            },
      spec: {
        ...(isObject(spec) ? spec : {}),
        holderIdentity: nodeName,
        leaseDurationSeconds: durationSeconds,
        renewTime: formatMicroTime({ seconds: Math.floor(micros / 1_000_000), micros: micros % 1_000_000 }),
      },
    };
  }
}
