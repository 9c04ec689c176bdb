import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import {
  faultyJson,
  faultyJsonPatch,
  faultyYaml,
  fieldsOf,
  type Stray,
  someStrays,
} from "../../arbitraries/faulty-config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import type { RequestOptions } from "../../client/client.ts";
import { type Collection, objectOf, patchTypes } from "../../client/collection.ts";
import { isJsonObject, versionOf } from "../../client/types.ts";
import type { Violation } from "../../client/findings.ts";
import { judgeNamed, judgeWarnings, warningTexts } from "../../model/field-warnings.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

const shapes = ["post-json", "post-yaml", "put-json", "put-yaml", "merge", "strategic", "json-patch"] as const;
type Shape = (typeof shapes)[number];
const levels = ["Ignore", "Warn", "Strict", "default"] as const;

/**
 * Property: unknown and duplicate fields are dropped silently, dropped with one warning each, or refused by their
 * names, as the request says.
 */
export const strayFieldsAreHandledByLevel = defineCheck({
  id: "stray-fields-are-handled-by-level",
  area: "field-validation",
  property: "fieldValidation says whether unknown and duplicate fields are dropped, warned of or refused.",
  requirements: [
    "field-validation.warn",
    "field-validation.ignore",
    "field-validation.default",
    "field-validation.strict",
    "field-validation.strict-names",
    "field-validation.strict-no-trace",
  ],
  features: ["configmaps"],
  input: fc.record({ shape: fc.constantFrom(...shapes), level: fc.constantFrom(...levels), strays: someStrays }),
  examples: shapes.flatMap((shape) =>
    levels.map((level) => ({ shape, level, strays: ["top", "meta", "twice"] satisfies Stray[] })),
  ),
  async run(attempt, { shape, level, strays }) {
    const collection = await attempt.target.collection("configmaps");
    const before = objectOf(await collection.create(configMap("a", { data: { first: "yes" } })));
    const isCreate = shape.startsWith("post");
    const { options, fields, method } = requestOf(shape, strays);
    const path = isCreate ? collection.path : collection.pathOf("a");
    const query = level === "default" ? {} : { fieldValidation: level };
    const answer = await collection.client.request(method, path, { ...options, query });
    if (isCreate && answer.status < 300) attempt.target.created(collection.pathOf("b"), false);
    if (level === "Strict" && fields.length > 0) {
      judgeRefusal(attempt, answer, fields, !isCreate && method === "PATCH");
      const read = await collection.get(isCreate ? "b" : "a");
      const untouched = isCreate ? read.status === 404 : versionOf(objectOf(read)) === versionOf(before);
      attempt.expect("field-validation.strict-no-trace", untouched, "nothing changed", read.text.slice(0, 300));
      return;
    }
    const requirement = `field-validation.${level.toLowerCase()}`;
    const expected = level === "Ignore" ? [] : fields;
    attempt.holds(requirement, await judgeDropped(collection, answer, isCreate ? "b" : "a"));
    attempt.holds(requirement, judgeWarnings(expected, warningTexts(answer.headers)));
  },
});

function requestOf(
  shape: Shape,
  strays: readonly Stray[],
): { method: string; options: RequestOptions; fields: readonly string[] } {
  const fields = fieldsOf(strays);
  const yaml = "application/yaml";
  switch (shape) {
    case "post-json":
      return { method: "POST", options: { rawBody: faultyJson("b", strays) }, fields };
    case "post-yaml":
      return { method: "POST", options: { rawBody: faultyYaml("b", strays), contentType: yaml }, fields };
    case "put-json":
      return { method: "PUT", options: { rawBody: faultyJson("a", strays) }, fields };
    case "put-yaml":
      return { method: "PUT", options: { rawBody: faultyYaml("a", strays), contentType: yaml }, fields };
    case "merge":
    case "strategic": {
      const rawBody = faultyJson(undefined, strays);
      return { method: "PATCH", options: { rawBody, contentType: patchTypes[shape] }, fields };
    }
    case "json-patch": {
      const patch = faultyJsonPatch(strays);
      return {
        method: "PATCH",
        options: { rawBody: patch.text, contentType: patchTypes.json },
        fields: patch.fields,
      };
    }
  }
}

function judgeRefusal(attempt: Attempt, answer: Answer, fields: readonly string[], isPatch: boolean): void {
  const refused = answer.status === 400;
  const promise = refused
    ? undefined
    : { expected: "400 for unknown or duplicate fields", actual: `${answer.status} ${answer.text.slice(0, 300)}` };
  if (isPatch)
    attempt.holdsOrDeviates("strict-patch-is-422", "field-validation.strict", promise, answer.status === 422);
  else attempt.holds("field-validation.strict", promise);
  const message = isJsonObject(answer.json) ? answer.json["message"] : undefined;
  const text = typeof message === "string" ? message : answer.text;
  attempt.holds("field-validation.strict-names", judgeNamed(fields, text));
}

/** The request was carried out; what the schema knows is there, the rest is not, and a field sent twice has one value. */
async function judgeDropped(collection: Collection, answer: Answer, name: string): Promise<Violation | undefined> {
  const expected = "success, with what is known kept and what is not dropped";
  if (answer.status >= 300) return { expected, actual: `${answer.status} ${answer.text.slice(0, 300)}` };
  const read = objectOf(await collection.get(name));
  const data = read["data"];
  const kept = isJsonObject(data) && data["kept"] === "yes";
  const twice = isJsonObject(data) ? data["zzTwice"] : undefined;
  const strays = ["zzTop", "zzNested", "Immutable"].filter((field) => field in read);
  if ("zzMeta" in read.metadata) strays.push("metadata.zzMeta");
  const single = twice === undefined || twice === "1" || twice === "2";
  return kept && strays.length === 0 && single ? undefined : { expected, actual: JSON.stringify(read) };
}
