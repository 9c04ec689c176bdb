/** Plays a life of one object and judges each step: what the write must have done, and that it did nothing else. */
import type { LifeDelete, LifeStep, LifeWrite } from "../arbitraries/lives.ts";
import { statusIn, type TrialType, valueOf } from "../arbitraries/trial-types.ts";
import type { Answer } from "../client/exchange.ts";
import { type Collection, listOf, objectOf } from "../client/collection.ts";
import { shownAnswer } from "../client/status-document.ts";
import { type ApiObject, isApiObject, type Json, type JsonObject, versionOf } from "../client/types.ts";
import { sameJson, withoutEmpty } from "../model/json-values.ts";
import type { Attempt } from "./attempt.ts";
import { isNothing, nothingPatches, withNothing } from "./degenerate-writes.ts";

const hold = "example.com/hold";
const otherUid = "00000000-0000-4000-8000-000000000000";

/** What the program wants of the object. */
interface Wanted {
  readonly value: string;
  readonly label: string;
  readonly status: string | undefined;
}

export class Life {
  private readonly attempt: Attempt;
  private readonly type: TrialType;
  private readonly collection: Collection;
  private readonly namespace: string | undefined;
  private readonly name: string;
  private readonly apiVersion: string;
  private stored: ApiObject | undefined;
  private wanted: Wanted = { value: "v0", label: "l0", status: undefined };
  private stale: string | undefined;
  /** The last apply, while nothing has happened since. */
  private lastApply = "";
  private count = 0;
  /** Versions of all states that were acknowledged, in order; without those in which the object is being deleted. */
  readonly versions: string[] = [];

  constructor(attempt: Attempt, type: TrialType, collection: Collection, name: string, namespace: string | undefined) {
    this.attempt = attempt;
    this.type = type;
    this.collection = collection;
    this.name = name;
    this.namespace = namespace;
    this.apiVersion = type.prefix(attempt.profile.dialect).split("/").slice(2).join("/");
  }

  /** Of the last object that there was. */
  uid: string | undefined;

  /** False: the type is not served. */
  async begin(): Promise<boolean> {
    this.wanted = { value: this.next("v"), label: this.next("l"), status: undefined };
    const answer = await this.collection.create(this.whole());
    if (answer.status === 404) return false;
    this.took(objectOf(answer));
    this.stale = undefined;
    this.lastApply = "";
    return true;
  }

  async step(step: LifeStep): Promise<void> {
    if (this.stored === undefined && !(await this.begin())) return;
    if (step.do === "delete") await this.delete(step);
    else await this.write(step);
  }

  /** The object goes, with nothing in its way. */
  async end(): Promise<void> {
    if (this.stored === undefined) return;
    succeeded(this.attempt, await this.collection.delete(this.name), "deletion.at-once");
    this.stored = undefined;
  }

  private async write(step: LifeWrite): Promise<void> {
    const { attempt, type, stored } = this;
    if (stored === undefined) return;
    if (type.status === undefined && (step.through === "status" || step.changes === "status")) return;
    // Custom resources have no strategic merge.
    if (type.custom !== undefined && step.verb === "strategic") return;
    // Which fields an apply through status may carry beside it is the type's own affair.
    if (step.through === "status" && step.changes === "label") return;
    if (step.afterSeconds > 0) await attempt.letPass(1000 * Math.min(step.afterSeconds, type.isShortLived ? 60 : 3601));
    const wanted = this.change(step);
    const version = this.versionFor(step);
    const answer = await this.send(step, wanted, version);
    const shown = `${step.dry ? "a dry " : "a "}${step.verb} of ${step.changes} through ${step.through} with ${step.version} version on ${type.plural}`;

    if (version !== undefined && version === this.stale) {
      const requirement =
        step.verb === "put" ? "writes.stale-put" : step.verb === "apply" ? "apply.stale" : "writes.patch-conditional";
      attempt.expect(requirement, answer.status === 409, `409 for ${shown}`, shownAnswer(answer));
      await this.isUntouched(requirement, shown);
      return;
    }
    const promise = step.dry
      ? "dry-run.same-answer"
      : step.verb === "put"
        ? "writes.current-put"
        : step.verb === "apply"
          ? "apply.patches"
          : "objects.verbs"; // prettier-ignore
    const isServed = answer.status !== 415 || step.verb !== "strategic";
    if (!isServed) return; // where strategic patches are not served
    attempt.expect(promise, answer.status === 200, `200 for ${shown}`, shownAnswer(answer));
    const object = objectOf(answer);
    this.isAs(object, wanted, step, shown);
    if (step.dry) {
      await this.isUntouched("dry-run.no-trace", shown);
      return;
    }
    this.judgeChange(stored, object, step, shown, wanted !== this.wanted);
    const read = objectOf(await this.collection.get(this.name));
    attempt.expect(
      "objects.read-back",
      sameJson(withoutEmpty(read), withoutEmpty(object)),
      `after ${shown}: ${brief(object)}`,
      brief(read),
    );
    this.wanted = wanted;
    this.took(object);
    if (step.spelling % 2 === 0) await this.isListed(object, shown);
    // What an apply says of the status is not the object's here, and is then merged into it and left out, at a time of its own.
    const isOdd = step.verb === "apply" && step.changes === "status" && step.through === "object";
    if (step.spelling % 3 !== 2 && !isOdd) await this.isIdle(step, wanted, object, shown);
  }

