import { anyReportParts, eventOf, eventsGroupVersion, reportAbout } from "../../arbitraries/events.ts";
import { objectOf } from "../../client/collection.ts";
import { causesOf, shownAnswer } from "../../client/status-document.ts";
import { brokenField, differingField, openRule, reportOf, ruleOfField } from "../../model/event-rules.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: a new event is taken exactly when its fields keep their rules, and is read back as it was reported.
 * Method: random changes of a complete report, on both sides of every rule; what is refused leaves nothing behind.
 */
export const eventsSayWhatHappened = defineCheck({
  id: "events-say-what-happened",
  area: "events",
  property: "An event is taken when it says what happened, and kept as it says it.",
  requirements: [
    "events.event-time",
    "events.action",
    "events.reason",
    "events.type",
    "events.type-known",
    "events.series-count",
    "events.deprecated-unset",
    "events.controller",
    "events.instance",
    "events.note-length",
    "events.series",
    "events.singleton",
    "events.micro-time",
    "events.read-back",
  ],
  features: ["events", "namespaces"],
  input: anyReportParts,
  examples: [
    {},
    { eventTime: null },
    { action: "" },
    { action: "A".repeat(128) },
    { action: "A".repeat(129) },
    { reason: "" },
    { reason: "A".repeat(129) },
    { type: "" },
    { type: "Odd" },
    { reportingController: "" },
    { reportingInstance: "A".repeat(129) },
    { note: "n".repeat(1024) },
    { note: "n".repeat(1025) },
    { series: { count: 1, lastObservedTime: "2026-01-01T00:00:01.000002Z" } },
    { series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000002Z" } },
    { series: { count: 3 } },
    { deprecatedCount: 7, deprecatedSource: { component: "touchstone", host: "n" } },
    { deprecatedCount: 7 },
    { deprecatedFirstTimestamp: "2026-01-01T00:00:00Z" },
    { deprecatedLastTimestamp: "2026-01-01T00:00:05Z" },
  ],
  async run(attempt, parts) {
    const groupVersion = eventsGroupVersion(attempt.profile.dialect);
    const events = await attempt.target.collection("events", "", `/apis/${groupVersion}`);
    const sent = reportAbout(await attempt.target.namespace(), parts);
    const broken = brokenField(sent);
    const open = broken === undefined ? openRule(sent) : undefined;
    const answer = await events.create(eventOf(groupVersion, "e", sent));
    if (broken !== undefined) {
      // Beside an invalid value, a time or a count that is no such thing may already fail to be read.
      const refused = answer.status === 422 || answer.status === 400;
      attempt.expect(ruleOfField[broken], refused, `refused: ${broken} breaks its rule`, shownAnswer(answer));
      const absent = await events.get("e");
      attempt.expect(
        ruleOfField[broken],
        absent.status === 404,
        "nothing kept of what was refused",
        shownAnswer(absent),
      );
      return;
    }
    if (open !== undefined) {
      const isRefused = answer.status === 422 || answer.status === 400;
      const may = isRefused || (attempt.profile.eventRules === "open" && answer.status < 300);
      const why = "the type is not known, the series is of one, or a field is of the older form";
      attempt.expect(open, may, `refused: ${why}`, shownAnswer(answer));
      if (isRefused) {
        const absent = await events.get("e");
        attempt.expect(open, absent.status === 404, "nothing kept of what was refused", shownAnswer(absent));
        return;
      }
    }
    const changed = Object.keys(parts).find((field) => field in ruleOfField) as keyof typeof ruleOfField | undefined;
    const named = causesOf(answer).map(({ field }) => field);
    const requirement = answer.status < 300 || changed === undefined ? "events.read-back" : ruleOfField[changed];
    attempt.expect(
      requirement,
      answer.status < 300,
      "the event, made: all rules are kept",
      `${shownAnswer(answer)} ${named.join()}`,
    );
    const read = objectOf(await events.get("e"), "events.read-back");
    const [said, wanted] = [reportOf(read, "own"), reportOf(sent, "own")];
    const differing = differingField(said, wanted);
    const rule = differing === "eventTime" || differing === "series" ? "events.micro-time" : "events.read-back";
    attempt.expect(
      rule,
      differing === undefined,
      `${differing} ${JSON.stringify(wanted[differing ?? ""])}`,
      JSON.stringify(said[differing ?? ""]),
    );
    attempt.holds("events.micro-time", undefined);
    if (sent["series"] === undefined) {
      const series = read["series"] ?? null;
      attempt.expect("events.singleton", series === null, "no series", JSON.stringify(series));
    }
  },
});
