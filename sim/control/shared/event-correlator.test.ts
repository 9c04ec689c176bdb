import { expect, it } from "vitest";
import { EventCorrelator } from "./event-correlator.ts";

const second = 1_000_000;

it("writes ten of a kind as one from the tenth on, and no more than 25 at once", () => {
  const correlator = new EventCorrelator();
  const acts = Array.from({ length: 40 }, (_, at) =>
    correlator.correlate(
      { subject: "set", type: "Normal", reason: "SuccessfulCreate", message: `Created pod: ${at}` },
      `n${at}`,
      "now",
      at,
    ),
  );
  const count = (act: string): number => acts.filter((each) => each.act === act).length;
  // As a real cluster wrote for 200 pods: ten creations and fifteen patches of the set's events.
  expect([count("write"), count("raise"), count("drop")]).toEqual([10, 15, 15]);
  expect(acts[9]).toMatchObject({ act: "write", message: "(combined from similar events): Created pod: 9" });
  expect(acts[24]).toMatchObject({ act: "raise", name: "n9", count: 16 });
});

it("counts what is said again, and lets one through in five minutes", () => {
  const correlator = new EventCorrelator();
  const told = { subject: "pod", type: "Warning", reason: "Failed", message: "no" };
  const acts = Array.from({ length: 30 }, () => correlator.correlate(told, "n", "now", 0).act);
  expect(acts.filter((act) => act !== "drop")).toHaveLength(25);
  expect(correlator.correlate(told, "n", "now", 299 * second).act).toBe("drop");
  expect(correlator.correlate(told, "n", "now", 300 * second)).toMatchObject({ act: "raise", name: "n", count: 32 });
});
