/**
 * Rolls Deployments out: a ReplicaSet a template, a revision each, as many pods too many and too few as the strategy
 * allows, and in the status what there is and whether it goes on.
 * Source: the published deployment controller.
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import { formatTime } from "../../../wire/time.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { ControlAnswer } from "../../client/control-client.ts";
import { EventRecorder, unixSeconds } from "../event-recorder.ts";
import type { Outcome, WorkQueue } from "../../client/work-queue.ts";
import { claim } from "../shared/claims.ts";
import {
  collectionOf,
  type ControlParts,
  controllerReference,
  isOfTerminatingNamespace,
  kindRow,
  messageOf,
  pathTo,
  podRow,
  queueOf,
  subjectOf,
} from "../shared/controller.ts";
import { bodyOf, controllerOf, type Informer, keyOf } from "../shared/informers.ts";
import { isTerminated, secondsOf } from "../shared/pods.ts";
import { selectorOf } from "../shared/selecting.ts";
import { call, isGood, type Steps } from "../shared/steps.ts";
import type { Condition, Deployment, Pod, ReplicaSet } from "../shared/stored.ts";
import {
  byAge,
  countedStatus,
  type DeploymentStatus,
  hashLabel,
  hasProgressed,
  isComplete,
  isInUse,
  isOverdue,
  isRolling,
  newSetOf,
  newSetReplicas,
  oldSetsShrunk,
  proportions,
  replicasOf,
  withCondition,
} from "./rollout.ts";
import { replicaSets } from "./replica-sets.ts";
import {
  type AnnotationNames,
  annotationNames,
  countIn,
  newSetAnnotations,
  revisionOf,
  sizeAnnotations,
} from "./set-annotations.ts";
import { templateHash } from "./template-hash.ts";

const row = kindRow("apps/v1", "Deployment", "deployments");
const setRow = replicaSets.row;
const noHistoryLimit = 2_147_483_647;

/** A request was refused: the look at this Deployment ends, and another one follows unless nothing would come of it. */
class Refused extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome = "again") {
    super("refused");
    this.outcome = outcome;
  }
}

/** What one look at a Deployment works on; what it writes is seen by its later steps. */
interface Look {
  deployment: Deployment;
  newSet: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

export class DeploymentController {
  private readonly parts: ControlParts;
  private readonly names: AnnotationNames;
  private readonly deployments: Informer<Deployment>;
  private readonly sets: Informer<ReplicaSet>;
  private readonly pods: Informer<Pod>;
  private readonly events: EventRecorder;
  private readonly queue: WorkQueue<string>;

  constructor(parts: ControlParts) {
    const { client, informers, dialect } = parts;
    this.parts = parts;
    this.names = annotationNames(dialect);
    this.deployments = informers.of<Deployment>(collectionOf(row));
    this.sets = informers.of<ReplicaSet>(collectionOf(setRow));
    this.pods = informers.of<Pod>(collectionOf(podRow));
    this.events = new EventRecorder(client, "deployment-controller");
    this.queue = queueOf(parts, "deployment", (key) => this.sync(key));
  }

  start(): void {
    const look = (deployment: Deployment): void => this.queue.add(keyOf(deployment));
    this.deployments.hear({ changed: look, gone: look });
    this.sets.hear({
      changed: (set, before) => {
        const owner = this.ownerOf(set);
        const former = before === undefined ? undefined : this.ownerOf(before);
        if (former !== undefined && former !== owner) look(former);
        if (owner !== undefined) look(owner);
        else if (controllerOf(set) === undefined) this.offer(set);
      },
      gone: (set) => {
        const owner = this.ownerOf(set);
        if (owner !== undefined) look(owner);
      },
    });
    // A Deployment that replaces all at once waits for the end of the old pods, of which no set tells.
    this.pods.hear({
      changed: (pod) => {
        if (isTerminated(pod)) this.hearOfEnd(pod);
      },
      gone: (pod) => this.hearOfEnd(pod),
    });
  }

