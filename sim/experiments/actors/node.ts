/**
 * A node as the rest of the cluster sees it: it registers, renews its lease, runs the pods that are bound to it, tells
 * their status, and confirms that they have ended. What happens inside a node is the node agent's own simulation.
 */
import type { ClientOf } from "../../../scenarios/schema.ts";
import { Informer } from "../../client/informer.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros } from "../../kernel/types.ts";
import { type Actor, type ActorParts, collectionPath, leaseVersion, microTime, textAt } from "./actor.ts";

const second: Micros = 1_000_000;
const deadlineMicros: Micros = 10_000_000;
/** How often it looks at what is said of itself and of its pods. */
const beatMicros: Micros = 10_000_000;
/** A node that nothing changes tells its status as often as this. */
const reportMicros: Micros = 300_000_000;

export class Node implements Actor {
  private readonly parts: ActorParts;
  private readonly options: ClientOf<"node">;
  private readonly pods: string;
  private readonly leases: string;
  private readonly ownLease: string;
  private readonly ownNode: string;
  private readonly informer: Informer;
  /** uid of what runs, by namespace and name. */
  private readonly running = new Map<string, string>();
  /** Uids of which a status is being sent, or will be looked at. */
  private readonly telling = new Set<string>();
  private readonly message: string;
  private started = 0;
  private renewals = 0;
  private isRegistered = false;

  constructor(parts: ActorParts, options: ClientOf<"node">) {
    this.parts = parts;
    this.options = options;
    this.message = `told by ${parts.process.name}`;
    this.pods = collectionPath(parts.dialect, "pods", "");
    this.leases = collectionPath(parts.dialect, "leases", parts.dialect.systemNamespaces.nodeLease);
    this.ownLease = `${this.leases}/${parts.process.name}`;
    this.ownNode = `/api/v1/nodes/${parts.process.name}`;
    this.informer = new Informer(parts.process, parts.api, {
      path: this.pods,
      fieldSelector: options.follows === "own" ? `spec.nodeName=${parts.process.name}` : undefined,
      timeoutMicros: options.timeout,
      onChange: (key, _before, after) => this.sync(key, after),
    });
  }

  start(): void {
    this.register();
    this.renew();
    this.informer.start();
  }

  pending(): string | undefined {
    if (!this.isRegistered) return "it is not registered";
    const idle = [...this.informer.objects].find(([key, pod]) => this.isOurs(pod) && !this.running.has(key));
    return idle === undefined ? undefined : `${idle[0]} is bound to it and does not run`;
  }

  counts(): Readonly<Record<string, number>> {
    return { started: this.started, running: this.running.size, renewals: this.renewals };
  }

  private register(): void {
    const { api, process } = this.parts;
    const body: JsonObject = { apiVersion: "v1", kind: "Node", metadata: { name: process.name } };
    api.call({ method: "POST", path: "/api/v1/nodes", body }, deadlineMicros, (answer) => {
      this.isRegistered = answer.ok && (answer.status === 201 || answer.status === 409);
      if (!this.isRegistered) process.clock.after(second, () => this.register());
      else this.mindReady(-reportMicros);
    });
  }

  /** Looks every ten seconds whether somebody has said otherwise, and says that it is ready where that is so, or rarely. */
  private mindReady(saidMicros: Micros): void {
    const { api, process } = this.parts;
    const later = (said: Micros): void => {
      process.clock.after(beatMicros, () => this.mindReady(said));
    };
    const request = { method: "GET", path: this.ownNode, query: "resourceVersion=0" };
    api.call(request, deadlineMicros, (answer) => {
      if (!answer.ok || answer.status !== 200) return later(saidMicros);
      const isOld = process.clock.nowMicros() - saidMicros >= reportMicros;
      if (isOld || !isSaidReady(answer.object)) this.sayReady(later, saidMicros);
      else later(saidMicros);
    });
  }

  private sayReady(later: (saidMicros: Micros) => void, saidMicros: Micros): void {
    const { api, process } = this.parts;
    const body: JsonObject = { status: { conditions: [{ type: "Ready", status: "True", reason: "AgentReady" }] } };
    const path = `${this.ownNode}/status`;
    api.call(
      { method: "PATCH", path, body, contentType: "application/strategic-merge-patch+json" },
      deadlineMicros,
      (answer) => later(answer.ok && answer.status === 200 ? process.clock.nowMicros() : saidMicros),
    );
  }

  private renew(): void {
    const { api, process, dialect } = this.parts;
    const spec = { holderIdentity: process.name, leaseDurationSeconds: 40, renewTime: microTime(process) };
    const later = (): void => {
      const { min, max } = this.options.renew;
      process.clock.after(process.prng.intInclusive(min, max), () => this.renew());
    };
    const patch = { method: "PATCH", path: this.ownLease, body: { spec }, contentType: "application/merge-patch+json" };
    api.call(patch, deadlineMicros, (answer) => {
      if (answer.ok && answer.status === 200) this.renewals++;
      if (!answer.ok || answer.status !== 404) return later();
      const body: JsonObject = {
        apiVersion: leaseVersion(dialect),
        kind: "Lease",
        metadata: { name: process.name },
        spec,
      };
      api.call({ method: "POST", path: this.leases, body }, deadlineMicros, later);
    });
  }

