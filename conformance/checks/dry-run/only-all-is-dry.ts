import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import { versionOf } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

const verbs = ["create", "put", "patch", "delete"] as const;

/** Property: `All` alone makes a request dry; the empty value makes it real; any other is refused, and nothing happens. */
export const onlyAllIsDry = defineCheck({
  id: "only-all-is-dry",
  area: "dry-run",
  property: "dryRun takes All and the empty value, and nothing else.",
  requirements: ["dry-run.values", "dry-run.empty"],
  features: ["configmaps"],
  input: fc.record({
    verb: fc.constantFrom(...verbs),
    value: fc.constantFrom("true", "all", "ALL", "None", "foo", "1", ""),
  }),
  examples: verbs.flatMap((verb) => [
    { verb, value: "true" },
    { verb, value: "" },
  ]),
  async run(attempt, { verb, value }) {
    const collection = await attempt.target.collection("configmaps");
    const before = objectOf(await collection.create(configMap("a", { data: { value: "before" } })));
    const options = { query: { dryRun: value } };
    const data = { value: "after" };
    const send: Record<typeof verb, () => Promise<Answer>> = {
      create: () => collection.create(configMap("b", { data }), options),
      put: () => collection.put("a", configMap("a", { data }), options),
      patch: () => collection.patch("a", "merge", { data }, options),
      delete: () => collection.delete("a", undefined, options),
    };
    const answer = await send[verb]();
    const read = await collection.get(verb === "create" ? "b" : "a");
    const happened =
      verb === "create" ? read.status === 200 : read.status === 404 || versionOf(objectOf(read)) !== versionOf(before);
    const actual = `${answer.status}, and it ${happened ? "happened" : "did not happen"}`;
    const refused = answer.status >= 400 && answer.status < 500 && !happened;
    if (value === "") {
      const promise = answer.status < 300 && happened ? undefined : { expected: `${verb} carried out`, actual };
      attempt.holdsOrDeviates("empty-dry-run-refused", "dry-run.empty", promise, refused);
      return;
    }
    attempt.expect("dry-run.values", refused, `dryRun=${value} refused, and no ${verb}`, actual);
  },
});