  /** What has been written is written again a second later: nothing changes, not even who wrote it and when. */
  private async isIdle(step: LifeWrite, wanted: Wanted, object: ApiObject, shown: string): Promise<void> {
    const { attempt, collection } = this;
    await attempt.letPass(1000);
    const path = step.through === "status" ? `${this.name}/status` : this.name;
    const answer = step.verb === "put" ? await collection.put(path, object) : await this.send(step, wanted, undefined);
    const requirement = step.verb === "apply" ? "apply.no-op" : "versions.no-op";
    attempt.expect(requirement, answer.status === 200, `200 for ${shown}, again`, shownAnswer(answer));
    const isSame = sameJson(withoutEmpty(answer.json), withoutEmpty(object));
    attempt.expect(requirement, isSame, `${brief(object)} after ${shown}, again`, shownAnswer(answer));
  }

  /** A list at exactly the version shows the object as it then was. A version may be forgotten. */
  private async isListed(object: ApiObject, shown: string): Promise<void> {
    // The one before, where there is one: a list of the present would not show it.
    const resourceVersion = this.stale ?? versionOf(object);
    const fieldSelector = `metadata.name=${this.name}`;
    const answer = await this.collection.list({ fieldSelector, resourceVersion, resourceVersionMatch: "Exact" });
    if (answer.status === 410 || answer.status === 504) return;
    const list = listOf(answer);
    this.attempt.expect(
      "versions.list-exact",
      list.resourceVersion === resourceVersion,
      `a list at ${resourceVersion} after ${shown}`,
      list.resourceVersion,
    ); // prettier-ignore
    const found = list.items.find(({ metadata }) => metadata.uid === object.metadata.uid);
    const isSame = found !== undefined && versionOf(found) === resourceVersion;
    this.attempt.expect("versions.list-exact", isSame, `${brief(object)} in it`, brief(found));
  }

  /** What the object is to be after the write. What a path has no say in stays. */
  private change({ changes, through }: LifeWrite): Wanted {
    const { wanted } = this;
    if (changes === "value" && through === "object") return { ...wanted, value: this.next("v") };
    if (changes === "label") return { ...wanted, label: this.next("l") };
    if (changes === "status" && through === "status") return { ...wanted, status: this.nextStatus() };
    return wanted;
  }

  /** Whoever needs a version names one. */
  private versionFor({ version, verb }: LifeWrite): string | undefined {
    const current = versionOf(this.stored as ApiObject);
    if (version === "stale" && this.stale !== undefined && this.stale !== current) return this.stale;
    if (version === "none" && !(verb === "put" && this.type.needsVersion)) return undefined;
    return current;
  }

