/**
 * A small controller: ConfigMaps with a number are parents, and each is to have so many children. It follows its
 * collection, compares, and creates what is missing, under names that follow from the parent's, so that a create that
 * it has forgotten of cannot make a second one.
 */
import type { ClientOf } from "../../../scenarios/schema.ts";
import { Informer } from "../../client/informer.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros } from "../../kernel/types.ts";
import { type Actor, type ActorParts, collectionPath, textAt } from "./actor.ts";

const second: Micros = 1_000_000;
const deadlineMicros: Micros = 10_000_000;

export class Replicator implements Actor {
  private readonly parts: ActorParts;
  private readonly options: ClientOf<"replicator">;
  private readonly path: string;
  private readonly informer: Informer;
  private readonly missingChildren: typeof missingChildren;
  private made = 0;
  private created = 0;
  private conflicts = 0;
  /** Parents that it is busy with. */
  private readonly busy = new Set<string>();

  /** `missing` tells what a parent lacks beside the children that are known. */
  constructor(parts: ActorParts, options: ClientOf<"replicator">, missing = missingChildren) {
    this.parts = parts;
    this.options = options;
    this.missingChildren = missing;
    this.path = collectionPath(parts.dialect, "configmaps", options.namespace);
    this.informer = new Informer(parts.process, parts.api, { path: this.path, onChange: () => this.reconcile() });
  }

  start(): void {
    this.informer.start();
    this.makeParents();
    this.look();
  }

  pending(): string | undefined {
    const parents = this.parents();
    if (parents.length < this.options.parents) return `${parents.length} of ${this.options.parents} parents are there`;
    const short = parents.find((parent) => this.missing(parent).length > 0);
    return short === undefined
      ? undefined
      : `${textAt(short, "metadata", "name")} lacks children: ${this.missing(short).length}`;
  }

  counts(): Readonly<Record<string, number>> {
    return { created: this.created, conflicts: this.conflicts, parents: this.parents().length };
  }

  /** As a user would: one a second, tried again until it is there. */
  private makeParents(): void {
    const { process, api } = this.parts;
    const { parents, replicas, until = Infinity, namespace } = this.options;
    process.clock.after(second, () => {
      if (this.made >= parents || process.clock.nowMicros() >= until) return;
      const body: JsonObject = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: `${process.name}-parent-${this.made + 1}`, namespace, labels: { role: "parent" } },
        data: { replicas: String(replicas) },
      };
      api.call({ method: "POST", path: this.path, body }, deadlineMicros, (answer) => {
        if (answer.ok && (answer.status === 201 || answer.status === 409)) this.made++;
        this.makeParents();
      });
    });
  }

  private look(): void {
    this.parts.process.clock.after(2 * second, () => {
      this.reconcile();
      this.look();
    });
  }

  private reconcile(): void {
    for (const parent of this.parents()) this.mend(parent);
  }

  private mend(parent: JsonObject): void {
    const name = textAt(parent, "metadata", "name");
    if (this.busy.has(name) || textAt(parent, "metadata", "deletionTimestamp") !== "") return;
    const missing = this.missing(parent);
    if (missing.length === 0) return;
    this.busy.add(name);
    this.create(parent, missing, () => this.busy.delete(name));
  }

  /** Of its children, those that its copy of the collection does not have. */
  private missing(parent: JsonObject): readonly ChildName[] {
    const uid = textAt(parent, "metadata", "uid");
    const children = [...this.informer.objects.values()].filter((object) => ownerOf(object) === uid);
    return this.missingChildren(parent, children);
  }

  /** One after another. A name that is taken is a child that is there. */
  private create(parent: JsonObject, names: readonly ChildName[], done: () => void): void {
    const [name, ...rest] = names;
    if (name === undefined) return done();
    const { api, process } = this.parts;
    const parentName = textAt(parent, "metadata", "name");
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: parentName, uid: textAt(parent, "metadata", "uid") };
    const body: JsonObject = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        ...name,
        namespace: this.options.namespace,
        ownerReferences: [owner],
      },
    };
    api.call({ method: "POST", path: this.path, body }, deadlineMicros, (answer) => {
      if (answer.ok && answer.status === 201) this.created++;
      else if (answer.ok && answer.status === 409) this.conflicts++;
      process.trace("replicator.created", parentName, answer.ok ? answer.status : answer.failure);
      this.create(parent, rest, done);
    });
  }

  private parents(): readonly JsonObject[] {
    const prefix = `${this.parts.process.name}-parent-`;
    return [...this.informer.objects.values()].filter(
      (object) => textAt(object, "metadata", "name").startsWith(prefix) && textAt(object, "data", "replicas") !== "",
    );
  }
}

/** Whole, or up to what the server makes of it. */
export type ChildName = { readonly name: string } | { readonly generateName: string };

export function missingChildren(parent: JsonObject, children: readonly JsonObject[]): readonly ChildName[] {
  const name = textAt(parent, "metadata", "name");
  const wanted = Number(textAt(parent, "data", "replicas"));
  const names = new Set(children.map((child) => textAt(child, "metadata", "name")));
  const all = Array.from({ length: wanted }, (_, index) => `${name}-${index + 1}`);
  return all.filter((one) => !names.has(one)).map((one) => ({ name: one }));
}

export const ownerOf = (object: JsonObject): string => {
  const { ownerReferences = [] } = (object["metadata"] ?? {}) as { ownerReferences?: readonly { uid?: string }[] };
  return ownerReferences[0]?.uid ?? "";
};
