/**
 * Images of static pods at the API server: made when the node is known, made again when somebody deletes one or the pod
 * changes, taken away when the static pod is gone. Deleting one stops nothing. Source: the facts, Pod sources.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { AgentApi } from "../client/agent-api.ts";
import { ask } from "../client/api-task.ts";
import type { HeldPod } from "../pods/held-pod.ts";
import { piece } from "../piece.ts";
import { run, type Task } from "../task.ts";

export interface MirrorPodsOptions {
  readonly api: AgentApi;
  readonly dialect: Dialect;
  /** As the API server has it; undefined while it is not known. */
  readonly node: () => JsonObject | undefined;
  /** A mirror that was to go could not: it is looked for again. */
  readonly lookAgain: () => void;
  /** The static pod has a mirror now, or another one. */
  readonly mirrored: (held: HeldPod) => void;
}

export class MirrorPods {
  private readonly options: MirrorPodsOptions;
  private readonly byName = new Map<string, JsonObject>();
  private readonly deleting = new Set<string>();

  constructor(options: MirrorPodsOptions) {
    this.options = options;
  }

  isMirror(object: JsonObject): boolean {
    return this.mark(object) !== undefined;
  }

  /** What was known before. */
  heard(object: JsonObject): JsonObject | undefined {
    const before = this.byName.get(fullNameOf(object));
    this.byName.set(fullNameOf(object), object);
    return before;
  }

  gone(object: JsonObject): void {
    const name = fullNameOf(object);
    if (metadataOf(this.byName.get(name) ?? {}).uid === metadataOf(object).uid) this.byName.delete(name);
  }

  get(fullName: string): JsonObject | undefined {
    return this.byName.get(fullName);
  }

  names(): readonly string[] {
    return [...this.byName.keys()];
  }

  /** Whether the API server shows the pod as it is, as far as is known here. */
  isRight(held: HeldPod): boolean {
    const known = this.byName.get(held.fullName);
    if (known === undefined) return false;
    const { uid, deletionTimestamp } = metadataOf(known);
    const isOwn = held.mirror !== undefined && metadataOf(held.mirror).uid === uid;
    return isOwn && deletionTimestamp === undefined && this.mark(known) === this.hashOf(held);
  }

  /** Sees to it that the pod has its mirror. */
  *ensure(held: HeldPod): Task<void> {
    const { api, dialect, node, mirrored } = this.options;
    const known = this.byName.get(held.fullName);
    const hash = this.hashOf(held);
    if (known !== undefined) {
      if (metadataOf(known).deletionTimestamp === undefined && this.mark(known) === hash) {
        if (held.mirror !== known) {
          held.mirror = known;
          mirrored(held);
        }
        return;
      }
      if (!(yield* this.delete(known))) return;
    }
    const owner = node();
    if (owner === undefined) return;
    const body = mirrorOf(held.object, dialect, hash, owner);
    const path = `/api/v1/namespaces/${held.namespace}/pods`;
    const made = yield* ask(api, { method: "POST", path, body });
    if (made.status === 201 && made.object !== undefined) {
      this.byName.set(held.fullName, made.object);
      held.mirror = made.object;
      mirrored(held);
    }
  }

  /** The static pod is gone, and so goes its mirror. */
  drop(fullName: string): void {
    const known = this.byName.get(fullName);
    if (known === undefined) return;
    const { process } = this.options.api;
    const { lookAgain } = this.options;
    piece(
      process,
      "mirror-pods",
      () => `deletion of the mirror of ${fullName}`,
      () => run(this.delete(known), () => {}),
      lookAgain,
    );
  }

  private *delete(mirror: JsonObject): Task<boolean> {
    const { name = "", namespace = "", uid = "" } = metadataOf(mirror);
    if (this.deleting.has(uid)) return false;
    this.deleting.add(uid);
    const body = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0, preconditions: { uid } };
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    let status = 0;
    try {
      ({ status } = yield* ask(this.options.api, { method: "DELETE", path, body }));
    } finally {
      this.deleting.delete(uid);
    }
    const isGone = status === 200 || status === 404 || status === 409;
    if (isGone && this.byName.get(fullNameOf(mirror)) === mirror) this.byName.delete(fullNameOf(mirror));
    return isGone;
  }

  private hashOf({ object, uid }: HeldPod): string {
    return metadataOf(object).annotations?.[`${this.options.dialect.labelSuffix}/config.hash`] ?? uid;
  }

  private mark(object: JsonObject): string | undefined {
    return metadataOf(object).annotations?.[`${this.options.dialect.labelSuffix}/config.mirror`];
  }
}

const fullNameOf = (object: JsonObject): string => `${metadataOf(object).name}_${metadataOf(object).namespace}`;

function mirrorOf(object: JsonObject, { labelSuffix }: Dialect, hash: string, node: JsonObject): JsonObject {
  const { name = "", namespace = "", labels, annotations } = metadataOf(object);
  const owner = metadataOf(node);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [`${labelSuffix}/config.mirror`]: hash },
      ownerReferences: [
        { apiVersion: "v1", kind: "Node", name: owner.name ?? "", uid: owner.uid ?? "", controller: true },
      ],
    },
    spec: object["spec"] ?? {},
  };
}
