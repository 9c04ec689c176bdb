import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Query } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { isJsonObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

const wrongLabels = [
  "a in b",
  "a in (b",
  "a notin",
  "a b",
  "=b",
  "a=b c",
  "a=b,",
  ",a",
  "!",
  "a>b",
  "-a=b",
  "a=-b",
  "a/b/c=d",
  "a=b=c",
] as const;
const wrongFields = ["metadata.name", "metadata.name>a", "metadata.name=a,b", "metadata.name=a=b"] as const;
const unknownFields = ["spec.nothing=a", "metadata.uid=a", "data.a!=b", "metadata.labels==a"] as const;
const verbs = ["list", "watch", "deletecollection"] as const;

/** Property: what is no selector, or names what cannot be selected by, is refused and never taken for "everything". */
export const wrongSelectorsAreRefused = defineCheck({
  id: "wrong-selectors-are-refused",
  area: "selectors",
  property: "A malformed selector, or one on an unknown field, is answered 400 by every verb that takes selectors.",
  requirements: ["selectors.syntax", "selectors.unknown-field"],
  features: ["configmaps", "watch"],
  input: fc.record({
    verb: fc.constantFrom(...verbs),
    query: fc.oneof(
      fc.record({ labelSelector: fc.constantFrom(...wrongLabels) }),
      fc.record({ fieldSelector: fc.constantFrom(...wrongFields, ...unknownFields) }),
    ),
  }),
  examples: verbs.flatMap((verb) => [
    { verb, query: { labelSelector: "a in b" as const } },
    { verb, query: { fieldSelector: "metadata.name" as const } },
    { verb, query: { fieldSelector: "spec.nothing=a" as const } },
  ]),
  async run(attempt, { verb, query }) {
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("a")));
    const selector: Query = query;
    const isUnknown = (unknownFields as readonly unknown[]).includes(selector["fieldSelector"]);
    const requirement = isUnknown ? "selectors.unknown-field" : "selectors.syntax";
    const answer =
      verb === "deletecollection"
        ? await collection.deleteCollection({ query: selector })
        : await collection.list({ ...selector, ...(verb === "watch" ? { watch: true, timeoutSeconds: 1 } : {}) });
    const status = answer.json;
    const refused =
      answer.status === 400 && isJsonObject(status) && status["kind"] === "Status" && status["code"] === 400;
    const what = `${verb} with ${JSON.stringify(query)}`;
    attempt.expect(
      requirement,
      refused,
      `${what} answered 400 with a Status`,
      `${answer.status} ${answer.text.slice(0, 300)}`,
    );
    const left = await collection.get("a");
    attempt.expect(requirement, left.status === 200, "nothing deleted", String(left.status));
  },
});