  private hearOfEnd(pod: Pod): void {
    const owner = controllerOf(pod);
    const set = owner === undefined ? undefined : this.sets.get(`${pod.metadata.namespace}/${owner.name}`);
    const deployment = set === undefined ? undefined : this.ownerOf(set);
    if (deployment !== undefined && !isRolling(deployment)) this.queue.add(keyOf(deployment));
  }

  private ownerOf(set: ReplicaSet): Deployment | undefined {
    const owner = controllerOf(set);
    if (owner?.kind !== row.kind) return undefined;
    const deployment = this.deployments.get(`${set.metadata.namespace}/${owner.name}`);
    return deployment?.metadata.uid === owner.uid ? deployment : undefined;
  }

  private offer(set: ReplicaSet): void {
    for (const deployment of this.deployments.inNamespace(set.metadata.namespace ?? "")) {
      const selector = selectorOf(deployment.spec.selector);
      if (!selector.empty && selector.matches(set.metadata.labels)) this.queue.add(keyOf(deployment));
    }
  }

  private *sync(key: string): Steps<Outcome> {
    const deployment = this.deployments.get(key);
    if (deployment === undefined) return "done";
    const selector = selectorOf(deployment.spec.selector);
    if (selector.empty) {
      const message = "This deployment is selecting all pods. A non-empty selector is required.";
      this.events.tell(subjectOf(row, deployment), "Warning", "SelectingAll", message);
      return "done";
    }
    const { namespace = "", uid, deletionTimestamp } = deployment.metadata;
    const candidates = [...this.sets.controlledBy(uid), ...this.sets.orphansIn(namespace)];
    const sets = yield* claim({ owner: deployment, ownerRow: row, candidates, row: setRow, selector });
    if (sets === undefined) return "again";
    const newSet = newSetOf(deployment, sets);
    const look: Look = { deployment, newSet, old: sets.filter((set) => set !== newSet) };
    try {
      if (deletionTimestamp !== undefined) yield* this.writeCountedStatus(look);
      else yield* this.advance(look, sets);
      return "done";
    } catch (error) {
      if (error instanceof Refused) return error.outcome;
      throw error;
    }
  }

  private *advance(look: Look, sets: readonly ReplicaSet[]): Steps<void> {
    yield* this.tellOfPause(look);
    const { deployment } = look;
    const wanted = replicasOf(deployment);
    const isScaled = sets
      .filter(isInUse)
      .some((set) => (countIn(set, this.names.desiredReplicas) ?? wanted) !== wanted);
    if (deployment.spec.paused === true || isScaled) yield* this.scale(look);
    else if (isRolling(deployment)) yield* this.roll(look);
    else yield* this.recreate(look);
  }

  /** A pause and its end are told as a condition, so that its deadline does not run meanwhile. */
  private *tellOfPause(look: Look): Steps<void> {
    const { spec, status } = look.deployment;
    const condition = status?.conditions?.find(({ type }) => type === "Progressing");
    if (!hasDeadline(look.deployment) || condition?.reason === "ProgressDeadlineExceeded") return;
    const wasPaused = condition?.reason === "DeploymentPaused";
    const isPaused = spec.paused === true;
    if (isPaused === wasPaused) return;
    const said = isPaused
      ? { status: "Unknown", reason: "DeploymentPaused", message: "Deployment is paused" }
      : { status: "Unknown", reason: "DeploymentResumed", message: "Deployment is resumed" };
    this.say(look, { type: "Progressing", ...said });
    yield* this.writeDeployment(look);
  }

  private *scale(look: Look): Steps<void> {
    yield* this.keepRevision(look, false);
    yield* this.distribute(look);
    if (look.deployment.spec.paused === true) yield* this.cleanUp(look);
    yield* this.writeCountedStatus(look);
  }

