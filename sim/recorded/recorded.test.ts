import { describe, expect, it } from "vitest";
import { topics } from "./exchanges.ts";
import { judge } from "./judge.ts";
import { replay } from "./replay.ts";
import { floors } from "./floors.ts";
import { recordedTarget } from "./target.ts";

describe("the simulated server answers as the recorded one did", () => {
  it.each(topics)("$topic", (topic) => {
    const judgements = replay(topic, recordedTarget(topic)).map(judge);
    const misses = judgements.filter(({ sameOutcome }) => !sameOutcome);
    const outcomePercent = percent(judgements.length - misses.length, judgements.length);
    const contentPercent = percent(judgements.filter(({ sameContent }) => sameContent).length, judgements.length);
    console.log(`${topic.topic}: outcome ${outcomePercent} %, content ${contentPercent} % of ${judgements.length}`);
    const listed = misses.map(({ id, expected, actual }) => `${id}: ${expected}, but ${actual}`).join("\n");
    const floor = floors[topic.topic];
    expect(floor).toBeDefined();
    expect(outcomePercent, listed).toBeGreaterThanOrEqual(floor?.outcomePercent ?? 100);
    expect(contentPercent).toBeGreaterThanOrEqual(floor?.contentPercent ?? 100);
  });
});

describe("of all that each version was recorded with", () => {
  it.each(["kubernetes-1.33", "kubernetes-1.36"])(
    "%s: 99 of 100 outcomes and 95 of 100 contents are the same",
    (name) => {
      const own = topics.filter(({ profile, gates }) => profile === name && gates.length === 0);
      const judgements = own.flatMap((topic) => replay(topic, recordedTarget(topic)).map(judge));
      const same = judgements.filter(({ sameContent }) => sameContent).length;
      expect(judgements.length).toBeGreaterThan(300);
      expect(
        percent(judgements.filter(({ sameOutcome }) => sameOutcome).length, judgements.length),
      ).toBeGreaterThanOrEqual(99);
      expect(percent(same, judgements.length)).toBeGreaterThanOrEqual(95);
    },
  );
});

const percent = (part: number, whole: number): number => Math.floor((100 * part) / whole);
