import { objectOf } from "../../client/collection.ts";
import type { Collection } from "../../client/collection.ts";
import { columnsText, judgeRows } from "../../model/tables.ts";
import { withDefinition } from "../../runner/custom-definition.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { tableAccept } from "../../runner/features.ts";

const defaultColumns = "Name string, Created At date";

/** A type shows the columns that it has, and the two of everybody when it has none. One run says all. */
export const typesHaveTheirColumns = defineCheck({
  id: "types-have-their-columns",
  area: "tables",
  property: "A type without columns of its own has Name and Created At; a definition's columns are its Tables'.",
  requirements: ["tables.default-columns", "tables.custom-columns"],
  features: ["namespaces", "tables"],
  async run(attempt) {
    const { dialect } = attempt.profile;
    const schema = { type: "object", [`${dialect.extensionPrefix}preserve-unknown-fields`]: true };
    const tableOf = async (widgets: Collection) => {
      const stored = objectOf(await widgets.get("a"));
      const { json } = await widgets.client.request("GET", widgets.path, { accept: tableAccept(dialect) });
      return { json, rows: judgeRows(json, [stored]) };
    };
    await withDefinition(attempt, schema, async ({ widgets, widget }) => {
      objectOf(await widgets.create(widget("a", { spec: { size: 3 } })));
      const { json, rows } = await tableOf(widgets);
      const columns = columnsText(json);
      const promise = columns === defaultColumns ? undefined : { expected: defaultColumns, actual: columns };
      attempt.holdsOrDeviates(
        "custom-tables-show-age",
        "tables.default-columns",
        promise,
        columns === "Name string, Age date",
      );
      attempt.holds("tables.default-columns", rows);
    });
    const additionalPrinterColumns = [
      { name: "Size", type: "integer", jsonPath: ".spec.size" },
      { name: "Colour", type: "string", jsonPath: ".spec.colour", priority: 1 },
    ];
    const columned = { version: { additionalPrinterColumns }, suffix: "-columns" };
    await withDefinition(
      attempt,
      schema,
      async ({ widgets, widget }) => {
        objectOf(await widgets.create(widget("a", { spec: { size: 3 } })));
        const { json, rows } = await tableOf(widgets);
        const expected = "Name string, Size integer, Colour string";
        attempt.expect("tables.custom-columns", columnsText(json) === expected, expected, columnsText(json));
        attempt.holds("tables.custom-columns", rows);
        const cells = JSON.stringify((json as { rows?: { cells?: unknown }[] }).rows?.[0]?.cells);
        attempt.expect("tables.custom-columns", cells === '["a",3,null]', '["a",3,null]', cells);
      },
      columned,
    );
  },
});