  private send(step: LifeWrite, wanted: Wanted, version: string | undefined): Promise<Answer> {
    const { collection, type } = this;
    const path = step.through === "status" ? `${this.name}/status` : this.name;
    const query = step.dry ? { dryRun: "All" } : {};
    // What the other path keeps is sent along, changed, where nothing may come of it.
    const value = step.through === "status" && step.changes !== "nothing" ? this.next("x") : wanted.value;
    const status = step.through === "object" && step.changes === "status" ? this.nextStatus() : wanted.status;
    const sent = { ...wanted, value, status };
    const versioned: JsonObject = version === undefined ? {} : { resourceVersion: version };
    switch (step.verb) {
      case "put":
        return collection.put(path, this.replaced(sent, versioned, step), { query });
      case "merge":
      case "strategic":
        return collection.patch(path, step.verb, this.merged(step, sent, versioned), { query });
      case "json": {
        const test =
          version === undefined ? [] : [{ op: "replace", path: "/metadata/resourceVersion", value: version }];
        return collection.patch(path, "json", [...test, ...this.operations(step, sent)] as Json[], { query });
      }
      case "apply": {
        const body = this.applied(step, sent, versioned, type.status);
        return collection.patch(path, "apply", body, { query: { ...query, fieldManager: "applier", force: true } });
      }
    }
  }

  /** The object as it was read, with what is wanted in the place of what it has. */
  private replaced(sent: Wanted, versioned: JsonObject, step: LifeWrite): JsonObject {
    const { stored, type } = this;
    const { resourceVersion: _version, ...metadata } = (stored as ApiObject).metadata;
    const labels = { ...metadata.labels, life: sent.label };
    const whole = { ...stored, metadata: { ...metadata, labels, ...versioned } };
    const changed = replacedAt(whole, type.pointer, type.at(sent.value));
    const status =
      sent.status === undefined
        ? {}
        : { status: { ...(stored?.["status"] as JsonObject | undefined), ...type.status?.(sent.status) } };
    return withNothing({ ...changed, ...status }, step.spelling);
  }

  private merged(step: LifeWrite, sent: Wanted, versioned: JsonObject): JsonObject {
    const { type } = this;
    if (step.changes === "nothing") {
      const nothing = nothingPatches[step.spelling % nothingPatches.length] as JsonObject;
      return { ...nothing, metadata: { ...(nothing["metadata"] as JsonObject | undefined), ...versioned } };
    }
    const metadata = { ...versioned, ...(step.changes === "label" ? { labels: { life: sent.label } } : {}) };
    const hasValue = step.changes === "value" || step.through === "status";
    return {
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      ...(hasValue ? this.valuePart(sent.value, step.verb) : {}),
      ...(step.changes === "status" && sent.status !== undefined
        ? { status: type.status?.(sent.status) as JsonObject }
        : {}),
    };
  }

  /** `value` alone where maps lead to it; the list that it is in otherwise. */
  private valuePart(value: string, verb: string): JsonObject {
    const { type } = this;
    const steps = type.pointer.slice(1).split("/");
    if (type.mergeable)
      return steps.reduceRight<Json>((inner, step) => ({ [step]: inner }), type.at(value)) as JsonObject;
    const desired = type.desired(value, this.namespace);
    if (verb === "strategic" && type.plural === "pods")
      return { spec: { containers: [{ name: "main", image: type.at(value) }] } };
    if (type.plural !== "pods") return desired;
    // A merge patch replaces the list: with what the server has put into it.
    const containers = ((this.stored as ApiObject)["spec"] as JsonObject)["containers"] as readonly JsonObject[];
    return { spec: { containers: containers.map((one) => ({ ...one, image: type.at(value) })) } };
  }

  private operations(step: LifeWrite, sent: Wanted): readonly JsonObject[] {
    const { type } = this;
    const label: JsonObject = { op: "replace", path: "/metadata/labels/life", value: sent.label };
    if (step.changes === "label") return [label];
    const value: JsonObject = { op: "replace", path: type.pointer, value: type.at(sent.value) };
    if (step.changes === "value") return [value];
    if (step.changes === "status" && sent.status !== undefined) {
      const old = (this.stored as ApiObject)["status"] as JsonObject | undefined;
      const status: JsonObject = { op: "add", path: "/status", value: { ...old, ...type.status?.(sent.status) } };
      return step.through === "status" ? [value, status] : [status];
    }
    return step.spelling % 2 === 0 ? [] : [{ op: "test", path: "/metadata/labels/life", value: sent.label }, label];
  }