  private isOurs = (pod: JsonObject): boolean =>
    textAt(pod, "spec", "nodeName") === this.parts.process.name && textAt(pod, "metadata", "deletionTimestamp") === "";

  private sync(key: string, pod: JsonObject | undefined): void {
    const uid = textAt(pod, "metadata", "uid");
    const runs = this.running.get(key);
    if (runs !== undefined && (pod === undefined || uid !== runs)) this.stop(key, runs);
    if (pod === undefined || textAt(pod, "spec", "nodeName") !== this.parts.process.name) return;
    if (textAt(pod, "metadata", "deletionTimestamp") !== "") this.end(key, pod, uid);
    else if (!this.running.has(key)) this.run(key, pod, uid);
    else this.mindStatus(key, uid);
  }

  private run(key: string, pod: JsonObject, uid: string): void {
    const { process, tell } = this.parts;
    this.running.set(key, uid);
    this.started++;
    process.trace("node.runs", key, uid);
    tell({ kind: "runs", client: process.name, pod: key, uid });
    this.tellStatus(key, pod, uid);
  }

  /** Until it is told. The uid in the body makes it the status of this pod and of no other. */
  private tellStatus(key: string, pod: JsonObject, uid: string): void {
    if (this.running.get(key) !== uid) return;
    const { api, process, tell } = this.parts;
    const conditions = [{ type: "Ready", status: "True" }];
    const body: JsonObject = {
      metadata: { uid },
      status: { phase: "Running", conditions, message: this.message },
    };
    const request = {
      method: "PATCH",
      path: `${podPath(pod)}/status`,
      body,
      contentType: "application/strategic-merge-patch+json",
    };
    this.telling.add(uid);
    api.call(request, deadlineMicros, (answer) => {
      if (answer.ok && answer.status === 200)
        tell({
          kind: "status-sent",
          client: process.name,
          pod: key,
          meant: uid,
          hit: textAt(answer.object, "metadata", "uid"),
        });
      const isTold = answer.ok && answer.status < 500 && answer.status !== 429;
      if (!isTold) process.clock.after(second, () => this.tellStatus(key, pod, uid));
      else {
        this.telling.delete(uid);
        this.mindStatus(key, uid);
      }
    });
  }

  /** What the copy says of a pod that runs is not what was told: looks again at the next beat, for the copy may be late. */
  private mindStatus(key: string, uid: string): void {
    if (this.telling.has(uid) || !this.isUntold(key, uid)) return;
    this.telling.add(uid);
    this.parts.process.clock.after(beatMicros, () => {
      this.telling.delete(uid);
      const pod = this.informer.objects.get(key);
      if (pod !== undefined && this.isUntold(key, uid)) this.tellStatus(key, pod, uid);
    });
  }

  private isUntold(key: string, uid: string): boolean {
    const pod = this.informer.objects.get(key);
    if (pod === undefined || this.running.get(key) !== uid || textAt(pod, "metadata", "uid") !== uid) return false;
    return textAt(pod, "status", "message") !== this.message || !isSaidReady(pod);
  }

  /** It takes a moment to end, and then the object may go. */
  private end(key: string, pod: JsonObject, uid: string): void {
    const { process } = this.parts;
    if (this.running.get(key) === uid) {
      process.clock.after(process.prng.intInclusive(second, 2 * second), () => {
        this.stop(key, uid);
        this.confirm(pod, uid);
      });
    } else this.confirm(pod, uid);
  }

  private confirm(pod: JsonObject, uid: string): void {
    const { api, process } = this.parts;
    const body: JsonObject = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid } };
    api.call({ method: "DELETE", path: podPath(pod), body }, deadlineMicros, (answer) => {
      const isOver = answer.ok && (answer.status === 200 || answer.status === 404 || answer.status === 409);
      if (!isOver) process.clock.after(second, () => this.confirm(pod, uid));
    });
  }

  private stop(key: string, uid: string): void {
    if (this.running.get(key) !== uid) return;
    const { process, tell } = this.parts;
    this.running.delete(key);
    this.telling.delete(uid);
    process.trace("node.stops", key, uid);
    tell({ kind: "stopped", client: process.name, pod: key, uid });
  }
}

const podPath = (pod: JsonObject): string =>
  `/api/v1/namespaces/${textAt(pod, "metadata", "namespace")}/pods/${textAt(pod, "metadata", "name")}`;

function isSaidReady(object: JsonObject): boolean {
  const { conditions } = (object["status"] ?? {}) as { conditions?: readonly JsonObject[] };
  return conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}
