import fc from "fast-check";
import { stringify } from "yaml";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { type ApiObject, type JsonObject, objectsIn, versionOf } from "../../client/types.ts";
import { judgeOwners, ownerName, ownersOf } from "../../model/managed-fields.ts";
import {
  applied,
  type Applied,
  type Fields,
  isSameState,
  judgeConflicts,
  judgeFields,
  nothingOwned,
  type Owned,
  updated,
} from "../../model/ownership.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

type Data = Readonly<Record<string, string>>;
interface Apply {
  readonly do: "apply";
  readonly manager: string;
  readonly data: Data;
  readonly force: boolean;
  readonly dry: boolean;
  readonly form: string;
}
interface Update {
  readonly do: "merge" | "put";
  readonly manager: string;
  readonly data: Data;
}

/** Where an object has a field: each map of texts has owners for each of its keys. */
const places = {
  a: "data",
  b: "data",
  "c-d": "annotations",
  "e.f": "data",
  "example.com/g": "annotations",
  h: "labels",
  "i.j": "labels",
} as const;
type FieldName = keyof typeof places;
const anyData: fc.Arbitrary<Data> = fc.dictionary(
  fc.constantFrom(...(Object.keys(places) as FieldName[])),
  fc.constantFrom("x", "y"),
  { maxKeys: 4 },
);
const anyApply: fc.Arbitrary<Apply> = fc.record({
  do: fc.constant("apply"),
  manager: fc.constantFrom("alpha", "beta"),
  data: anyData,
  force: fc.boolean(),
  dry: fc.boolean(),
  form: fc.constantFrom("json", "yaml"),
});
const anyUpdate: fc.Arbitrary<Update> = fc.record({
  do: fc.constantFrom("merge", "put"),
  manager: fc.constantFrom("editor", "other"),
  data: anyData,
});

const apply = (manager: string, data: Data, more: Partial<Apply> = {}): Apply => ({
  do: "apply",
  manager,
  data,
  force: false,
  dry: false,
  form: "yaml",
  ...more,
});

/**
 * Property: fields have the owners that the model gives them, a conflict names the fields and the managers that it is
 * about and changes nothing, and what nobody applies any more goes.
 * Method: managers apply, patch and put data, labels and annotations of one ConfigMap, some of them dry; the model says what each answer
 * has to be, and what is stored afterwards.
 */
export const ownersFollowTheModel = defineCheck({
  id: "owners-follow-the-model",
  area: "apply",
  property: "Who owns which field, and what conflicts, is as the writes before it say.",
  requirements: [
    "apply.owners",
    "apply.creates",
    "apply.patches",
    "apply.json-body",
    "apply.conflict",
    "apply.conflict-causes",
    "apply.force",
    "apply.same-value",
    "apply.removes",
    "apply.no-op",
    "apply.updates-own",
    "apply.dry-run",
  ],
  features: ["configmaps"],
  input: fc.array(
    fc.oneof<fc.MaybeWeightedArbitrary<Apply | Update>[]>(
      { weight: 3, arbitrary: anyApply },
      { weight: 1, arbitrary: anyUpdate },
    ),
    {
      minLength: 2,
      maxLength: 6,
    },
  ),
  examples: [
    [
      apply("alpha", { a: "x", b: "x" }, { form: "json" }),
      apply("alpha", { a: "x", b: "x" }),
      apply("beta", { a: "y" }, { dry: true }),
      apply("beta", { a: "y" }),
      apply("beta", { a: "x" }),
      { do: "merge", manager: "editor", data: { b: "y" } },
      apply("beta", { b: "x" }, { force: true }),
      apply("alpha", {}),
      apply("beta", { a: "x", h: "x", "c-d": "x" }),
      apply("beta", { a: "x" }),
    ],
  ],
  async run(attempt, steps) {
    const collection = await attempt.target.collection("configmaps");
    const object = new ModelledObject(attempt, collection);
    for (const step of steps) {
      if (step.do === "apply") await object.apply(step);
      else await object.update(step);
    }
  },
});

/** The object `a`, and what the model knows of it. */
class ModelledObject {
  private readonly attempt: Attempt;
  private readonly collection: Collection;
  private state: Owned = nothingOwned;
  private stored: ApiObject | undefined;

  constructor(attempt: Attempt, collection: Collection) {
    this.attempt = attempt;
    this.collection = collection;
  }