  private *distribute(look: Look): Steps<void> {
    const { deployment, newSet } = look;
    const wanted = replicasOf(deployment);
    const active = allOf(look).filter(isInUse);
    const only = active.length === 0 ? (newSet ?? byAge(look.old).at(-1)) : active.length === 1 ? active[0] : undefined;
    if (only !== undefined) {
      if (replicasOf(only) !== wanted) yield* this.resize(look, only, wanted);
      return;
    }
    if (newSet !== undefined && isSaturated(deployment, newSet, this.names)) {
      for (const set of look.old.filter(isInUse)) yield* this.resize(look, set, 0);
      return;
    }
    if (!isRolling(deployment)) return;
    const sizes = proportions(deployment, active, (set) => countIn(set, this.names.maxReplicas));
    for (const [set, size] of sizes) yield* this.resize(look, set, size);
  }

  /** 1. The new set grows as far as the surge allows. 2. Old ones shrink as far as enough are available. */
  private *roll(look: Look): Steps<void> {
    yield* this.keepRevision(look, true);
    const newSet = look.newSet as ReplicaSet;
    const size = newSetReplicas(look.deployment, allOf(look), replicasOf(newSet));
    const wanted = replicasOf(look.deployment);
    const next = replicasOf(newSet) > wanted ? wanted : size;
    if (next !== replicasOf(newSet)) yield* this.resize(look, newSet, next);
    else {
      const shrunk = oldSetsShrunk(look.deployment, newSet, look.old.filter(isInUse));
      for (const [set, less] of shrunk) yield* this.resize(look, set, less);
      if (shrunk.length === 0 && isComplete(look.deployment, look.deployment.status ?? {})) yield* this.cleanUp(look);
    }
    yield* this.writeProgress(look);
  }

  /** 1. Old sets go to nothing. 2. When their pods have ended, the new set is made. */
  private *recreate(look: Look): Steps<void> {
    yield* this.keepRevision(look, false);
    const inUse = look.old.filter(isInUse);
    for (const set of inUse) yield* this.resize(look, set, 0);
    const isRunning = look.old.some(({ metadata }) =>
      this.pods.controlledBy(metadata.uid).some((pod) => !isTerminated(pod)),
    );
    if (inUse.length === 0 && !isRunning) {
      yield* this.keepRevision(look, true);
      const newSet = look.newSet as ReplicaSet;
      const wanted = replicasOf(look.deployment);
      if (replicasOf(newSet) !== wanted) yield* this.resize(look, newSet, wanted);
      if (isComplete(look.deployment, look.deployment.status ?? {})) yield* this.cleanUp(look);
    }
    yield* this.writeProgress(look);
  }

  /** The set of the present template has the newest revision, and so has the Deployment. With `make`, it is made. */
  private *keepRevision(look: Look, make: boolean): Steps<void> {
    const revision = look.old.reduce((most, set) => Math.max(most, revisionOf(set, this.names)), 0) + 1;
    if (look.newSet === undefined) {
      if (make) yield* this.makeSet(look, revision);
      return;
    }
    const { newSet, deployment } = look;
    const present = newSet.metadata.annotations ?? {};
    const annotations = newSetAnnotations(deployment, present, revision, false, this.names);
    const { minReadySeconds } = deployment.spec;
    if (!jsonEqual(present, annotations) || (newSet.spec.minReadySeconds ?? 0) !== (minReadySeconds ?? 0)) {
      const spec = { ...newSet.spec, minReadySeconds: minReadySeconds ?? 0 };
      yield* this.writeSet(look, newSet, { ...newSet, metadata: { ...newSet.metadata, annotations }, spec });
    }
    const isSaid = deployment.status?.conditions?.some(({ type }) => type === "Progressing") ?? false;
    if (hasDeadline(deployment) && !isSaid) {
      const message = `Found new replica set ${JSON.stringify(newSet.metadata.name)}`;
      this.say(look, { type: "Progressing", status: "True", reason: "FoundNewReplicaSet", message });
    }
    this.revise(look, annotations[this.names.revision] ?? String(revision));
    if (look.deployment !== deployment) yield* this.writeDeployment(look);
  }

