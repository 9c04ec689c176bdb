/** What a Deployment writes on its ReplicaSets: its own annotations, revisions, sizes. Source: the published helpers. */
import type { Dialect } from "../../../wire/dialect.ts";
import { bounds, replicasOf } from "./rollout.ts";
import type { Deployment, ReplicaSet, Stored } from "../shared/stored.ts";

type Annotations = Readonly<Record<string, string>>;

export interface AnnotationNames {
  readonly revision: string;
  readonly revisionHistory: string;
  readonly desiredReplicas: string;
  readonly maxReplicas: string;
  /** Never copied from a Deployment to its sets. */
  readonly kept: ReadonlySet<string>;
}

/** A history longer than this loses its beginning. */
const historyLengthMax = 2000;

export function annotationNames({ labelSuffix }: Dialect): AnnotationNames {
  const of = (word: string): string => `deployment.${labelSuffix}/${word}`;
  const names = {
    revision: of("revision"),
    revisionHistory: of("revision-history"),
    desiredReplicas: of("desired-replicas"),
    maxReplicas: of("max-replicas"),
  };
  const lastApplied = `kubectl.${labelSuffix}/last-applied-configuration`;
  const rollbackTo = "deprecated.deployment.rollback.to";
  return { ...names, kept: new Set([...Object.values(names), lastApplied, rollbackTo]) };
}

export function revisionOf(object: Stored, names: AnnotationNames): number {
  const revision = Number(object.metadata.annotations?.[names.revision] ?? 0);
  return Number.isSafeInteger(revision) ? revision : 0;
}

/** A number that an annotation holds; undefined when it holds none. */
export function countIn({ metadata }: ReplicaSet, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  return text === undefined || !/^\d{1,10}$/.test(text) ? undefined : Number(text);
}

export function sizeAnnotations(deployment: Deployment, names: AnnotationNames): Annotations {
  const replicas = replicasOf(deployment);
  return {
    [names.desiredReplicas]: String(replicas),
    [names.maxReplicas]: String(replicas + bounds(deployment).surge),
  };
}

/** Of the set of the present template. A set that is taken up again keeps the numbers that it had in a history. */
export function newSetAnnotations(
  deployment: Deployment,
  present: Annotations,
  revision: number,
  isNew: boolean,
  names: AnnotationNames,
): Annotations {
  const annotations: Record<string, string> = { ...present };
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!names.kept.has(key)) annotations[key] = value;
  }
  const old = present[names.revision];
  if (old === undefined || Number(old) < revision) {
    annotations[names.revision] = String(revision);
    if (!isNew && old !== undefined) annotations[names.revisionHistory] = longer(present[names.revisionHistory], old);
  }
  return isNew ? { ...annotations, ...sizeAnnotations(deployment, names) } : annotations;
}

function longer(history: string | undefined, revision: string): string {
  let numbers = history === undefined || history === "" ? [] : history.split(",");
  let length = (history ?? "").length;
  while (length + revision.length + 1 > historyLengthMax && numbers.length > 0) {
    length -= (numbers[0] as string).length + 1;
    numbers = numbers.slice(1);
  }
  return [...numbers, revision].join(",");
}
