/** What a thread says of a run: nothing but its hash, or every record when the hash is another one. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { firstDivergence, traceOfRecords } from "../../sim/kernel/determinism.ts";
import runPart from "./run-part.ts";

const scenarioName = "scenarios/one-broken-link.yaml";
const part = {
  scenario: readFileSync(new URL(`../../${scenarioName}`, import.meta.url), "utf8"),
  scenarioName,
  profile: "svc",
  mode: "lite",
  bugs: [],
} as const;

it("sends records only when they are wanted, and they tell where two runs part", () => {
  const first = runPart({ ...part, seed: 1, hash: "" });
  expect(first.records).toHaveLength(first.count);
  const { hash } = first;
  expect(runPart({ ...part, seed: 1, hash })).toEqual({ hash, count: first.count, records: [] });
  const other = runPart({ ...part, seed: 2, hash });
  const divergence = firstDivergence(traceOfRecords(hash, first.records), traceOfRecords(other.hash, other.records));
  expect(divergence?.first).not.toEqual(divergence?.second);
});
