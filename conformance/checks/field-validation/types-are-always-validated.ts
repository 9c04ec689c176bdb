import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf, patchTypes } from "../../client/collection.ts";
import type { JsonObject } from "../../client/types.ts";
import { versionOf } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** By what is wrong: parts of a ConfigMap that cannot be read as one. */
const wrongParts = {
  "a string for a map": { data: "text" },
  "a number for a string": { data: { a: 1 } },
  "a list for a string": { data: { a: ["b"] } },
  "a string for a truth value": { immutable: "true" },
  "a map for a list": { metadata: { finalizers: { a: "b" } } },
  "a number for a label": { metadata: { labels: { a: 5 } } },
} as const satisfies Record<string, JsonObject>;
const wrongs = Object.keys(wrongParts) as (keyof typeof wrongParts)[];
const verbs = ["post", "put", "merge"] as const;
const levels = ["Ignore", "Warn", "Strict", undefined] as const;

/** Property: no level lets a field of the wrong type pass; a level that is none of the three is refused. */
export const typesAreAlwaysValidated = defineCheck({
  id: "types-are-always-validated",
  area: "field-validation",
  property: "Wrong types, absent required fields and unknown levels are refused, whatever the level.",
  requirements: ["field-validation.types", "field-validation.first-error", "field-validation.levels"],
  features: ["configmaps"],
  input: fc.record({
    verb: fc.constantFrom(...verbs),
    wrong: fc.constantFrom(...wrongs),
    level: fc.constantFrom(...levels),
    badLevel: fc.constantFrom("strict", "warn", "None", "true", "Strict,Warn"),
  }),
  examples: verbs.map(
    (verb) => ({ verb, wrong: "a number for a string", level: "Ignore", badLevel: "strict" }) as const,
  ),
  async run(attempt, { verb, wrong, level, badLevel }) {
    const collection = await attempt.target.collection("configmaps");
    const before = objectOf(await collection.create(configMap("a")));
    const send = (parts: JsonObject, fieldValidation: string | undefined) => {
      const path = verb === "post" ? collection.path : collection.pathOf("a");
      const metadata = { name: verb === "post" ? "b" : "a", ...(parts["metadata"] as JsonObject | undefined) };
      const body = verb === "merge" ? parts : { apiVersion: "v1", kind: "ConfigMap", ...parts, metadata };
      const method = { post: "POST", put: "PUT", merge: "PATCH" }[verb];
      const contentType = verb === "merge" ? patchTypes.merge : "application/json";
      return collection.client.request(method, path, { body, contentType, query: { fieldValidation } });
    };
    const judge = async (
      requirement: string,
      what: string,
      sent: ReturnType<typeof send>,
      statuses: readonly number[],
    ) => {
      const answer = await sent;
      if (verb === "post" && answer.status < 300) attempt.target.created(collection.pathOf("b"), false);
      const read = await collection.get(verb === "post" ? "b" : "a");
      const untouched = verb === "post" ? read.status === 404 : versionOf(objectOf(read)) === versionOf(before);
      attempt.expect(
        requirement,
        statuses.includes(answer.status) && untouched,
        `${what} answered ${statuses.join(" or ")}, and nothing changed`,
        `${answer.status} ${answer.text.slice(0, 300)}, ${untouched ? "nothing" : "something"} changed`,
      );
    };
    await judge("field-validation.types", wrong, send(wrongParts[wrong], level), [400, 422]);
    if (verb !== "merge") {
      // That a patch makes no object at all is another mistake than an undecodable body, with a status of its own.
      const both = { zzTop: 1, ...wrongParts[wrong] };
      const sent = send(both, level);
      await judge("field-validation.first-error", `an unknown field and ${wrong}`, sent, [400]);
      const { text } = await sent;
      const alone = `a refusal of ${wrong} alone, the first fatal error`;
      attempt.expect("field-validation.first-error", !text.includes("zzTop"), alone, text.slice(0, 300));
      // What Strict refuses is not looked at any further.
      const invalid = { zzTop: 1, metadata: { labels: { "-": "no key" } } };
      const strict = send(invalid, "Strict");
      await judge("field-validation.first-error", "an unknown field and an invalid label under Strict", strict, [400]);
      const message = (await strict).text;
      const named = message.includes("zzTop") && !message.includes("metadata.labels");
      attempt.expect("field-validation.first-error", named, "a refusal of zzTop alone", message.slice(0, 300));
    }
    const { invalidOptionStatuses } = attempt.profile;
    const good = { data: { good: "yes" } };
    await judge("field-validation.levels", `the level ${badLevel}`, send(good, badLevel), invalidOptionStatuses);
    if (verb !== "post") return;
    const nameless = { apiVersion: "v1", kind: "ConfigMap", metadata: {}, data: {} };
    const refused = await collection.create(nameless, { query: { fieldValidation: level } });
    attempt.expect(
      "field-validation.types",
      refused.status === 400 || refused.status === 422,
      "a create without a name refused",
      `${refused.status} ${refused.text.slice(0, 300)}`,
    );
  },
});
