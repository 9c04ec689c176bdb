import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import type { Json } from "../../client/types.ts";
import { sameJson } from "../../model/json-values.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: `pretty` breaks a JSON answer into lines and says nothing else, nor changes what other types say.
 * Method: texts that an encoder has to escape; the plain answer is compared with the pretty one.
 */
export const prettyChangesLayoutAlone = defineCheck({
  id: "pretty-changes-layout-alone",
  area: "negotiation",
  property: "pretty changes the layout of an answer and nothing of what it says.",
  requirements: ["negotiation.pretty"],
  features: ["configmaps"],
  input: fc.record({
    text: fc.string({ unit: fc.constantFrom("a", "<", "&", '"', "\\", "\n", "\t", "é", "\u2028", "😀"), maxLength: 8 }),
    asked: fc.constantFrom("object", "list", "absent"),
  }),
  async run(attempt, { text, asked }) {
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("a", { data: { text } })));
    const path = { object: collection.pathOf("a"), list: collection.path, absent: collection.pathOf("absent") }[asked];
    const ask = (pretty: string) => collection.client.request("GET", path, { query: { pretty } });
    const compact = await ask("false"); // how it looks without is nobody's promise
    for (const value of ["true", "1"]) {
      const pretty = await ask(value);
      const same =
        sameJson(withoutVersion(compact.json), withoutVersion(pretty.json)) && pretty.status === compact.status;
      attempt.expect("negotiation.pretty", same, compact.text.slice(0, 400), pretty.text.slice(0, 400));
      const isBroken = /^\{\r?\n[ \t]*"/.test(pretty.text);
      attempt.expect("negotiation.pretty", isBroken, `a line a field with pretty=${value}`, pretty.text.slice(0, 60));
    }
  },
});

/** Others may write between two lists, objects of theirs into this namespace too: the version of the list then moves on. */
function withoutVersion(document: Json | undefined): Json | undefined {
  const list = document as { items?: Json; metadata?: Json } | undefined;
  if (!Array.isArray(list?.items)) return document;
  const own = list.items.filter((item: { metadata?: { name?: string } } | null) => item?.metadata?.name === "a");
  return { ...list, metadata: null, items: own };
}
