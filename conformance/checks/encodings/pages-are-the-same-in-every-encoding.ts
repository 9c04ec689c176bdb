import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf, succeeded } from "../../client/collection.ts";
import { readOr } from "../../client/read-bodies.ts";
import { isApiObject, isJsonObject, type Json, type JsonObject, objectsIn } from "../../client/types.ts";
import { sameJson } from "../../model/json-values.ts";
import { type Encoding, encodingsOf, mediaTypeIn, readIn } from "../../runner/encodings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: a list says of itself the same in every encoding: its version, what remains and how to go on.
 * Method: each page of one snapshot is read in all encodings that the target has, and the next is asked for by the token of
 * any of them. Others may write meanwhile: the first page is asked for at the version that a list had.
 */
export const pagesAreTheSameInEveryEncoding = defineCheck({
  id: "pages-are-the-same-in-every-encoding",
  area: "encodings",
  property: "Pages have the same version, count and continuation in every encoding.",
  requirements: ["negotiation.independent", "encodings.yaml"],
  features: ["configmaps"],
  input: fc.record({
    count: fc.integer({ min: 1, max: 4 }),
    limit: fc.integer({ min: 1, max: 2 }),
    turn: fc.nat(3),
    selected: fc.boolean(),
  }),
  examples: [0, 1, 2, 3].map((turn) => ({ count: 3, limit: 1, turn, selected: turn === 3 })),
  async run(attempt, { count, limit, turn, selected }) {
    const collection = await attempt.target.collection("configmaps");
    for (let index = 0; index < count; index++)
      objectOf(await collection.create(configMap(`c${index}`, { labels: { team: "red" } })));
    const encodings = encodingsOf(attempt);
    const query = { limit, ...(selected ? { labelSelector: "team=red" } : {}) };
    const names: string[] = [];
    const { resourceVersion } = await collection.readList();
    const first = { ...query, resourceVersion, resourceVersionMatch: "Exact" };
    let token = "";
    for (let page = 0; page <= count + 10; page++) {
      const asked = token === "" ? first : { ...query, continue: token };
      const shown = new Map<Encoding, JsonObject>();
      for (const encoding of encodings) {
        const accept = mediaTypeIn(attempt, encoding);
        const answer = await collection.client.request("GET", collection.path, { query: asked, accept });
        // Forgotten by now, or not yet known to the front-end that was asked.
        if (answer.status === 410 || answer.status >= 500) return;
        const whole = succeeded(answer);
        // What cannot be read says nothing of itself.
        shown.set(encoding, (readOr(() => readIn(encoding, whole))?.[0] ?? {}) as JsonObject);
      }
      const json = saidOf(shown.get("json"));
      for (const [encoding, list] of shown) {
        const said = saidOf(list);
        // A token is the server's own affair: what it leads to is judged below.
        const isSame = said.names === json.names && said.hasMore === json.hasMore && said.remaining === json.remaining;
        const isPinned = said.version === resourceVersion;
        const requirement = requirementOf[encoding];
        attempt.expect(
          requirement,
          isSame && isPinned,
          `in ${encoding}, as in JSON: ${JSON.stringify(json)}`,
          JSON.stringify(said),
        );
      }
      for (const item of objectsIn(shown.get("json"), "items"))
        if (isApiObject(item) && attempt.target.isOwn(collection, item)) names.push(item.metadata.name);
      const next = saidOf(shown.get(encodings[(turn + page) % encodings.length] as Encoding)).token;
      if (typeof next !== "string" || next === "") break;
      token = next;
    }
    const expected = Array.from({ length: count }, (_, index) => `c${index}`);
    attempt.expect("negotiation.independent", sameJson(names, expected), expected.join(), names.join());
  },
});

const requirementOf: Readonly<Record<Encoding, string>> = {
  json: "negotiation.independent",
  yaml: "encodings.yaml",
  protobuf: "encodings.protobuf",
  cbor: "encodings.cbor",
};

interface Said {
  readonly version: Json | undefined;
  readonly token: Json | undefined;
  readonly hasMore: boolean;
  readonly remaining: number;
  readonly names: string;
}

function saidOf(list: JsonObject | undefined): Said {
  const found = list?.["metadata"];
  const metadata = isJsonObject(found) ? found : {};
  const token = metadata["continue"];
  return {
    version: metadata["resourceVersion"],
    token,
    hasMore: typeof token === "string" && token !== "",
    remaining: Number(metadata["remainingItemCount"] ?? 0),
    names: objectsIn(list, "items")
      .map((item) => (isJsonObject(item["metadata"]) ? String(item["metadata"]["name"]) : ""))
      .join(),
  };
}
