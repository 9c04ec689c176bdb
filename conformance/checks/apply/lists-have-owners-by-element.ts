import fc from "fast-check";
import { podTemplate, specPath } from "../../arbitraries/pod-templates.ts";
import { objectOf } from "../../client/collection.ts";
import { type ApiObject, type JsonObject, objectsIn, versionOf } from "../../client/types.ts";
import { valueAt } from "../../model/json-values.ts";
import { judgeOwners, ownerName, ownersOf } from "../../model/managed-fields.ts";
import { applied, type Fields, judgeConflicts, judgeFields, nothingOwned } from "../../model/ownership.ts";
import { defineCheck } from "../../runner/define-check.ts";

const anyContainer = fc.record(
  {
    args: fc.constantFrom(["x"], ["x", "y"]),
    env: fc.dictionary(fc.constantFrom("E", "F"), fc.constantFrom("1", "2"), { maxKeys: 2 }),
  },
  { requiredKeys: [] },
);
const anyConfiguration = fc.record({
  manager: fc.constantFrom("alpha", "beta"),
  force: fc.boolean(),
  containers: fc.dictionary(fc.constantFrom("c", "d"), anyContainer, { maxKeys: 2 }),
  finalizers: fc.subarray(["example.com/a", "example.com/b"]),
});
type Configuration = typeof anyConfiguration extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Property: in a list with keys every element and each of its fields has owners; a set has owners by value, and an
 * atomic list is one field.
 * Method: two managers apply containers (with arguments, an atomic list, and variables, a list with keys) and
 * finalizers to a PodTemplate in which a third made one container, so that it is valid whatever they leave out.
 */
export const listsHaveOwnersByElement = defineCheck({
  id: "lists-have-owners-by-element",
  area: "apply",
  property: "Elements of lists with keys and of sets have owners of their own; an atomic list has one.",
  requirements: ["apply.lists"],
  features: ["podtemplates"],
  input: fc.array(anyConfiguration, { minLength: 2, maxLength: 4 }),
  examples: [
    [
      { manager: "alpha", force: false, containers: { c: { args: ["x"], env: { E: "1" } } }, finalizers: [] },
      {
        manager: "beta",
        force: false,
        containers: { c: { args: ["x"], env: { E: "2" } } },
        finalizers: ["example.com/a"],
      },
      { manager: "beta", force: true, containers: { c: { args: ["x", "y"], env: { E: "2" } } }, finalizers: [] },
      { manager: "alpha", force: false, containers: { d: {} }, finalizers: [] },
    ],
  ],
  async run(attempt, configurations) {
    const collection = await attempt.target.collection("podtemplates");
    let stored = objectOf(await collection.create(podTemplate("a"), { query: { fieldManager: "creator" } }));
    let state = nothingOwned;
    for (const configuration of configurations) {
      const { manager, force } = configuration;
      const expected = applied(state, ownerName(manager, "Apply"), fieldsOfConfiguration(configuration));
      const query = { fieldManager: manager, ...(force ? { force } : {}) };
      const answer = await collection.patch("a", "apply", sent(configuration), { query });
      const refused = expected.conflicts.length > 0 && !force;
      const status = refused ? 409 : 200;
      const actual = `${answer.status} ${answer.text.slice(0, 600)}`;
      attempt.expect("apply.lists", answer.status === status, `${status} for ${JSON.stringify(configuration)}`, actual);
      if (refused) {
        const causes = objectsIn((answer.json as JsonObject)["details"], "causes");
        attempt.holds("apply.lists", judgeConflicts(expected.conflicts, causes));
        const version = versionOf(objectOf(await collection.get("a")));
        attempt.expect("apply.lists", version === versionOf(stored), `version ${versionOf(stored)} as before`, version);
        continue;
      }
      stored = objectOf(answer);
      state = expected.next;
      attempt.holds("apply.lists", judgeFields(state.live, fieldsOfObject(stored)));
      attempt.holds("apply.lists", judgeOwners(state.owners, ownersOf(stored, prefixes)));
    }
  },
});

const containersPath = ".template.spec.containers";
const finalizersPath = ".metadata.finalizers";
/** Not those of the container `main`. */
const prefixes = [`${containersPath}[name="c"]`, `${containersPath}[name="d"]`, finalizersPath];

function sent({ containers, finalizers }: Configuration): JsonObject {
  const list = Object.entries(containers).map(([name, { args, env }]) => ({
    name,
    // Always the same: a container whose image went with its owner would be refused.
    image: "example.com/i:1",
    ...(args === undefined ? {} : { args }),
    ...(env === undefined || Object.keys(env).length === 0
      ? {}
      : { env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })) }),
  }));
  const template = list.length === 0 ? {} : { template: { spec: { containers: list } } };
  const metadata = { name: "a", ...(finalizers.length === 0 ? {} : { finalizers }) };
  return { apiVersion: "v1", kind: "PodTemplate", metadata, ...template };
}

function fieldsOfConfiguration(configuration: Configuration): Fields {
  return fieldsOfObject(sent(configuration) as ApiObject);
}

/** What the managers can write, as the model has it. */
function fieldsOfObject(object: ApiObject): Fields {
  const fields = new Map<string, string>();
  for (const name of object.metadata.finalizers ?? []) fields.set(`${finalizersPath}[=${JSON.stringify(name)}]`, "");
  for (const container of objectsIn(valueAt(object, ...specPath), "containers")) {
    if (container["name"] === "main") continue;
    const path = noteElement(fields, containersPath, container);
    fields.set(`${path}.image`, String(container["image"]));
    if (container["args"] !== undefined) fields.set(`${path}.args`, JSON.stringify(container["args"]));
    for (const variable of objectsIn(container, "env")) {
      const place = noteElement(fields, `${path}.env`, variable);
      if (variable["value"] !== undefined) fields.set(`${place}.value`, String(variable["value"]));
    }
  }
  return fields;
}

/** An element is owned, and so is the field that is its key. */
function noteElement(fields: Map<string, string>, list: string, element: JsonObject): string {
  const path = `${list}[name=${JSON.stringify(element["name"])}]`;
  fields.set(path, "");
  fields.set(`${path}.name`, String(element["name"]));
  return path;
}