  private *makeSet(look: Look, revision: number): Steps<void> {
    const { deployment } = look;
    const { namespace = "", name } = deployment.metadata;
    const hash = templateHash(deployment.spec.template, deployment.status?.collisionCount);
    const replicas = newSetReplicas(deployment, look.old, 0);
    const set = newSetBody(deployment, hash, replicas, newSetAnnotations(deployment, {}, revision, true, this.names));
    const setName = `${name}-${hash}`;
    const answer = yield* call({ method: "POST", path: collectionOf(setRow, namespace), body: set });
    const made = isGood(answer) ? (answer.object as unknown as ReplicaSet) : undefined;
    const mine = made ?? (answer.status === 409 ? yield* this.ownSet(look, setName) : undefined);
    if (mine === undefined) yield* this.failToMake(look, setName, answer);
    look.newSet = mine;
    if (made !== undefined && replicas > 0) {
      this.tellOfScale(deployment, `Scaled up replica set ${setName} from 0 to ${replicas}`);
    }
    if (made !== undefined && hasDeadline(deployment)) {
      const message = `Created new replica set ${JSON.stringify(setName)}`;
      this.say(look, { type: "Progressing", status: "True", reason: "NewReplicaSetCreated", message });
    }
    this.revise(look, String(revision));
    if (look.deployment !== deployment) yield* this.writeDeployment(look);
  }

  /** The name is taken: by the very set that the cache does not show yet, or by another template with the same sum. */
  private *ownSet({ deployment }: Look, name: string): Steps<ReplicaSet | undefined> {
    const { object, status } = yield* call({
      method: "GET",
      path: `${collectionOf(setRow, deployment.metadata.namespace)}/${name}`,
    });
    const set = object as unknown as ReplicaSet;
    const isMine =
      status === 200 && controllerOf(set)?.uid === deployment.metadata.uid && newSetOf(deployment, [set]) !== undefined;
    return isMine ? set : undefined;
  }

  private *failToMake(look: Look, setName: string, answer: ControlAnswer): Steps<never> {
    const { deployment } = look;
    if (isOfTerminatingNamespace(answer)) throw new Refused("done");
    if (answer.status === 409) {
      const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
      look.deployment = { ...deployment, status: { ...deployment.status, collisionCount } };
    } else {
      const message = `Failed to create new replica set ${JSON.stringify(setName)}: ${messageOf(answer)}`;
      if (hasDeadline(deployment)) {
        this.say(look, { type: "Progressing", status: "False", reason: "ReplicaSetCreateError", message });
      }
      this.events.tell(subjectOf(row, deployment), "Warning", "ReplicaSetCreateError", message);
    }
    if (look.deployment !== deployment) yield* this.writeDeployment(look);
    throw new Refused();
  }

  /** Its size, and what it is told of the Deployment's. */
  private *resize(look: Look, set: ReplicaSet, replicas: number): Steps<void> {
    const before = replicasOf(set);
    const present = set.metadata.annotations ?? {};
    const annotations = { ...present, ...sizeAnnotations(look.deployment, this.names) };
    if (before === replicas && jsonEqual(present, annotations)) return;
    yield* this.writeSet(look, set, {
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, replicas },
    });
    if (before === replicas) return;
    const way = before < replicas ? "up" : "down";
    const message = `Scaled ${way} replica set ${set.metadata.name} from ${before} to ${replicas}`;
    this.tellOfScale(look.deployment, message);
  }

