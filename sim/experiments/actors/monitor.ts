/**
 * Watches over nodes: one whose lease has not changed for the grace period, by the monitor's own clock, is called not
 * ready. What it follows may lag, so it asks for the lease itself before it judges.
 * Source: kubernetes/kubernetes, pkg/controller/nodelifecycle (monitorNodeHealth).
 */
import type { ClientOf } from "../../../scenarios/schema.ts";
import { Informer, versionOf } from "../../client/informer.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros } from "../../kernel/types.ts";
import { type Actor, type ActorParts, collectionPath, textAt } from "./actor.ts";

const second: Micros = 1_000_000;
const deadlineMicros: Micros = 5_000_000;

interface Seen {
  version: string;
  changedMicros: Micros;
  isBusy: boolean;
  isUnready: boolean;
}

export class Monitor implements Actor {
  private readonly parts: ActorParts;
  private readonly options: ClientOf<"monitor">;
  private readonly leases: string;
  private readonly informer: Informer;
  private readonly seen = new Map<string, Seen>();
  private judgements = 0;

  constructor(parts: ActorParts, options: ClientOf<"monitor">) {
    this.parts = parts;
    this.options = options;
    this.leases = collectionPath(parts.dialect, "leases", parts.dialect.systemNamespaces.nodeLease);
    this.informer = new Informer(parts.process, parts.api, {
      path: this.leases,
      timeoutMicros: 20 * second,
      onChange: (_key, _before, lease) => {
        if (lease !== undefined) this.observe(lease);
      },
    });
  }

  start(): void {
    this.informer.start();
    this.look();
  }

  pending(): string | undefined {
    const unready = [...this.seen].find(([, { isUnready }]) => isUnready);
    return unready === undefined ? undefined : `it takes ${unready[0]} for not ready`;
  }

  counts(): Readonly<Record<string, number>> {
    return { leases: this.seen.size, judgements: this.judgements };
  }

  private look(): void {
    const { clock } = this.parts.process;
    clock.after(second, () => {
      for (const [node, seen] of this.seen) {
        if (!seen.isBusy && !seen.isUnready && this.isOld(seen)) this.suspect(node, seen);
      }
      this.look();
    });
  }

  private isOld({ changedMicros }: Seen): boolean {
    return this.parts.process.clock.nowMicros() - changedMicros > this.options.grace;
  }

  private observe(lease: JsonObject): void {
    const node = textAt(lease, "metadata", "name");
    const now = this.parts.process.clock.nowMicros();
    const seen = this.seen.get(node);
    if (seen === undefined)
      this.seen.set(node, { version: versionOf(lease), changedMicros: now, isBusy: false, isUnready: false });
    else if (seen.version !== versionOf(lease))
      Object.assign(seen, { version: versionOf(lease), changedMicros: now, isUnready: false });
  }

  /** Old in a copy: asks the server for the newest. */
  private suspect(node: string, seen: Seen): void {
    seen.isBusy = true;
    const { clock } = this.parts.process;
    const askedAt = clock.nowMicros();
    this.parts.api.call({ method: "GET", path: `${this.leases}/${node}` }, deadlineMicros, (answer) => {
      seen.isBusy = false;
      if (!answer.ok || answer.status !== 200) return;
      this.observe(answer.object);
      if (this.isOld(seen)) this.judge(node, seen, clock.nowMicros() - askedAt);
    });
  }

  private judge(node: string, seen: Seen, askedMicros: Micros): void {
    const { api, process, tell } = this.parts;
    this.judgements++;
    seen.isBusy = false;
    seen.isUnready = true;
    process.trace("monitor.unready", node);
    tell({ kind: "judged-unready", client: process.name, node, graceMicros: this.options.grace, askedMicros });
    const body: JsonObject = {
      status: { conditions: [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" }] },
    };
    const path = `/api/v1/nodes/${node}/status`;
    api.call(
      { method: "PATCH", path, body, contentType: "application/strategic-merge-patch+json" },
      deadlineMicros,
      () => {},
    );
  }
}