  /** Always the same fields, so that none goes because it is applied no longer. */
  private applied(step: LifeWrite, sent: Wanted, versioned: JsonObject, status: TrialType["status"]): JsonObject {
    const { type } = this;
    const { apiVersion, name } = this;
    const typed = { apiVersion, kind: type.kind };
    if (step.through === "status") {
      const shown = sent.status === undefined ? this.wanted.status : sent.status;
      return {
        ...typed,
        metadata: { name, ...versioned },
        ...(shown === undefined ? {} : { status: status?.(shown) as JsonObject }),
      };
    }
    const metadata = { name, labels: { life: sent.label }, ...versioned };
    const withStatus =
      step.changes === "status" && sent.status !== undefined ? { status: status?.(sent.status) as JsonObject } : {};
    return { ...typed, metadata, ...type.desired(sent.value, this.namespace), ...withStatus };
  }

  /** The object is as it is wanted. */
  private isAs(object: ApiObject, wanted: Wanted, step: LifeWrite, shown: string): void {
    const { attempt, type } = this;
    const apart = "objects.status-apart";
    const own = step.dry ? "dry-run.same-answer" : "objects.read-back";
    const value = type.at(wanted.value);
    const seen = valueOf(type, object);
    const ofValue = step.through === "status" ? apart : own;
    attempt.expect(
      ofValue,
      sameJson(seen, value),
      `${type.pointer}: ${JSON.stringify(value)} after ${shown}`,
      JSON.stringify(seen),
    );
    const label = object.metadata.labels?.["life"];
    attempt.expect(own, label === wanted.label, `label ${wanted.label} after ${shown}`, String(label));
    if (type.status === undefined || (wanted.status === undefined && step.changes !== "status")) return;
    const expected = wanted.status === undefined ? {} : type.status(wanted.status);
    const found = statusIn(object, type.status("s"));
    const ofStatus = step.through === "status" ? own : apart;
    attempt.expect(
      ofStatus,
      sameJson(withoutEmpty(found), withoutEmpty(expected)),
      `status ${JSON.stringify(expected)} after ${shown}`,
      JSON.stringify(found),
    ); // prettier-ignore
  }

  /** A version for each change, and none for what changes nothing; generation with the desired state alone. */
  private judgeChange(before: ApiObject, after: ApiObject, step: LifeWrite, shown: string, isMeant: boolean): void {
    const { attempt, type } = this;
    const isSame = versionOf(after) === versionOf(before);
    const asked =
      step.verb === "apply" ? JSON.stringify(this.applied(step, this.wanted, {}, type.status)) + step.through : "";
    const hasChanged = !sameJson(contentOf(before), contentOf(after));
    if (!isMeant) {
      const broken = isNothing(step) ? "versions.no-op" : "objects.status-apart";
      attempt.expect(broken, !hasChanged, `${brief(before)} after ${shown}`, brief(after));
    }
    if (hasChanged) {
      attempt.expect("versions.last-modification", !isSame, `a new version after ${shown}`, versionOf(after));
    } else if (step.verb !== "apply") {
      const isUntouched = isSame && sameJson(withoutEmpty(before), withoutEmpty(after));
      const requirement = isNothing(step) ? "versions.no-op" : "objects.status-apart";
      attempt.expect(requirement, isUntouched, `${brief(before)} after ${shown}`, brief(after));
    } else if (asked === this.lastApply) {
      const isUntouched = isSame && sameJson(before.metadata["managedFields"], after.metadata["managedFields"]);
      attempt.expect("apply.no-op", isUntouched, `${brief(before)} after ${shown}, again`, brief(after));
    }
    if (!isSame) this.lastApply = "";
    if (step.verb === "apply" && step.changes === "nothing") this.lastApply = asked;
    if (!type.countsGeneration) return;
    const isNewValue = !sameJson(valueOf(type, before), valueOf(type, after));
    const expected = (before.metadata.generation ?? 0) + (isNewValue ? 1 : 0);
    attempt.expect(
      "objects.generation",
      after.metadata.generation === expected,
      `generation ${expected} after ${shown}`,
      String(after.metadata.generation),
    ); // prettier-ignore
  }

  private async isUntouched(requirement: string, shown: string): Promise<void> {
    const read = objectOf(await this.collection.get(this.name));
    const { stored, attempt } = this;
    attempt.expect(
      requirement,
      sameJson(withoutEmpty(read), withoutEmpty(stored)),
      `${brief(stored)}, as before ${shown}`,
      brief(read),
    );
  }

