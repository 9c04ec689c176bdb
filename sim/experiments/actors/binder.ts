/**
 * Keeps so many pods, each bound to a node that it draws, and now and then replaces one: deletes it, waits until its
 * node has let it go, and makes one of the same name elsewhere. One of a name at a time, as stateful sets promise.
 */
import type { ClientOf } from "../../../scenarios/schema.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros } from "../../kernel/types.ts";
import { type Actor, type ActorParts, textAt } from "./actor.ts";

const pods = "/api/v1/namespaces/default/pods";
const deadlineMicros: Micros = 10_000_000;

export class Binder implements Actor {
  private readonly parts: ActorParts;
  private readonly options: ClientOf<"binder">;
  /** Of the pods that it keeps. */
  private readonly names: readonly string[];
  private nodes: readonly string[] = [];
  private present: readonly string[] = [];
  private created = 0;
  private deleted = 0;

  constructor(parts: ActorParts, options: ClientOf<"binder">) {
    this.parts = parts;
    this.options = options;
    this.names = Array.from({ length: options.pods }, (_, index) => `pod-${index + 1}`);
  }

  start(): void {
    this.look();
    this.replaceLater();
  }

  pending(): string | undefined {
    const { pods: wanted } = this.options;
    return this.present.length >= wanted ? undefined : `${this.present.length} of its ${wanted} pods are there`;
  }

  counts(): Readonly<Record<string, number>> {
    return { created: this.created, deleted: this.deleted };
  }

  private look(): void {
    const { api, process } = this.parts;
    const again = (): void => void process.clock.after(this.options.every, () => this.look());
    api.call({ method: "GET", path: "/api/v1/nodes" }, deadlineMicros, (nodes) => {
      if (nodes.ok && nodes.status === 200) this.nodes = namesIn(nodes.object);
      api.call({ method: "GET", path: pods }, deadlineMicros, (list) => {
        if (!list.ok || list.status !== 200) return again();
        this.present = namesIn(list.object);
        const there = new Set(this.present);
        const missing = this.names.filter((name) => !there.has(name));
        this.create(missing, again);
      });
    });
  }

  private create(names: readonly string[], done: () => void, at = 0): void {
    const name = names[at];
    if (name === undefined || this.nodes.length === 0) return done();
    const { api, process } = this.parts;
    const nodeName = this.nodes[process.prng.intInclusive(0, this.nodes.length - 1)] as string;
    const body: JsonObject = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { app: "bound" } },
      spec: { ...this.specOf(), nodeName },
    };
    api.call({ method: "POST", path: pods, body }, deadlineMicros, (answer) => {
      if (answer.ok && answer.status === 201) this.created++;
      process.trace("binder.bound", name, nodeName, answer.ok ? answer.status : answer.failure);
      this.create(names, done, at + 1);
    });
  }

  private specOf(): JsonObject {
    const { specs } = this.options;
    // One alone needs no draw.
    return specs[specs.length === 1 ? 0 : this.parts.process.prng.intInclusive(0, specs.length - 1)] as JsonObject;
  }

  private replaceLater(): void {
    const { replace, until = Infinity } = this.options;
    if (replace === undefined) return;
    const { api, process } = this.parts;
    process.clock.after(replace, () => {
      if (process.clock.nowMicros() >= until) return;
      const name = `pod-${process.prng.intInclusive(1, this.options.pods)}`;
      api.call({ method: "DELETE", path: `${pods}/${name}` }, deadlineMicros, (answer) => {
        if (answer.ok && answer.status < 300) this.deleted++;
      });
      this.replaceLater();
    });
  }
}

const namesIn = (list: JsonObject): readonly string[] =>
  ((list["items"] ?? []) as readonly JsonObject[]).map((item) => textAt(item, "metadata", "name"));
