import { expect, it } from "vitest";
import { LatencyHistogram } from "../capacity/latency-histogram.ts";
import { renderCsv, figureTable } from "../render/capacity-tables.ts";
import { renderCapacityText } from "../render/capacity-text.ts";
import type { CapacityReport } from "../schema/capacity-report.ts";
import { renderCapacityHtml } from "./capacity-page.ts";

const nothing = { counts: [], sum: 0, max: 0 };

function report(drains: CapacityReport["runs"][number]["drains"]): CapacityReport {
  const run: CapacityReport["runs"][number] = {
    arm: "base",
    repetition: 1,
    seed: "s",
    virtualMicros: 60_000_000,
    nodes: 3,
    requests: [
      {
        who: "d",
        verb: "create",
        resource: "pods/eviction",
        scope: "resource",
        code: 429,
        count: 7,
        bytesIn: 0,
        bytesOut: 0,
      },
    ],
    byVerb: [],
    byWho: [{ who: "d", seconds: [7] }],
    lists: [],
    watches: [],
    agents: { count: 0, requests: 0, most: 0, mostName: "" },
    store: { objects: [], bytes: 0, bytesMost: 0, revisions: 0, revisionBytes: 0, bytesOverTime: [] },
    pods: { created: 0, ready: 0, deleted: 0, unscheduled: 0, evicted: 0 },
    ...(drains === undefined ? {} : { drains }),
    latencies: [],
    latencyOverTime: [],
    partMicros: 1_000_000,
    podStartup: nothing,
    podScheduled: nothing,
    podPulled: nothing,
    watchDelivery: nothing,
    seatWaits: nothing,
    processor: { cores: 1, busyMicros: 0, busySeconds: [] },
    objectives: [],
    measured: { wallMillis: 0, events: 0 },
  };
  return {
    apiVersion: "capacity-reports/v1",
    kind: "CapacityReport",
    name: "x",
    question: "How long?",
    build: "b",
    profile: "kubernetes",
    form: "tiny",
    experiment: "",
    costs: [],
    arms: [{ name: "base", changes: [] }],
    repetitions: 1,
    reality: [],
    realityEvents: [],
    runs: [run],
  };
}

it("says how many nodes were drained, and how long it took, where any were to be", () => {
  const took = new LatencyHistogram();
  for (const seconds of [1, 2, 9]) took.add(seconds * 1_000_000);
  const page = renderCapacityHtml(report({ nodes: 4, done: 3, micros: took.data() }));
  expect(page).toContain('<td class="broken">3 of 4</td>');
  const row = /3 of 4<\/td>(.*?)<\/tr>/.exec(page)?.[1]?.replaceAll("</td>", "").split("<td>").slice(1);
  expect(row).toEqual(
    ["2.00 s", "9.00 s", "9.00 s", "–", "7"].map((text, at) =>
      at === 0 ? expect.stringMatching(/^(1\.9\d|2\.0\d) s$/) : text,
    ),
  );
  expect(renderCapacityHtml(report(undefined))).not.toContain("Drains");
});

it("says what its map of load shows in words that hold for a light page and for a dark one", () => {
  const page = renderCapacityHtml(report(undefined));
  expect(page).toContain("Load by component and second: the stronger the colour, the more requests");
  expect(page).not.toMatch(/darker|lighter|brighter/);
});

it("says that nothing was measured in the place of tables without rows, and who was not played", () => {
  const one = report(undefined);
  const none: CapacityReport = { ...one, runs: [], unmeasured: [{ arm: "base", repetition: 1 }] };
  const page = renderCapacityHtml(none);
  expect(page).toContain("No run came to where it is measured: there are no figures.");
  expect(page).not.toMatch(/<caption>(Objectives|Figures)/);
  expect(renderCapacityText(none)).not.toContain("requests, counted");

  const objectives = [{ text: "lists ≤ 1", value: 2, limit: 1, unit: "count" as const, met: false }];
  const half: CapacityReport = {
    ...one,
    arms: [...one.arms, { name: "late", changes: [] }],
    repetitions: 3,
    runs: one.runs.map((run) => ({ ...run, objectives })),
  };
  expect(renderCapacityHtml(half)).toContain('<th scope="row">late</th><td class="none" colspan="1">not played</td>');
  for (const text of [renderCapacityHtml(half), renderCapacityText(half)])
    expect(text).toContain("An objective is judged by the worst of 3 repetitions.");
});

it("judges no run that was cut short, counts it in no mean, and says so of it and of those that never began", () => {
  const [run] = report(undefined).runs as [CapacityReport["runs"][number]];
  const asked = (count: number) => run.requests.map((row) => ({ ...row, count }));
  const found = (value: number) => [{ text: "refused ≤ 8", value, limit: 8, unit: "count" as const, met: value <= 8 }];
  const cut = { ...run, stoppedBy: "interrupted", virtualMicros: 2_000_000, requests: asked(3), objectives: found(3) };
  const lacking: CapacityReport = {
    ...report(undefined),
    arms: ["base", "late", "none"].map((name) => ({ name, changes: [] })),
    repetitions: 3,
    runs: [
      { ...run, requests: asked(9), objectives: found(9) },
      { ...cut, repetition: 2 },
      { ...cut, arm: "late" },
      { ...cut, arm: "late", repetition: 2, requests: asked(5) },
    ],
    unmeasured: [{ arm: "base", repetition: 3 }],
    lacking: [{ arm: "late", repetition: 3 }, ...[1, 2, 3].map((repetition) => ({ arm: "none", repetition }))],
  };
  const [text, page] = [renderCapacityText(lacking), renderCapacityHtml(lacking)];
  for (const told of [text, page])
    for (const line of [
      "STOPPED base, repetition 2, after 2.00 s: interrupted; it counts for nothing",
      "STOPPED base, repetition 3, before its measured time began: it counts for nothing",
      "STOPPED late, repetition 1, after 2.00 s: interrupted; its figures are those up to then, and nothing is judged by them",
      "STOPPED late, repetition 2, after 2.00 s: interrupted; it counts for nothing",
      "NOT PLAYED 4 of 9 runs: late, repetition 3; none, repetition 1; none, repetition 2; none, repetition 3",
      "An objective is judged by the worst of those repetitions that came to their end.",
      "late (cut short)",
    ])
      expect(told).toContain(line);
  expect(text).toMatch(/create pods\/eviction +9 +3 +–\n/);
  expect(text).toContain("BREACH base: refused ≤ 8: 9");
  expect(text).toContain("NONE   late: refused ≤ 8: not judged, since it was cut short");
  expect(text).not.toContain("PASS");
  expect(page).toContain(
    '<th scope="row">late (cut short)</th><td class="none">not judged, since it was cut short</td>',
  );
  const figures = renderCsv(figureTable(lacking));
  expect(figures).toMatch(/\nx,base,1,requests,/);
  expect(figures).not.toMatch(/late|,2,/);
});

it("says of what is shown second by second which repetition it is", () => {
  const one = report(undefined);
  expect(renderCapacityHtml(one)).toContain("<h2>second by second</h2>");
  const [run] = one.runs as [CapacityReport["runs"][number]];
  const runs = [
    { ...run, stoppedBy: "interrupted" },
    { ...run, repetition: 2 },
  ];
  expect(renderCapacityHtml({ ...one, repetitions: 3, runs })).toContain(
    "<h2>second by second: repetition 2 of 3</h2>",
  );
});
