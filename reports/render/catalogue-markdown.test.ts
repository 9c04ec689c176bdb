import { describe, expect, it } from "vitest";
import { renderCatalogueMarkdown } from "./catalogue-markdown.ts";
import { sampleCatalogue } from "./sample-catalogue.fixture.ts";

const render = (verdicts: Parameters<typeof renderCatalogueMarkdown>[1]) =>
  renderCatalogueMarkdown(sampleCatalogue, verdicts, { introduction: "# Requirements\n", rootFolder: ".." });

describe("the catalogue as Markdown", () => {
  it("has a line a requirement, by area, with its judges and its last verdicts", () => {
    expect(render({ svc: { "expiry.gone": "passed" }, kubernetes: {} })).toBe(
      [
        "# Requirements",
        "",
        "## Summary",
        "",
        "| area | all | must | should | may | observed | judged by checks | pending | process | simulation | no | passed, svc | passed, kubernetes |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        "| [expiry](#expiry) | 2 | 1 | 0 | 0 | 1 | 1 | 0 | 0 | 1 | 0 | 1 | 0 |",
        "| [tables](#tables) | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 |",
        "| **all** | 3 | 1 | 0 | 1 | 1 | 1 | 0 | 0 | 1 | 1 | 1 | 0 |",
        "",
        "## expiry",
        "",
        "| requirement | level | source | promise | checks, or why none | svc | kubernetes |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| `expiry.gone` | must | 1: Watch 3 | A watch from a version that is gone is answered 410. | [watches-expire] | passed | not run yet |",
        "| `expiry.reason` | observed | 410 has the reason Expired | The reason of a 410 is Expired. | simulation: It takes an hour. [test](../sim/expiry.test.ts) |  |  |",
        "",
        "## tables",
        "",
        "| requirement | level | source | promise | checks, or why none | svc | kubernetes |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| `tables.colour` | may | 2: Limits, colour \\| size | A table may have \\*any\\* colour. (Our reading: It says may.) | no: It allows all. |  |  |",
        "",
        "[watches-expire]: ../conformance/checks/expiry/watches-expire.ts",
        "",
      ].join("\n"),
    );
  });

  it("counts as passed only what passed", () => {
    expect(render({ svc: { "expiry.gone": "failed" } })).toContain(
      "| [expiry](#expiry) | 2 | 1 | 0 | 0 | 1 | 1 | 0 | 0 | 1 | 0 | 0 |",
    );
  });
});