  private async delete({ precondition, dry, held }: LifeDelete): Promise<void> {
    const { attempt, collection, name, type } = this;
    if (held && !dry) {
      this.took(objectOf(await collection.patch(name, "merge", { metadata: { finalizers: [hold] } })));
    }
    const stored = this.stored as ApiObject;
    const { uid } = stored.metadata;
    const stale = this.stale !== versionOf(stored) ? this.stale : undefined;
    const demanded = {
      none: undefined,
      current: { uid, resourceVersion: versionOf(stored) },
      stale: stale === undefined ? undefined : { resourceVersion: stale },
      "other uid": { uid: otherUid },
    }[precondition];
    // A query counts for something only where there is no body.
    const options = {
      ...(demanded === undefined ? {} : { preconditions: demanded }),
      ...(dry ? { dryRun: ["All"] } : {}),
    };
    const answer = await collection.delete(name, options as JsonObject);
    const shown = `${dry ? "a dry " : "a "}deletion with ${JSON.stringify(options)} of ${type.plural}`;
    const isRefused = precondition === "other uid" || (precondition === "stale" && stale !== undefined);
    if (isRefused || dry) {
      const requirement = isRefused ? "deletion.preconditions" : "dry-run.no-trace";
      const status = isRefused ? [409] : [200, 202];
      attempt.expect(
        requirement,
        status.includes(answer.status),
        `${status.join(" or ")} for ${shown}`,
        shownAnswer(answer),
      );
      await this.isUntouched(requirement, shown);
      if (held && !dry) this.took(objectOf(await collection.patch(name, "merge", { metadata: { finalizers: null } })));
      return;
    }
    succeeded(attempt, answer, demanded === undefined ? "deletion.at-once" : "deletion.preconditions-hold");
    const left = await collection.get(name);
    if (held) {
      const isHeld =
        isApiObject(left.json) && left.json.metadata.deletionTimestamp != null && left.json.metadata.uid === uid;
      attempt.expect("deletion.finalizers-hold", isHeld, `${name}, held, after ${shown}`, shownAnswer(left));
      const freed = await collection.patch(name, "merge", { metadata: { finalizers: null } });
      attempt.expect(
        "deletion.any-order",
        freed.status === 200,
        "200 for the end of the last finalizer",
        shownAnswer(freed),
      );
    }
    const gone = held ? await collection.get(name) : left;
    const requirement = held ? "deletion.last-finalizer" : "deletion.at-once";
    attempt.expect(requirement, gone.status === 404, `404 after ${shown}`, shownAnswer(gone));
    this.stored = undefined;
  }

  private whole(): JsonObject {
    const { apiVersion, type, name, wanted } = this;
    return {
      apiVersion,
      kind: type.kind,
      metadata: { name, labels: { life: wanted.label } },
      ...type.desired(wanted.value, this.namespace),
    };
  }

  private took(object: ApiObject): void {
    if (this.stored !== undefined && versionOf(this.stored) !== versionOf(object)) this.stale = versionOf(this.stored);
    this.stored = object;
    this.uid = object.metadata.uid;
    if (this.versions.at(-1) !== versionOf(object)) this.versions.push(versionOf(object));
  }

  private next(letter: string): string {
    this.count += 1;
    return `${letter}${this.count}`;
  }

  /** Texts of different lengths: some statuses tell them apart by it. */
  private nextStatus(): string {
    this.count += 1;
    return "s".repeat(1 + (this.count % 50));
  }
}

function succeeded(attempt: Attempt, answer: Answer, requirement: string): void {
  attempt.expect(requirement, answer.status < 300, "success", shownAnswer(answer));
}

/** What a client wrote, without what the server notes about it. */
function contentOf(object: ApiObject): Json | undefined {
  const { resourceVersion: _version, generation: _generation, managedFields: _managed, ...metadata } = object.metadata;
  return withoutEmpty({ ...object, metadata });
}

/** Another document, with `value` at the pointer; what leads there exists. */
function replacedAt(document: JsonObject, pointer: string, value: Json): JsonObject {
  const copy = structuredClone(document) as Record<string, unknown>;
  const steps = pointer.slice(1).split("/");
  let inner: Record<string, unknown> = copy;
  for (const step of steps.slice(0, -1)) inner = inner[step] as Record<string, unknown>;
  inner[steps.at(-1) as string] = value;
  return copy as JsonObject;
}

const brief = (object: ApiObject | undefined): string => JSON.stringify(object ?? null).slice(0, 900);
