import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import { type ApiObject, isApiObject, type ObjectMeta } from "../../client/types.ts";
import { describeEvents } from "../../model/history.ts";
import { judgeSameState, stateOf } from "../../model/replay.ts";
import { isSameCode, withoutGenerated } from "../../model/dry-answers.ts";
import { sameJson } from "../../model/json-values.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog } from "../../runner/story.ts";

const kinds = [
  "create",
  "create-named",
  "create-taken",
  "create-stray",
  "create-invalid",
  "put",
  "put-new",
  "put-stale",
  "merge",
  "json",
  "strategic",
  "apply",
  "apply-new",
  "delete",
  "delete-body",
  "delete-absent",
  "delete-held",
  "deletecollection",
  "deletecollection-body",
] as const;

/**
 * Property: a dry run answers as the real request would and leaves nothing behind, in lists and in watches.
 * Method: each request is sent dry, and the collection is compared with what it was; then it is sent for real in a
 * collection that was made the same, and the answers are compared.
 */
export const dryRunsLeaveNoTrace = defineCheck({
  id: "dry-runs-leave-no-trace",
  area: "dry-run",
  property: "A dry run answers as the real request would, and nothing happens.",
  requirements: ["dry-run.no-trace", "dry-run.same-answer", "dry-run.same-refusal"],
  features: ["configmaps", "namespaces", "watch"],
  input: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 4 }),
  // The first of each is compared with the real request.
  examples: kinds.map((kind) => [kind]),
  async run(attempt, requests) {
    const dryCollection = await attempt.target.collection("configmaps");
    const realCollection = await attempt.target.collection("configmaps", "-real");
    const send = (
      collection: typeof dryCollection,
      kind: (typeof kinds)[number],
      stale: string,
      dry: boolean,
    ): Promise<Answer> => {
      const options = { query: dry ? { dryRun: "All" } : {} };
      const data = { value: kind };
      switch (kind) {
        case "create":
          return collection.create(configMap("new", { data }), options);
        case "create-named": {
          const { metadata: _metadata, ...rest } = configMap("", { data });
          return collection.create({ ...rest, metadata: { generateName: "named-" } }, options);
        }
        case "create-taken":
          return collection.create(configMap("a", { data }), options);
        case "create-stray":
          return collection.create(
            { ...configMap("new", { data }), zzStray: 1 },
            { query: { ...options.query, fieldValidation: "Strict" } },
          );
        case "create-invalid":
          return collection.create(configMap("new", { labels: { "-": "no key" } }), options);
        case "put":
          return collection.put("a", configMap("a", { data }), options);
        case "put-new":
          return collection.put("new", configMap("new", { data }), options);
        case "put-stale":
          return collection.put("a", configMap("a", { data, resourceVersion: stale }), options);
        case "merge":
          return collection.patch("a", "merge", { data }, options);
        case "json":
          return collection.patch("a", "json", [{ op: "add", path: "/data/added", value: kind }], options);
        case "strategic":
          return collection.patch("a", "strategic", { data: { added: kind } }, options);
        case "apply":
        case "apply-new": {
          const query = { ...options.query, fieldManager: "alpha", force: true };
          const name = kind === "apply" ? "a" : "new";
          return collection.patch(name, "apply", configMap(name, { data }), { query });
        }
        case "delete-body":
          return collection.delete("a", dry ? { dryRun: ["All"] } : {});
        case "delete":
          return collection.delete("a", undefined, options);
        case "delete-absent":
          return collection.delete("absent", undefined, options);
        case "delete-held":
          return collection.delete("held", undefined, options);
        case "deletecollection":
          return collection.deleteCollection(options);
        case "deletecollection-body":
          return collection.deleteCollection({
            rawBody: JSON.stringify(dry ? { ...deleteOptions, dryRun: ["All"] } : deleteOptions),
          });
      }
    };
    const furnish = async (collection: typeof dryCollection) => {
      const first = objectOf(await collection.create(configMap("a", { data: { value: "first" } })));
      objectOf(await collection.patch("a", "merge", { data: { value: "second" } }));
      objectOf(await collection.create(configMap("held", { finalizers: ["example.com/hold"] })));
      return first.metadata.resourceVersion as string;
    };
    const stale = await furnish(dryCollection);
    const before = await dryCollection.readList();
    const watch = await attempt.openWatch(dryCollection, { resourceVersion: before.resourceVersion });
    for (const [index, kind] of requests.entries()) {
      const dry = await send(dryCollection, kind, stale, true);
      const after = await dryCollection.readList();
      const own = (items: readonly ApiObject[]) =>
        stateOf(attempt.target.own(dryCollection, items).filter((item) => !item.metadata.name.startsWith("zz-fence")));
      const named = { expected: "the list before", actual: `the list after a dry ${kind}` };
      attempt.holds("dry-run.no-trace", judgeSameState(own(before.items), own(after.items), named));
      const absent = await dryCollection.get("new");
      attempt.expect(
        "dry-run.no-trace",
        absent.status === 404,
        "404 for what was only created dry",
        String(absent.status),
      );
      if (index === 0) {
        // The real one goes last in a collection of its own: it changes what the next would meet.
        const realStale = await furnish(realCollection);
        judgeAlike(attempt, kind, dry, await send(realCollection, kind, realStale, false));
      }
    }
    const log = ownLog(attempt, dryCollection, await attempt.untilFence(watch, await attempt.fence(dryCollection)));
    attempt.expect("dry-run.no-trace", log.length === 0, "no event", describeEvents(log));
  },
});

function judgeAlike(
  attempt: Parameters<Parameters<typeof defineCheck>[0]["run"]>[0],
  kind: string,
  dry: Answer,
  real: Answer,
): void {
  const requirement = real.status < 300 ? "dry-run.same-answer" : "dry-run.same-refusal";
  attempt.expect(
    requirement,
    isSameCode(dry.status, real.status),
    `${real.status}, as the real ${kind}`,
    `${dry.status} ${dry.text.slice(0, 300)}`,
  );
  if (real.status >= 300 || !isApiObject(real.json)) return;
  const [said, wanted] = [dry, real].map(({ json }) => withoutGenerated(json, "named-"));
  attempt.expect("dry-run.same-answer", sameJson(said, wanted), JSON.stringify(wanted), JSON.stringify(said));
  if (!createKinds.includes(kind)) return;
  const { name, uid, creationTimestamp } = isApiObject(dry.json) ? dry.json.metadata : ({} as Partial<ObjectMeta>);
  const hasName = kind !== "create-named" || (name?.startsWith("named-") === true && name !== "named-");
  const isNamed = hasName && uid !== undefined && creationTimestamp != null;
  attempt.expect(
    "dry-run.same-answer",
    isNamed,
    "a generated name, a uid and a time",
    JSON.stringify(dry.json).slice(0, 300),
  );
}

/** What comes to be has a name, a uid and a time of its own, dry as well. */
const createKinds = ["create", "create-named", "put-new", "apply-new"];

const deleteOptions = { kind: "DeleteOptions", apiVersion: "v1" };
