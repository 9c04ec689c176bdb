/** A small catalogue for the tests of renderers. */
import type { Catalogue } from "../schema/catalogue.ts";

export const sampleCatalogue: Catalogue = {
  apiVersion: "catalogue/v1",
  kind: "Catalogue",
  requirements: [
    {
      id: "expiry.gone",
      level: "must",
      source: { document: 1, clause: "Watch 3" },
      text: "A watch from a version that is gone is answered 410.",
      judged: "url",
      checks: ["watches-expire"],
    },
    {
      id: "expiry.reason",
      level: "observed",
      source: { document: undefined, clause: "410 has the reason Expired" },
      text: "The reason of a 410 is Expired.",
      judged: "simulation",
      why: "It takes an hour.",
      tests: ["sim/expiry.test.ts"],
      checks: [],
    },
    {
      id: "tables.colour",
      level: "may",
      reading: "It says may.",
      source: { document: 2, clause: "Limits, colour | size" },
      text: "A table may have *any* colour.",
      judged: "no",
      why: "It allows all.",
      checks: [],
    },
  ],
  checks: [
    {
      id: "watches-expire",
      area: "expiry",
      level: "must",
      property: "Old watches are refused.",
      requirements: ["expiry.gone"],
      features: ["watch"],
      waits: true,
    },
  ],
};
