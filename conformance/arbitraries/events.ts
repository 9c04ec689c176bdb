import fc from "fast-check";
import type { Dialect } from "../../wire/dialect.ts";
import type { JsonObject } from "../client/types.ts";

/** The group of events, with its version. */
export const eventsGroupVersion = ({ groupSuffix }: Dialect): string => `events.${groupSuffix}/v1`;

/** What an event says. Absent fields are left out when it is sent. */
export type Report = JsonObject;

/** A report about a pod of the namespace, complete. Nobody runs the pod. */
export function reportAbout(namespace: string, parts: Report = {}): Report {
  return {
    eventTime: "2026-01-01T00:00:00.000001Z",
    action: "Binding",
    reason: "Scheduled",
    type: "Normal",
    note: "assigned",
    regarding: { apiVersion: "v1", kind: "Pod", namespace, name: "p" },
    reportingController: "example.com/touchstone",
    reportingInstance: "touchstone-1",
    ...parts,
  };
}

export function eventOf(apiVersion: string, name: string, report: Report, labels: JsonObject = {}): JsonObject {
  return { apiVersion, kind: "Event", metadata: { name, labels }, ...report };
}

export const anyMicroTime: fc.Arbitrary<string> = fc
  .tuple(fc.nat(59), fc.nat(999_999))
  .map(([second, micros]) => `2026-01-01T00:00:${pad(second, 2)}.${pad(micros, 6)}Z`);

const pad = (value: number, length: number): string => String(value).padStart(length, "0");

/** Lengths on both sides of 128. */
const anyShortText = fc.oneof(
  fc.stringMatching(/^[A-Z][a-z]{0,9}$/),
  fc.constantFrom(127, 128, 129, 200).map((length) => "A".repeat(length)),
  fc.constant(""),
);

const anySeries: fc.Arbitrary<JsonObject | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.record({ count: fc.constantFrom(0, 1, 2, 3, 1000), lastObservedTime: anyMicroTime }),
  fc.constant({ count: 3 }),
);

/** Changes of some fields of a complete report, to values on both sides of their rules. */
const anyNewParts: fc.Arbitrary<Report> = fc.record(
  {
    eventTime: fc.oneof(anyMicroTime, fc.constant(null)),
    action: anyShortText,
    reason: anyShortText,
    type: fc.constantFrom("Normal", "Warning", "", "normal"),
    note: fc.oneof(
      fc.constantFrom(0, 1023, 1024, 1025).map((length) => "n".repeat(length)),
      fc.constant("é".repeat(513)),
    ),
    reportingController: fc.constantFrom("example.com/c", "c", ""),
    reportingInstance: anyShortText,
    series: anySeries as fc.Arbitrary<JsonObject>,
    related: fc.constant({ apiVersion: "v1", kind: "Node", name: "n" }),
  },
  { requiredKeys: [] },
);

const anyDeprecatedParts: fc.Arbitrary<Report> = fc.record(
  {
    deprecatedCount: fc.constantFrom(0, 7),
    deprecatedFirstTimestamp: fc.constant("2026-01-01T00:00:00Z"),
    deprecatedLastTimestamp: fc.constant("2026-01-01T00:00:05Z"),
    deprecatedSource: fc.constantFrom<JsonObject>({ component: "touchstone", host: "n" }, {}),
  },
  { requiredKeys: [] },
);

/** Those, and now and then fields of the older form, which many a server refuses. */
export const anyReportParts: fc.Arbitrary<Report> = fc.oneof(
  { weight: 9, arbitrary: anyNewParts },
  { weight: 1, arbitrary: anyDeprecatedParts },
);
