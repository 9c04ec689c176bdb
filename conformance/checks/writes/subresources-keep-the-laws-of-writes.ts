import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { type ApiObject, isApiObject, type Json, type JsonObject, versionOf } from "../../client/types.ts";
import { sameJson, valueAt, withoutEmpty } from "../../model/json-values.ts";
import { judgeOwners, ownerName, ownersOf } from "../../model/managed-fields.ts";
import { applied, type Owned, updated } from "../../model/ownership.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { withDefinition } from "../../runner/custom-definition.ts";
import { defineCheck } from "../../runner/define-check.ts";

type Through = "scale" | "status";
const throughs: readonly Through[] = ["scale", "status"];

interface Step {
  readonly verb: "put" | "merge" | "json" | "apply";
  readonly manager: "one" | "two";
  readonly value: number;
  readonly version: "none" | "current" | "stale";
  readonly uid: "none" | "own" | "other";
  readonly dry: boolean;
  readonly force: boolean;
}

const plain = { manager: "one", version: "none", uid: "none", dry: false, force: false } as const;
const verbs = ["put", "merge", "json", "apply"] as const;

/** Each verb meets each reason to be refused, a dry run, and a field of another manager. */
const everyCase: readonly Step[] = verbs.flatMap((verb, place) => [
  { ...plain, verb, value: 10 + place, manager: "one", force: true },
  { ...plain, verb, value: 20 + place, version: "stale", force: true },
  { ...plain, verb, value: 30 + place, uid: "other", force: true },
  { ...plain, verb, value: 40 + place, dry: true, force: true },
  { ...plain, verb, value: 50 + place, manager: "two", version: "current", uid: "own" },
  { ...plain, verb, value: 50 + place, manager: "one" },
]);

const anyStep: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom(...verbs),
  manager: fc.constantFrom("one", "two"),
  value: fc.integer({ min: 1, max: 4 }),
  version: fc.constantFrom("none", "none", "current", "stale"),
  uid: fc.constantFrom("none", "none", "own", "other"),
  dry: fc.nat(4).map((draw) => draw === 4),
  force: fc.boolean(),
});

const schema = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { replicas: { type: "integer" }, text: { type: "string" } } },
    status: { type: "object", properties: { value: { type: "integer" }, replicas: { type: "integer" } } },
  },
};
const subresources = {
  status: {},
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
};
const otherUid = "00000000-0000-4000-8000-000000000000";

/** The one field that is written through each. */
const fields = {
  scale: { path: ["spec", "replicas"], owned: ".spec.replicas" },
  status: { path: ["status", "value"], owned: ".status.value" },
} as const;

/**
 * Property: what holds for writes to an object holds for those to its scale and its status: a version or a uid that is not
 * the object's is refused, a dry run leaves no trace, fields have owners and applies conflict, all else stays as it is.
 * Method: random writes by every verb to a custom resource, on which nobody acts; owners by the model of apply.
 */
export const subresourcesKeepTheLawsOfWrites = defineCheck<{ through: Through; steps: readonly Step[] }>({
  id: "subresources-keep-the-laws-of-writes",
  area: "writes",
  property: "Versions, uids, dry runs, owners and conflicts hold for scale and status as for the object.",
  requirements: [
    "writes.uid",
    "writes.stale-put",
    "writes.patch-conditional",
    "apply.stale",
    "apply.conflict",
    "apply.updates-own",
    "apply.subresource",
    "dry-run.no-trace",
    "dry-run.same-answer",
    "objects.status-apart",
    "objects.read-back",
    "objects.generation",
  ],
  features: ["configmaps"],
  input: fc.record({
    through: fc.constantFrom(...throughs),
    steps: fc.array(anyStep, { minLength: 1, maxLength: 8 }),
  }),
  examples: [
    { through: "scale", steps: everyCase },
    { through: "status", steps: everyCase },
  ],
  cost: "waiting",
  async run(attempt, { through, steps }) {
    await withDefinition(
      attempt,
      schema,
      async ({ widgets, widget }) => {
        const made = await widgets.create(widget("a", { spec: { replicas: 0, text: "t" }, status: { value: 99 } }), {
          query: { fieldManager: "creator" },
        });
        const status = withoutEmpty(objectOf(made)["status"] ?? {});
        const actual = `${JSON.stringify(status)} after a create whose body names one`;
        attempt.expect("objects.status-apart", status === undefined || sameJson(status, {}), "no status", actual);
        const writes = new SubresourceWrites(attempt, widgets, through, objectOf(made));
        for (const step of steps) await writes.write(step);
      },
      { version: { subresources } },
    );
  },
});

