import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { patchTypes } from "../../client/collection.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { withDefinition } from "../../runner/custom-definition.ts";

const verbs = ["create", "put", "merge", "json", "apply"] as const;
type Verb = (typeof verbs)[number];

/** As digits: what reads them as fractions of two rounds some of them. */
const digits = fc
  .oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 4n }),
    fc.bigInt({ min: -9n, max: 9n }),
  )
  .map(String);
const greatest = String(2n ** 63n - 1n);
/** What is applied is read as YAML, and the observed server reads a number there as a fraction of two. */
const greatestSafe = String(2n ** 53n - 1n);
const schema = {
  type: "object",
  properties: { spec: { type: "object", properties: { count: { type: "integer", format: "int64" } } } },
};

/**
 * Property: an integer of 64 bits is read back digit by digit, whichever verb wrote it and in whichever list it is read.
 * Method: bodies and answers as texts, for what parses them may round on its own.
 */
export const integersAreKept = defineCheck<{ verb: Verb; count: string }>({
  id: "integers-are-kept",
  area: "objects",
  property: "Integers of 64 bits are read back as they were written.",
  requirements: ["objects.read-back"],
  features: ["configmaps"],
  cost: "waiting",
  input: fc.record({ verb: fc.constantFrom(...verbs), count: digits }),
  examples: verbs.map((verb) => ({ verb, count: greatest })),
  async run(attempt, { verb, count: drawn }) {
    const count = verb === "apply" && !Number.isSafeInteger(Number(drawn)) ? greatestSafe : drawn;
    await withDefinition(attempt, schema, async ({ widgets, widget }) => {
      const { client } = attempt;
      const path = widgets.pathOf("a");
      const text = (parts: object): string => JSON.stringify(parts).replace('"COUNT"', count);
      const whole = widget("a", { spec: { count: verb === "create" || verb === "apply" ? "COUNT" : 1 } });
      const judge = (answer: Answer, of: string): void => {
        const found = /"count":\s*([^,}\s]+)/.exec(answer.text)?.[1] ?? answer.text.slice(0, 300);
        attempt.expect("objects.read-back", found === count, `spec.count ${count} in ${of}`, found);
      };
      if (verb === "apply") {
        const query = { fieldManager: "alpha" };
        const options = { rawBody: text(whole), contentType: patchTypes.apply, query };
        judge(await client.request("PATCH", path, options), "the answer to an apply");
      } else {
        const made = await client.request("POST", widgets.path, {
          rawBody: text(whole),
          contentType: "application/json",
        });
        if (verb === "create") judge(made, "the answer to a create");
      }
      if (verb === "put") {
        const { json } = await widgets.get("a");
        const changed = { ...(json as object), spec: { count: "COUNT" } };
        judge(
          await client.request("PUT", path, { rawBody: text(changed), contentType: "application/json" }),
          "the answer to an update",
        );
      } else if (verb === "merge") {
        const options = { rawBody: text({ spec: { count: "COUNT" } }), contentType: patchTypes.merge };
        judge(await client.request("PATCH", path, options), "the answer to a merge patch");
      } else if (verb === "json") {
        const rawBody = text([{ op: "replace", path: "/spec/count", value: "COUNT" }]);
        judge(
          await client.request("PATCH", path, { rawBody, contentType: patchTypes.json }),
          "the answer to a JSON patch",
        );
      }
      judge(await widgets.get("a"), "a get");
      judge(await widgets.list(), "a list");
    });
  },
});