  private *writeSet(look: Look, old: ReplicaSet, set: ReplicaSet): Steps<void> {
    const { apiVersion, kind } = setRow;
    const answer = yield* call({
      method: "PUT",
      path: pathTo(setRow, set),
      body: bodyOf({ ...set, apiVersion, kind }),
    });
    if (!isGood(answer)) throw new Refused();
    if (look.newSet === old) look.newSet = answer.object as unknown as ReplicaSet;
  }

  /** Of sets out of use, the oldest beyond those that a rollback may need. */
  private *cleanUp({ deployment, old }: Look): Steps<void> {
    const limit = deployment.spec.revisionHistoryLimit ?? noHistoryLimit;
    if (limit === noHistoryLimit) return;
    const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const byRevision = [...alive].sort(
      (left, right) =>
        revisionOf(left, this.names) - revisionOf(right, this.names) ||
        compareBytes(left.metadata.name, right.metadata.name),
    );
    for (const set of byRevision.slice(0, Math.max(0, alive.length - limit))) {
      const { generation = 0 } = set.metadata;
      const isIdle = (set.status?.replicas ?? 0) === 0 && generation <= (set.status?.observedGeneration ?? 0);
      if (!isIdle || isInUse(set)) continue;
      const answer = yield* call({ method: "DELETE", path: pathTo(setRow, set) });
      if (!isGood(answer) && answer.status !== 404) throw new Refused();
    }
  }

  private *writeCountedStatus(look: Look): Steps<void> {
    const status = countedStatus(look.deployment, look.newSet, allOf(look), this.now());
    yield* this.writeStatus(look, status);
  }

  /** What there is, and whether it goes on. */
  private *writeProgress(look: Look): Steps<void> {
    const { deployment, newSet } = look;
    const all = allOf(look);
    const counted = countedStatus(deployment, newSet, all, this.now());
    let conditions = counted.conditions ?? [];
    if (!hasDeadline(deployment)) conditions = conditions.filter(({ type }) => type !== "Progressing");
    else conditions = this.progress(look, counted, conditions);
    const failure = failureIn(newSet, look.old);
    conditions =
      failure === undefined
        ? conditions.filter(({ type }) => type !== "ReplicaFailure")
        : withCondition(conditions, { type: "ReplicaFailure", ...pick(failure) }, this.now());
    const status = { ...counted, conditions };
    if (jsonEqual(bodyOf(deployment.status ?? {}), bodyOf(status))) this.lookAgainByDeadline(deployment, status);
    else yield* this.writeStatus(look, status);
  }

  private progress(
    { deployment, newSet }: Look,
    counted: DeploymentStatus,
    conditions: readonly Condition[],
  ): readonly Condition[] {
    const type = "Progressing";
    const old = conditions.find((condition) => condition.type === type);
    const isOver =
      (counted.replicas ?? 0) === (counted.updatedReplicas ?? 0) && old?.reason === "NewReplicaSetAvailable";
    if (isOver) return conditions;
    const what =
      newSet === undefined
        ? `Deployment ${JSON.stringify(deployment.metadata.name)}`
        : `ReplicaSet ${JSON.stringify(newSet.metadata.name)}`;
    if (isComplete(deployment, counted)) {
      const message = `${what} has successfully progressed.`;
      return withCondition(conditions, { type, status: "True", reason: "NewReplicaSetAvailable", message }, this.now());
    }
    if (hasProgressed(deployment, counted)) {
      const message = `${what} is progressing.`;
      const others = conditions.filter((condition) => condition !== old);
      const made = withCondition(others, { type, status: "True", reason: "ReplicaSetUpdated", message }, this.now());
      const since = old?.status === "True" ? old.lastTransitionTime : undefined;
      return since === undefined
        ? made
        : made.map((each) => (each.type === type ? { ...each, lastTransitionTime: since } : each));
    }
    if (isOverdue(deployment, conditions, this.nowSeconds())) {
      const message = `${what} has timed out progressing.`;
      return withCondition(
        conditions,
        { type, status: "False", reason: "ProgressDeadlineExceeded", message },
        this.now(),
      );
    }
    return conditions;
  }

