import { expect, it } from "vitest";
import { renderPerfetto } from "../render/perfetto.ts";
import { renderTraceText } from "../render/trace-text.ts";
import type { TraceDocument } from "../schema/trace-document.ts";
import { renderTracePage } from "./trace-page.ts";

const hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>";
const trace: TraceDocument = {
  apiVersion: "traces/v1",
  kind: "Trace",
  scenario: "tried",
  seed: 1,
  profile: "svc",
  mode: "lite",
  bugs: [],
  untilMicros: 2_000_000,
  traceHash: "0123456789abcdef",
  lanes: [
    { name: "store", kind: "store" },
    { name: "apiserver", kind: "server" },
    { name: "writer-1", kind: "client" },
  ],
  entries: [
    { atMicros: 1_000_000, lane: "writer-1", sign: "?", text: hostile },
    { atMicros: 1_005_000, lane: "store", sign: "+", text: "default/a", revision: 7 },
  ],
  messages: [
    { from: "writer-1", to: "apiserver", sentMicros: 1_000_000, arrivesMicros: 1_005_000, about: "POST" },
    { from: "apiserver", to: "writer-1", sentMicros: 1_005_000, about: "201" },
  ],
  faults: [{ what: "partition", places: ["writer-1", "apiserver"], fromMicros: 1_000_000, toMicros: 1_500_000 }],
  writes: [
    {
      revision: 7,
      atMicros: 1_005_000,
      key: "/registry/configmaps/default/a",
      sign: "+",
      object: { data: { x: hostile } },
    },
  ],
};

it("is one page with one script, whatever the run has in it", () => {
  const page = renderTracePage(trace);
  expect(page.match(/<script/g)).toHaveLength(2); // the data, and what draws it
  expect(page.match(/<\/script>/g)).toHaveLength(2);
  expect(page).not.toContain("<img");
  const data = /<script type="application\/json" id="trace-data">(.*?)<\/script>/s.exec(page)?.[1] ?? "";
  expect(JSON.parse(data)).toEqual(trace);
});

it("speaks of faults that last, and not of what is wrong, beside a promise that is broken", () => {
  const page = renderTracePage(trace);
  expect(page).toContain("No fault lasts at this moment.");
  expect(page).not.toContain("is wrong now");
});

it("is a trace for Chrome's tools: lanes, instants, spans, and a flow for each message that arrived", () => {
  const { traceEvents } = JSON.parse(renderPerfetto(trace)) as {
    traceEvents: { ph: string; name: string; dur?: number }[];
  };
  const count = (kind: string): number => traceEvents.filter(({ ph }) => ph === kind).length;
  expect([count("i"), count("s"), count("f")]).toEqual([2, 1, 1]);
  expect(traceEvents.find(({ name }) => name === "partition writer-1 apiserver")?.dur).toBe(500_000);
});

it("is text with each sign in its own column", () => {
  expect(renderTraceText(trace)).toContain("    1.005000 +|| store     + default/a @7");
});
