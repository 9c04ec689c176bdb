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

const percent = (part: number, whole: number): number => Math.floor((100 * part) / whole);