  /** Nothing tells that nothing happens: the deadline has to be looked at. */
  private lookAgainByDeadline(deployment: Deployment, status: DeploymentStatus): void {
    const condition = status.conditions?.find(({ type }) => type === "Progressing");
    if (!hasDeadline(deployment) || condition === undefined || isComplete(deployment, status)) return;
    if (condition.reason === "ProgressDeadlineExceeded" || deployment.spec.paused === true) return;
    const deadline = secondsOf(condition.lastUpdateTime) + (deployment.spec.progressDeadlineSeconds ?? 0);
    this.queue.addAfter(keyOf(deployment), Math.max(1, deadline - this.nowSeconds() + 1) * 1_000_000);
  }

  private *writeStatus(look: Look, status: DeploymentStatus): Steps<void> {
    if (jsonEqual(bodyOf(look.deployment.status ?? {}), bodyOf(status))) return;
    look.deployment = { ...look.deployment, status };
    yield* this.writeDeployment(look);
  }

  /** Its status, and its annotations with it. */
  private *writeDeployment(look: Look): Steps<void> {
    const { apiVersion, kind } = row;
    const body = bodyOf({ ...look.deployment, apiVersion, kind });
    const answer = yield* call({ method: "PUT", path: `${pathTo(row, look.deployment)}/status`, body });
    if (!isGood(answer)) throw new Refused(answer.status === 404 ? "done" : "again");
    look.deployment = answer.object as unknown as Deployment;
  }

  private say(look: Look, condition: Pick<Condition, "type" | "status" | "reason" | "message">): void {
    const { status } = look.deployment;
    const conditions = withCondition(status?.conditions ?? [], condition, this.now());
    look.deployment = { ...look.deployment, status: { ...status, conditions } };
  }

  private revise(look: Look, revision: string): void {
    const { metadata } = look.deployment;
    if (metadata.annotations?.[this.names.revision] === revision) return;
    const annotations = { ...metadata.annotations, [this.names.revision]: revision };
    look.deployment = { ...look.deployment, metadata: { ...metadata, annotations } };
  }

  private tellOfScale(deployment: Deployment, message: string): void {
    this.events.tell(subjectOf(row, deployment), "Normal", "ScalingReplicaSet", message);
  }

  private nowSeconds(): number {
    return unixSeconds(this.parts.client.process.clock);
  }

  private now(): string {
    return formatTime(this.nowSeconds());
  }
}

const hasDeadline = ({ spec }: Deployment): boolean =>
  spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== noHistoryLimit;

const allOf = ({ newSet, old }: Look): readonly ReplicaSet[] => (newSet === undefined ? old : [...old, newSet]);

const pick = ({ status, reason = "", message = "" }: Condition) => ({ status, reason, message });

function isSaturated(deployment: Deployment, set: ReplicaSet, names: AnnotationNames): boolean {
  const wanted = replicasOf(deployment);
  return (
    countIn(set, names.desiredReplicas) === wanted &&
    replicasOf(set) === wanted &&
    (set.status?.availableReplicas ?? 0) === wanted
  );
}

function failureIn(newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): Condition | undefined {
  const of = (set: ReplicaSet | undefined): Condition | undefined =>
    set?.status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  return of(newSet) ?? old.map(of).find((condition) => condition !== undefined);
}

function newSetBody(
  deployment: Deployment,
  hash: string,
  replicas: number,
  annotations: Readonly<Record<string, string>>,
) {
  const { selector, template, minReadySeconds } = deployment.spec;
  const { namespace, name } = deployment.metadata;
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const matchLabels = { ...(selector["matchLabels"] as object | undefined), [hashLabel]: hash };
  return bodyOf({
    apiVersion: setRow.apiVersion,
    kind: setRow.kind,
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations,
      ownerReferences: [controllerReference(row, deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  });
}
