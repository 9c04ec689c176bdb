/**
 * Campaigns for a lease: takes one that nobody renews, renews it while it leads, and stops leading in good time when it
 * cannot. Whether a lease has run out it judges by its own clock, from when it saw it change.
 * Source: client-go, tools/leaderelection (tryAcquireOrRenew, renew).
 */
import type { ClientOf } from "../../../scenarios/schema.ts";
import type { ClientAnswer } from "../../client/api-client.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Cancel, Micros } from "../../kernel/types.ts";
import { type Actor, type ActorParts, collectionPath, leaseVersion, microTime, textAt } from "./actor.ts";

export class Candidate implements Actor {
  private readonly parts: ActorParts;
  private readonly options: ClientOf<"candidate">;
  private readonly path: string;
  private leads = false;
  private terms = 0;
  /** The lease as it was last seen, and when it was first seen so. */
  private seenVersion = "";
  private seenMicros: Micros = 0;
  private cancelGivingUp: Cancel = () => {};

  constructor(parts: ActorParts, options: ClientOf<"candidate">) {
    this.parts = parts;
    this.options = options;
    this.path = collectionPath(parts.dialect, "leases", options.namespace);
  }

  start(): void {
    this.attempt();
  }

  /** One who follows is where it wants to be, as long as somebody leads: the whole field is judged by that. */
  pending(): string | undefined {
    return this.leads || this.seenVersion !== "" ? undefined : "it has not seen the lease yet";
  }

  counts(): Readonly<Record<string, number>> {
    return { terms: this.terms, leads: this.leads ? 1 : 0 };
  }

  private attempt(): void {
    const { api, process } = this.parts;
    const path = `${this.path}/${this.options.lease}`;
    const again = (): void => void process.clock.after(this.jittered(), () => this.attempt());
    api.call({ method: "GET", path }, this.options.renew, (answer) => {
      if (!answer.ok || (answer.status !== 200 && answer.status !== 404)) return again();
      const sentMicros = process.clock.nowMicros();
      const lease = answer.status === 200 ? answer.object : undefined;
      if (lease !== undefined) {
        this.observe(lease);
        if (!this.mayTake(lease)) return again();
      }
      const request =
        lease === undefined
          ? { method: "POST", path: this.path, body: this.lease(undefined) }
          : { method: "PUT", path, body: this.lease(lease) };
      api.call(request, this.options.renew, (result) => {
        this.learn(result, sentMicros);
        again();
      });
    });
  }

  private observe(lease: JsonObject): void {
    const version = textAt(lease, "metadata", "resourceVersion");
    if (version === this.seenVersion) return;
    this.seenVersion = version;
    this.seenMicros = this.parts.process.clock.nowMicros();
  }

  private mayTake(lease: JsonObject): boolean {
    const { process } = this.parts;
    const holder = textAt(lease, "spec", "holderIdentity");
    if (holder === "" || holder === process.name) return true;
    return process.clock.nowMicros() - this.seenMicros > this.options.duration;
  }

  private learn(answer: ClientAnswer, sentMicros: Micros): void {
    if (!answer.ok || answer.status >= 300) return;
    const { process, tell } = this.parts;
    this.observe(answer.object);
    const left = sentMicros + this.options.giveUp - process.clock.nowMicros();
    if (left <= 0) return;
    if (!this.leads) {
      this.leads = true;
      this.terms++;
      process.trace("candidate.leads", this.options.lease);
      tell({ kind: "leads", client: process.name, lease: this.options.lease });
    }
    this.cancelGivingUp();
    this.cancelGivingUp = process.clock.after(left, () => this.giveUp());
  }

  private giveUp(): void {
    const { process, tell } = this.parts;
    this.leads = false;
    process.trace("candidate.gives-up", this.options.lease);
    tell({ kind: "follows", client: process.name, lease: this.options.lease });
  }

  private lease(before: JsonObject | undefined): JsonObject {
    const { process, dialect } = this.parts;
    const { lease, namespace, duration } = this.options;
    const now = microTime(process);
    const isOurs = textAt(before, "spec", "holderIdentity") === process.name;
    return {
      apiVersion: leaseVersion(dialect),
      kind: "Lease",
      metadata: (before?.["metadata"] as JsonObject | undefined) ?? { name: lease, namespace },
      spec: {
        holderIdentity: process.name,
        leaseDurationSeconds: Math.ceil(duration / 1_000_000),
        acquireTime: isOurs ? textAt(before, "spec", "acquireTime") : now,
        renewTime: now,
      },
    };
  }

  private jittered(): Micros {
    const { renew } = this.options;
    return this.parts.process.prng.intInclusive(renew, renew + Math.floor(renew / 5));
  }
}
