/**
 * The history of a workload's templates, as ControllerRevisions: one a template, numbered; a template that is taken up
 * again gets the newest number. Source: the published history helpers.
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { claim } from "../shared/claims.ts";
import { collectionOf, controllerReference, type KindRow, kindRow, pathTo } from "../shared/controller.ts";
import { bodyOf, type Informer, type Informers } from "../shared/informers.ts";
import { selectorOf } from "../shared/selecting.ts";
import { call, isGood, type Steps } from "../shared/steps.ts";
import type { ControllerRevision, PodTemplate, Stored } from "../shared/stored.ts";
import { templateHash } from "./template-hash.ts";

const revisionRow = kindRow("apps/v1", "ControllerRevision", "controllerrevisions");

export interface WithTemplate extends Stored {
  readonly spec: { readonly selector?: JsonObject; readonly template: PodTemplate };
  readonly status?: { readonly collisionCount?: number };
}

export class RevisionHistory {
  private readonly revisions: Informer<ControllerRevision>;
  private readonly row: KindRow;
  /** Label on a revision and its pods. */
  private readonly hashLabel: string;

  constructor(informers: Informers, row: KindRow, hashLabel: string) {
    this.revisions = informers.of<ControllerRevision>(collectionOf(revisionRow));
    this.row = row;
    this.hashLabel = hashLabel;
  }

  /** In the order of their numbers; undefined when one could not be claimed. */
  *of(owner: WithTemplate): Steps<readonly ControllerRevision[] | undefined> {
    const { uid, namespace = "" } = owner.metadata;
    const candidates = [...this.revisions.controlledBy(uid), ...this.revisions.orphansIn(namespace)];
    const selector = selectorOf(owner.spec.selector);
    const claimed = yield* claim({ owner, ownerRow: this.row, candidates, row: revisionRow, selector });
    return claimed === undefined ? undefined : [...claimed].sort(byNumber);
  }

  /** The revision of the present template, made or renumbered if it has to be. Undefined when that was refused. */
  *present(owner: WithTemplate, history: readonly ControllerRevision[]): Steps<ControllerRevision | undefined> {
    const data = dataOf(owner.spec.template);
    const next = (history.at(-1)?.revision ?? 0) + 1;
    const equal = [...history].reverse().find((revision) => jsonEqual(revision.data as Json, data));
    if (equal !== undefined) {
      if (equal === history.at(-1)) return equal;
      const { apiVersion, kind } = revisionRow;
      const body = bodyOf({ ...equal, apiVersion, kind, revision: next });
      const answer = yield* call({ method: "PUT", path: pathTo(revisionRow, equal), body });
      return isGood(answer) ? (answer.object as unknown as ControllerRevision) : undefined;
    }
    for (let collisions = owner.status?.collisionCount ?? 0; ; collisions++) {
      const made = yield* this.make(owner, data, next, collisions);
      if (made !== "taken") return made;
    }
  }

  hashOf({ metadata }: ControllerRevision): string {
    return metadata.labels?.[this.hashLabel] ?? metadata.name.slice(metadata.name.lastIndexOf("-") + 1);
  }

  /** The oldest beyond the limit, but for those in use. */
  *truncate(history: readonly ControllerRevision[], inUse: ReadonlySet<string>, limit: number): Steps<void> {
    const idle = history.filter(({ metadata }) => !inUse.has(metadata.name));
    for (const revision of idle.slice(0, Math.max(0, idle.length - limit))) {
      yield* call({ method: "DELETE", path: pathTo(revisionRow, revision) });
    }
  }

  private *make(
    owner: WithTemplate,
    data: JsonObject,
    revision: number,
    collisions: number,
  ): Steps<ControllerRevision | "taken" | undefined> {
    const { name, namespace = "" } = owner.metadata;
    const hash = templateHash(data, collisions);
    const { apiVersion, kind } = revisionRow;
    const labels = { ...owner.spec.template.metadata?.labels, [this.hashLabel]: hash };
    const ownerReferences = [controllerReference(this.row, owner)];
    const body = bodyOf({
      apiVersion,
      kind,
      metadata: { name: `${name}-${hash}`, namespace, labels, ownerReferences },
      data,
      revision,
    });
    const answer = yield* call({ method: "POST", path: collectionOf(revisionRow, namespace), body });
    if (isGood(answer)) return answer.object as unknown as ControllerRevision;
    if (answer.status !== 409) return undefined;
    const there = yield* call({ method: "GET", path: `${collectionOf(revisionRow, namespace)}/${name}-${hash}` });
    const present = there.object as unknown as ControllerRevision | undefined;
    if (there.status !== 200 || present === undefined) return undefined;
    return jsonEqual(present.data as Json, data) ? present : "taken";
  }
}

/** What a rollback puts back. */
function dataOf(template: PodTemplate): JsonObject {
  return bodyOf({ spec: { template: { ...template, $patch: "replace" } } });
}

/** The template that a revision holds. */
export function templateIn({ data }: ControllerRevision): PodTemplate {
  const { $patch: _, ...template } = (((data as JsonObject)["spec"] as JsonObject)["template"] ?? {}) as JsonObject;
  return template as unknown as PodTemplate;
}

function byNumber(left: ControllerRevision, right: ControllerRevision): number {
  return left.revision - right.revision || compareBytes(left.metadata.name, right.metadata.name);
}