  async apply(step: Apply): Promise<void> {
    const { attempt, stored } = this;
    const owner = ownerName(step.manager, "Apply");
    const expected = applied(this.state, owner, fieldsOf(step.data, ownLabel(step)));
    const answer = await this.send(step);
    if (expected.conflicts.length > 0 && !step.force) {
      const requirement = step.dry ? "apply.dry-run" : "apply.conflict";
      attempt.expect(requirement, answer.status === 409, "409, a conflict", shown(answer));
      const causes = objectsIn((answer.json as JsonObject | undefined)?.["details"], "causes");
      attempt.holds("apply.conflict-causes", judgeConflicts(expected.conflicts, causes));
      await this.isAsStored(requirement);
      return;
    }
    const isJson = step.form === "json";
    if (isJson)
      attempt.expect("apply.json-body", answer.status < 300, "an apply in JSON is carried out", shown(answer));
    const made = stored === undefined;
    const statuses = made ? [201, 200] : [200];
    const carriedOut = made ? "apply.creates" : step.force ? "apply.force" : "apply.patches";
    attempt.expect(
      carriedOut,
      statuses.includes(answer.status),
      `${statuses.join(" or ")} and the object`,
      shown(answer),
    );
    const object = objectOf(answer);
    this.isAsModelled(object, expected.next, requirementsOf(step, expected));
    if (step.dry) {
      await this.isAsStored("apply.dry-run");
      return;
    }
    if (stored !== undefined && isSameState(this.state, expected.next)) {
      const same =
        JSON.stringify(object.metadata["managedFields"]) === JSON.stringify(stored.metadata["managedFields"]);
      const actual = `version ${versionOf(object)}, managedFields ${JSON.stringify(object.metadata["managedFields"])}`;
      const promise = `version ${versionOf(stored)} and the records as they were, for nothing changes`;
      attempt.expect("apply.no-op", versionOf(object) === versionOf(stored) && same, promise, actual);
    }
    this.state = expected.next;
    this.stored = object;
  }

  async update(step: Update): Promise<void> {
    const { collection, stored } = this;
    if (stored === undefined) return; // who creates is the other writers' affair
    const put = step.do === "put";
    const labels = managerLabels(stored);
    const live = new Map([...(put ? [] : this.state.live), ...fieldsOf(step.data, labels)]);
    const next = updated(this.state, ownerName(step.manager, "Update"), live);
    const options = { query: { fieldManager: step.manager } };
    const answer = put
      ? await collection.put("a", sentWith(step.data, labels), options)
      : await collection.patch("a", "merge", partsOf(step.data), options);
    const object = objectOf(answer);
    this.isAsModelled(object, next, { fields: "objects.verbs", owners: "apply.updates-own" });
    this.state = next;
    this.stored = object;
  }

  private send(step: Apply): Promise<Answer> {
    const { manager, data, force, dry, form } = step;
    const configuration = sentWith(data, ownLabel(step));
    const query = { fieldManager: manager, ...(force ? { force } : {}), ...(dry ? { dryRun: "All" } : {}) };
    const rawBody = form === "yaml" ? stringify(configuration, { defaultStringType: "QUOTE_DOUBLE" }) : undefined;
    return this.collection.patch("a", "apply", configuration, { query, rawBody });
  }

  private isAsModelled(object: ApiObject, { live, owners }: Owned, judged: { fields: string; owners: string }): void {
    this.attempt.holds(judged.fields, judgeFields(live, fieldsIn(object)));
    this.attempt.holds(judged.owners, judgeOwners(owners, ownersOf(object, Object.values(paths))));
  }

  /** Nothing has happened. */
  private async isAsStored(requirement: string): Promise<void> {
    const answer = await this.collection.get("a");
    const version = answer.status === 200 ? versionOf(objectOf(answer)) : "absent";
    const before = this.stored === undefined ? "absent" : versionOf(this.stored);
    this.attempt.expect(requirement, version === before, `the object as it was: ${before}`, version);
  }
}

function requirementsOf(step: Apply, { removed, shared, conflicts }: Applied): { fields: string; owners: string } {
  const fields = removed.length > 0 ? "apply.removes" : "apply.patches";
  if (step.force && conflicts.length > 0) return { fields: "apply.force", owners: "apply.force" };
  return { fields, owners: shared.length > 0 ? "apply.same-value" : "apply.owners" };
}

/** In every apply, so that there is always an owner: objects without any are not tracked. */
function ownLabel({ manager }: Apply): Data {
  return { [manager]: "applies" };
}

const paths = { data: ".data.", labels: ".metadata.labels.", annotations: ".metadata.annotations." } as const;

const placeOf = (field: string): keyof typeof paths =>
  (places as Record<string, keyof typeof paths>)[field] ?? "labels";

function fieldsOf(data: Data, labels: Data): Fields {
  const all = Object.entries({ ...data, ...labels });
  return new Map(all.map(([field, value]) => [paths[placeOf(field)] + field, value] as const));
}

function fieldsIn({ metadata, ...object }: ApiObject): Fields {
  const maps = {
    data: (object["data"] ?? {}) as Data,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
  };
  return new Map(
    (["data", "labels", "annotations"] as const).flatMap((place) =>
      Object.entries(maps[place]).map(([field, value]) => [paths[place] + field, value] as const),
    ),
  );
}

/** Each field at its place. */
function partsOf(data: Data, labels: Data = {}): JsonObject {
  const own = (place: keyof typeof paths, more: Data = {}): JsonObject => {
    const fields = Object.entries(data).filter(([field]) => placeOf(field) === place);
    const map = { ...Object.fromEntries(fields), ...more };
    return Object.keys(map).length === 0 ? {} : { [place]: map };
  };
  return { metadata: { ...own("labels", labels), ...own("annotations") }, ...own("data") };
}

function sentWith(data: Data, labels: Data): JsonObject {
  const { metadata, ...parts } = partsOf(data, labels);
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", ...(metadata as JsonObject) }, ...parts };
}

/** The labels that the appliers have for themselves. */
function managerLabels({ metadata }: ApiObject): Data {
  return Object.fromEntries(Object.entries(metadata.labels ?? {}).filter(([label]) => !(label in places)));
}

function shown(answer: Answer): string {
  return `${answer.status} ${answer.text.slice(0, 400)}`;
}
