import { expect, it } from "vitest";
import { figureText } from "./metrics.ts";

it("a small figure is told from none, and from one that is half as large again", () => {
  const percents = [0, 0.031, 0.055, 0.55, 5.5, 55].map((value) => figureText(value, "%"));
  expect(percents).toEqual(["0.0 %", "0.031 %", "0.055 %", "0.55 %", "5.5 %", "55 %"]);
  const counts = [0, 0.031, 0.55, 5.55, 55, 55_555.5].map((value) => figureText(value, ""));
  expect(counts).toEqual(["0", "0.031", "0.55", "5.5", "55", "55,556"]);
});
