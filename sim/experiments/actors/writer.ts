/**
 * Writes objects for ever: each beat creates, changes or deletes one of a few names, without waiting for the answer to
 * the write before. Now and then it reads one back, and takes off a finalizer that keeps one. Answers and losses are
 * counted.
 */
import type { ClientOf } from "../../../scenarios/schema.ts";
import type { ClientAnswer, ClientRequest } from "../../client/api-client.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros } from "../../kernel/types.ts";
import { type Actor, type ActorParts, collectionPath, microTime } from "./actor.ts";

const deadlineMicros: Micros = 10_000_000;
const finalizer = "scenarios.touchstone/kept";

export class Writer implements Actor {
  /** By status, or by the failure that left the outcome unknown. */
  private readonly answers = new Map<string, number>();
  private readonly parts: ActorParts;
  private readonly options: ClientOf<"writer">;
  private readonly collection: string;
  private beats = 0;
  private openCount = 0;

  constructor(parts: ActorParts, options: ClientOf<"writer">) {
    this.parts = parts;
    this.options = options;
    this.collection = collectionPath(parts.dialect, options.resource, options.namespace);
  }

  start(): void {
    const { every, until = Infinity } = this.options;
    const { clock } = this.parts.process;
    clock.after(every, () => {
      if (clock.nowMicros() >= until) return;
      this.send(this.draw());
      this.start();
    });
  }

  pending(): string | undefined {
    return this.openCount === 0 ? undefined : `${this.openCount} of its requests have no answer`;
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.answers);
  }

  private send(request: ClientRequest): void {
    const { api } = this.parts;
    this.openCount++;
    api.call(request, deadlineMicros, (answer) => {
      this.openCount--;
      this.count(request.method, answer);
      const { finalizers = [], deletionTimestamp } = (answer.ok ? (answer.object["metadata"] ?? {}) : {}) as {
        finalizers?: readonly string[];
        deletionTimestamp?: string;
      };
      if (deletionTimestamp !== undefined && finalizers.includes(finalizer)) this.release(request.path);
    });
  }

  /** Takes the finalizer off in its own time. */
  private release(path: string): void {
    const { process } = this.parts;
    const body: JsonObject = { metadata: { finalizers: [] } };
    process.clock.after(process.prng.intInclusive(100_000, 1_000_000), () =>
      this.send({ method: "PATCH", path, body, contentType: "application/merge-patch+json" }),
    );
  }

  /** Half the writes change an object that may exist; the rest make and remove them. One request in eight reads. */
  private draw(): ClientRequest {
    const { objects } = this.options;
    const { prng, name: writer } = this.parts.process;
    const name = `${writer}-${prng.intInclusive(1, objects)}`;
    const path = `${this.collection}/${name}`;
    if (prng.chance(1, 8)) return { method: "GET", path };
    const body = this.object(name);
    if (prng.chance(1, 2)) return { method: "PUT", path, body };
    if (prng.chance(2, 3)) return { method: "POST", path: this.collection, body };
    return { method: "DELETE", path };
  }

  private object(name: string): JsonObject {
    const { namespace, resource, bytes, finalizers } = this.options;
    const { process } = this.parts;
    const beat = String(this.beats++);
    const kept = finalizers && process.prng.chance(1, 3) ? { finalizers: [finalizer] } : {};
    const metadata = { name, namespace, ...kept };
    if (resource === "events") {
      return {
        apiVersion: "v1",
        kind: "Event",
        metadata,
        involvedObject: { apiVersion: "v1", kind: "ConfigMap", name: "beat", namespace },
        reason: "Beat",
        message: beat,
        type: "Normal",
        firstTimestamp: `${microTime(process).slice(0, 19)}Z`,
        lastTimestamp: `${microTime(process).slice(0, 19)}Z`,
        source: { component: process.name },
      };
    }
    const ballast = bytes === 0 ? {} : { ballast: "x".repeat(bytes) };
    return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { beat, writer: process.name, ...ballast } };
  }

  private count(method: string, answer: ClientAnswer): void {
    const outcome = answer.ok ? String(answer.status) : answer.failure;
    this.parts.process.trace("writer.answer", method, outcome);
    this.answers.set(outcome, (this.answers.get(outcome) ?? 0) + 1);
  }
}