class SubresourceWrites {
  private readonly attempt: Attempt;
  private readonly widgets: Collection;
  private readonly through: Through;
  private stored: ApiObject;
  private stale: string | undefined;
  private state: Owned;

  constructor(attempt: Attempt, widgets: Collection, through: Through, created: ApiObject) {
    this.attempt = attempt;
    this.widgets = widgets;
    this.through = through;
    this.stored = created;
    const { owned } = fields[through];
    const isThere = through === "scale";
    this.state = {
      live: new Map(isThere ? [[owned, "0"]] : []),
      owners: new Map(isThere ? [[ownerName("creator", "Update"), new Set([owned])]] : []),
    };
  }

  async write(step: Step): Promise<void> {
    const { attempt, through, stored } = this;
    const { verb, manager, value, dry, force } = step;
    const shown = `${dry ? "a dry " : "a "}${verb} of ${value} through ${through} by ${manager} with ${step.version} version and ${step.uid} uid`;
    const version = this.versionFor(step);
    const answer = await this.send(step, version);
    if (version !== undefined && version !== versionOf(stored)) {
      const requirement =
        verb === "put" ? "writes.stale-put" : verb === "apply" ? "apply.stale" : "writes.patch-conditional";
      attempt.expect(requirement, answer.status === 409, `409 for ${shown}`, shownAnswer(answer));
      await this.isUntouched(requirement, shown);
      return;
    }
    if (step.uid === "other") {
      const isRefused = answer.status === 409 || answer.status === 422;
      attempt.expect("writes.uid", isRefused, `a refusal of ${shown}`, shownAnswer(answer));
      await this.isUntouched("writes.uid", shown);
      return;
    }
    const { owned } = fields[through];
    const live = new Map([[owned, String(value)]]);
    const operation = verb === "apply" ? "Apply" : "Update";
    const owner = ownerName(manager === "one" ? `${verb}-one` : `${verb}-two`, operation, through);
    const outcome = applied(this.state, owner, live);
    if (verb === "apply" && !force && outcome.conflicts.length > 0) {
      attempt.expect(
        "apply.conflict",
        answer.status === 409,
        `409 for ${shown}, of another's field`,
        shownAnswer(answer),
      );
      await this.isUntouched("apply.conflict", shown);
      return;
    }
    const promise = dry ? "dry-run.same-answer" : "objects.read-back";
    attempt.expect(promise, answer.status === 200, `200 for ${shown}`, shownAnswer(answer));
    attempt.expect(
      promise,
      this.valueIn(answer.json) === value,
      `${owned} ${value} after ${shown}`,
      shownAnswer(answer),
    );
    if (dry) {
      await this.isUntouched("dry-run.no-trace", shown);
      return;
    }
    const now = objectOf(await this.widgets.get("a"));
    const read = `${JSON.stringify(now).slice(0, 900)} after ${shown}`;
    attempt.expect("objects.read-back", this.valueIn(now) === value, `${owned} ${value}`, read);
    attempt.expect(
      "objects.read-back",
      this.versionIn(answer) === versionOf(now),
      `version ${this.versionIn(answer)}`,
      read,
    );
    const isApart = sameJson(this.restOf(now), this.restOf(stored));
    attempt.expect(
      "objects.status-apart",
      isApart,
      `all but ${owned} as in ${JSON.stringify(stored).slice(0, 900)}`,
      read,
    );
    const isChanged = through === "scale" && this.valueIn(stored) !== value;
    const generation = (stored.metadata.generation ?? 0) + (isChanged ? 1 : 0);
    attempt.expect("objects.generation", now.metadata.generation === generation, `generation ${generation}`, read);
    this.state = verb === "apply" ? outcome.next : updated(this.state, owner, live);
    const requirement = verb === "apply" ? "apply.subresource" : "apply.updates-own";
    attempt.holds(requirement, judgeOwners(this.state.owners, ownersOf(now, [owned])));
    if (versionOf(now) !== versionOf(stored)) this.stale = versionOf(stored);
    this.stored = now;
  }

