import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { isApiObject, type Json, type JsonObject, objectsIn } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import { judgeCarried, judgeColumns, judgeRows, judgeShape } from "../../model/tables.ts";
import { tableAccept } from "../../runner/features.ts";
import { defineCheck } from "../../runner/define-check.ts";

const anyStep = fc.record({ name: fc.constantFrom("a", "b"), do: fc.constantFrom("create", "merge", "delete") });

/**
 * Property: a watch in Tables tells the same events as a plain one, each as a Table of one row; the columns come at
 * least with the first.
 * Method: two watches over the same random writes, compared event by event.
 */
export const tableWatchesTellRows = defineCheck({
  id: "table-watches-tell-rows",
  area: "tables",
  property: "A watch asked for as Tables tells each event as a Table of one row.",
  requirements: ["tables.watch", "tables.include-object"],
  features: ["configmaps", "watch", "tables"],
  input: fc.array(anyStep, { minLength: 1, maxLength: 5 }),
  async run(attempt, steps) {
    const { dialect } = attempt.profile;
    const apiVersion = `meta.${dialect.groupSuffix}/v1`;
    const collection = await attempt.target.collection("configmaps");
    const { resourceVersion } = await collection.readList();
    const plain = await attempt.openWatch(collection, { resourceVersion });
    const tables = await attempt.answeredWatch(() =>
      collection.watch({ resourceVersion }, { accept: tableAccept(dialect) }),
    );
    for (const [index, { name, do: verb }] of steps.entries()) {
      const data = { k: String(index) };
      if (verb === "create") await collection.create(configMap(name, { data }));
      else if (verb === "merge") await collection.patch(name, "merge", { data });
      else await collection.delete(name);
    }
    const fence = await attempt.fence(collection);
    const told = await attempt.untilFence(plain, fence);
    const ended = await tables.until(() =>
      tables.events.some(({ object }) => rowNames(object).includes(fence.metadata.name)),
    );
    tables.close();
    if (!ended) {
      attempt.expect("tables.watch", tables.status === 200, "a watch in Tables", String(tables.status));
      throw new Inconclusive("no row for the fence in 10 s");
    }
    const events = tables.events.slice(0, told.length);
    const types = (list: readonly { readonly type: string }[]) => list.map(({ type }) => type).join(" ");
    attempt.expect("tables.watch", types(told) === types(events), types(told), types(tables.events));
    const first = tables.events[0]?.object;
    attempt.holds("tables.watch", judgeColumns(first));
    const columns = objectsIn(first, "columnDefinitions");
    for (const [index, { object }] of events.entries()) {
      const whole = told[index]?.object;
      const items = isApiObject(whole) ? [whole] : [];
      attempt.holds("tables.watch", judgeShape(object, apiVersion));
      attempt.holds("tables.watch", judgeRows(object, items, columns));
      attempt.holds("tables.watch", judgeCarried(object, items, "Metadata", apiVersion));
    }
    // What cannot be asked for is refused, not left out.
    const bad = await collection.client.request("GET", collection.path, {
      accept: tableAccept(dialect),
      query: { includeObject: "Everything" },
    });
    attempt.expect("tables.include-object", bad.status === 400, "400 for includeObject=Everything", String(bad.status));
  },
});

function rowNames(table: JsonObject): string[] {
  return objectsIn(table, "rows").map(({ cells }) => String((cells as readonly Json[] | undefined)?.[0]));
}
