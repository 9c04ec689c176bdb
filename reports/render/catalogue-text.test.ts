import { describe, expect, it } from "vitest";
import { renderCatalogueText } from "./catalogue-text.ts";
import { sampleCatalogue } from "./sample-catalogue.fixture.ts";

describe("the catalogue as text", () => {
  it("has requirements by area, each with its judges or why it has none, and then the checks", () => {
    expect(renderCatalogueText(sampleCatalogue)).toBe(
      [
        "3 requirements, 1 checks",
        "",
        "expiry (2)",
        "  expiry.gone (must)  document 1, Watch 3",
        "      A watch from a version that is gone is answered 410.",
        "      by watches-expire",
        "  expiry.reason (observed)  observed: 410 has the reason Expired",
        "      The reason of a 410 is Expired.",
        "      simulation: It takes an hour.",
        "      shown by sim/expiry.test.ts",
        "",
        "tables (1)",
        "  tables.colour (may)  document 2, Limits, colour | size",
        "      A table may have *any* colour.",
        "      our reading: It says may.",
        "      no: It allows all.",
        "",
        "CHECKS (1)",
        "  watches-expire (must)  expiry, waits by URL: level full only",
        "      Old watches are refused.",
        "      judges expiry.gone",
        "",
      ].join("\n"),
    );
  });

  it("paints by meaning when it is given colours", () => {
    expect(renderCatalogueText(sampleCatalogue, (tone, text) => `<${tone}>${text}</>`)).toContain(
      "<strong>tables (1)</>",
    );
  });
});