  /** Whoever replaces the status of a custom resource names a version. */
  private versionFor({ version, verb }: Step): string | undefined {
    if (version === "stale" && this.stale !== undefined) return this.stale;
    const isNeeded = verb === "put" && this.through === "status";
    return version === "current" || isNeeded ? versionOf(this.stored) : undefined;
  }

  private send({ verb, manager, value, uid, dry, force }: Step, version: string | undefined): Promise<Answer> {
    const { widgets, through, stored } = this;
    const path = `a/${through}`;
    const query = { fieldManager: `${verb}-${manager}`, ...(dry ? { dryRun: "All" } : {}) };
    const named: JsonObject = {
      ...(version === undefined ? {} : { resourceVersion: version }),
      ...(uid === "none" ? {} : { uid: uid === "own" ? (stored.metadata.uid as string) : otherUid }),
    };
    const desired = through === "scale" ? { spec: { replicas: value } } : { status: { value } };
    const type =
      through === "scale"
        ? { apiVersion: "autoscaling/v1", kind: "Scale" }
        : { apiVersion: stored["apiVersion"] as string, kind: "Widget" };
    switch (verb) {
      case "put": {
        const metadata = { name: "a", namespace: stored.metadata.namespace as string, ...named };
        return widgets.put(path, { ...type, metadata, ...desired }, { query });
      }
      case "merge":
        return widgets.patch(path, "merge", { metadata: named, ...desired }, { query });
      case "json": {
        const metadata = Object.entries(named).map(([field, sent]) => ({
          op: "add",
          path: `/metadata/${field}`,
          value: sent,
        }));
        const [field, whole] = Object.entries(desired)[0] as [string, Json];
        return widgets.patch(path, "json", [...metadata, { op: "add", path: `/${field}`, value: whole }] as Json[], {
          query,
        });
      }
      case "apply":
        return widgets.patch(
          path,
          "apply",
          { ...type, metadata: { name: "a", ...named }, ...desired },
          { query: { ...query, ...(force ? { force: true } : {}) } },
        );
    }
  }

  private valueIn(document: Json | undefined): Json | undefined {
    return valueAt(document, ...fields[this.through].path);
  }

  private versionIn({ json }: Answer): string {
    return isApiObject(json) ? versionOf(json) : "none";
  }

  /** All that a write through the subresource has no say in. */
  private restOf(object: ApiObject): Json | undefined {
    const { metadata, ...rest } = object;
    const { resourceVersion: _version, managedFields: _managed, generation: _generation, ...kept } = metadata;
    const [part, field] = fields[this.through].path;
    const { [field]: _written, ...others } = (rest[part] ?? {}) as JsonObject;
    return withoutEmpty({ ...rest, [part]: others, metadata: kept });
  }

  private async isUntouched(requirement: string, shown: string): Promise<void> {
    const read = objectOf(await this.widgets.get("a"));
    const isSame = sameJson(withoutEmpty(read), withoutEmpty(this.stored));
    const expected = `${JSON.stringify(this.stored).slice(0, 900)}, as before ${shown}`;
    this.attempt.expect(requirement, isSame, expected, JSON.stringify(read).slice(0, 900));
  }
}
