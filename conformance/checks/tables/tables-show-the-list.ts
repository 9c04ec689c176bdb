import fc from "fast-check";
import { anyName, anyTeam, configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { mediaTypeOf } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { type ApiObject, isJsonObject, type JsonObject, objectsIn } from "../../client/types.ts";
import { type IncludeObject, judgeCarried, judgeColumns, judgeRows, judgeShape } from "../../model/tables.ts";
import { tableAccept } from "../../runner/features.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: a Table has a row for each object of the plain list, in its order and on its pages, and carries of each
 * what `includeObject` says.
 * Method: any ConfigMaps, listed both ways with the same selector and limit; one of them read as a Table of one row.
 */
export const tablesShowTheList = defineCheck({
  id: "tables-show-the-list",
  area: "tables",
  property: "A Table shows what the plain list shows, row by row and page by page.",
  requirements: ["tables.shape", "tables.columns", "tables.rows", "tables.pages", "tables.include-object"],
  features: ["configmaps", "tables"],
  input: fc.record({
    objects: fc.uniqueArray(fc.record({ name: anyName, team: anyTeam }), {
      selector: ({ name }) => name,
      minLength: 1,
      maxLength: 5,
    }),
    include: fc.constantFrom<IncludeObject | undefined>("None", "Metadata", "Object", undefined),
    limit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    selected: fc.boolean(),
  }),
  examples: [
    {
      objects: [
        { name: "a", team: "red" },
        { name: "b", team: "blue" },
      ],
      include: undefined,
      limit: 1,
      selected: false,
    },
    { objects: [{ name: "a", team: "blue" }], include: "Object", limit: undefined, selected: true },
  ],
  async run(attempt, { objects, include, limit, selected }) {
    const { dialect } = attempt.profile;
    const apiVersion = `meta.${dialect.groupSuffix}/v1`;
    const collection = await attempt.target.collection("configmaps");
    const { client } = collection;
    for (const { name, team } of objects) {
      objectOf(await collection.create(configMap(name, { team, data: { k: "v" }, labels: { own: "yes" } })));
    }
    const labelSelector = selected ? "team=red" : "own=yes";
    const accept = tableAccept(dialect);
    const ask = async (query: JsonObject, name?: string) => {
      const asked = { ...query, includeObject: include } as Record<string, string | undefined>;
      const answer =
        name === undefined
          ? await collection.listKept(asked, { accept })
          : await client.request("GET", collection.pathOf(name), { accept, query: asked });
      attempt.holds("tables.shape", judgeShape(answer.json, apiVersion));
      const type = mediaTypeOf(answer.headers);
      attempt.expect("tables.shape", type === "application/json", "application/json", type);
      attempt.holds("tables.columns", judgeColumns(answer.json));
      return answer;
    };
    const shows = (answer: Answer, items: readonly ApiObject[]) => {
      attempt.holds("tables.rows", judgeRows(answer.json, items));
      attempt.holds("tables.include-object", judgeCarried(answer.json, items, include ?? "Metadata", apiVersion));
    };
    const { items } = await collection.readList({ labelSelector });
    let from = 0;
    let token: string | undefined;
    let pages = 0;
    do {
      const page = await ask({ labelSelector, limit, continue: token });
      const count = objectsIn(page.json, "rows").length;
      const most = limit ?? items.length;
      attempt.expect("tables.pages", count <= most, `at most ${most} rows`, `${count} rows`);
      shows(page, items.slice(from, from + count));
      from += count;
      pages += 1;
      token = (metadataOf(page)["continue"] as string | undefined) || undefined;
    } while (token !== undefined && pages <= objects.length);
    const isWhole = from === items.length && token === undefined;
    attempt.expect("tables.pages", isWhole, `${items.length} rows on all pages`, `${from} rows on ${pages} pages`);
    // Without a selector the count of what remains is told as for a plain list.
    const plain = await collection.list({ limit: 1 });
    const table = await ask({ limit: 1 });
    const [expected, actual] = [metadataOf(plain), metadataOf(table)].map((metadata) =>
      // An empty token is none; how many remain may have changed meanwhile, for others write here as well: with one
      // object of our own, whether any remain.
      JSON.stringify(
        objects.length === 1
          ? [typeof metadata["resourceVersion"]]
          : [typeof metadata["resourceVersion"], Boolean(metadata["continue"]), typeof metadata["remainingItemCount"]],
      ),
    ) as [string, string];
    attempt.expect(
      "tables.pages",
      expected === actual,
      `version, token and count as in the plain list: ${expected}`,
      actual,
    );

    const name = objects[0]?.name as string;
    shows(await ask({}, name), [objectOf(await collection.get(name))]);
    const none = await ask({ labelSelector: "own=nobody" });
    const isEmpty =
      isJsonObject(none.json) && Array.isArray(none.json["rows"]) && objectsIn(none.json, "rows").length === 0;
    attempt.expect("tables.rows", isEmpty, "rows: an empty array for an empty list", none.text.slice(0, 300));
  },
});

function metadataOf(answer: Answer): JsonObject {
  const metadata = isJsonObject(answer.json) ? answer.json["metadata"] : undefined;
  return isJsonObject(metadata) ? metadata : {};
}
