import { describe, expect, it } from "vitest";
import { judgeCleared, judgeRaised, judgeTaints, judgeTransition } from "./conditions.ts";
import { history, sighting } from "./hand-written.fixture.ts";

const soft = {
  evictionSoft: { "memory.available": "20" },
  evictionSoftGracePeriod: { "memory.available": "1h" },
  evictionPressureTransitionPeriod: "20s",
};
/** Held at the look at 10 s alone. */
const looks = [30, 15, 30, 30, 30];
const seen = (atMillis: number, status: "True" | "False") =>
  history(soft, looks, { sightings: [sighting(atMillis, status)] });

describe("a pressure condition", () => {
  it("is True while a threshold is held, before its grace period is over", () => {
    expect(judgeRaised(seen(16_000, "True"))).toEqual({ judged: true, violation: undefined });
    expect(judgeRaised(seen(16_000, "False")).violation?.actual).toContain("MemoryPressure False at 16000 ms");
  });
  it("may be told late", () => {
    expect(judgeRaised(seen(14_000, "False")).judged).toBe(false);
    expect(judgeCleared(seen(34_000, "True")).judged).toBe(false);
  });
  it("stays for the transition period, and not for longer", () => {
    expect(judgeTransition(seen(26_000, "False")).violation).toBeDefined();
    expect(judgeTransition(seen(26_000, "True"))).toEqual({ judged: true, violation: undefined });
    expect(judgeCleared(seen(36_000, "True")).violation).toBeDefined();
    expect(judgeCleared(seen(36_000, "False"))).toEqual({ judged: true, violation: undefined });
  });
  it("is False without pressure, and not known before the first look", () => {
    expect(judgeCleared(seen(6000, "True")).violation).toBeDefined();
    expect(judgeCleared(seen(4000, "True")).judged).toBe(false);
  });
});

describe("the time of a sighting", () => {
  it("gives each law its own occasion", () => {
    expect(
      [seen(4000, "False"), seen(36_000, "False"), seen(16_000, "False")].map((at) => judgeTransition(at).judged),
    ).toEqual([false, false, false]);
    expect([seen(4000, "False"), seen(26_000, "False")].map((at) => judgeRaised(at).judged)).toEqual([false, false]);
    expect([seen(16_000, "True"), seen(26_000, "True")].map((at) => judgeCleared(at).judged)).toEqual([false, false]);
  });
  it("counts a look at that moment, and one that a report took to the millisecond", () => {
    expect(judgeCleared(seen(10_000, "True")).judged).toBe(false);
    expect(judgeRaised(seen(15_000, "False")).violation).toBeDefined();
    expect(judgeRaised(seen(14_999, "False")).judged).toBe(false);
  });
  it("leaves open which of two looks was reported", () => {
    expect(judgeTransition(seen(22_000, "False")).violation).toBeDefined(); // reported at both, held at the earlier
    expect(judgeTransition(seen(32_000, "False")).judged).toBe(false); // reported at the earlier alone
  });
  it("is no occasion where conditions are not kept for any time", () => {
    const none = { ...soft, evictionPressureTransitionPeriod: "0s" };
    const wrong = history(none, looks, { sightings: [sighting(16_000, "False"), sighting(36_000, "True")] });
    expect([judgeRaised(wrong), judgeTransition(wrong), judgeCleared(wrong)]).toEqual(
      Array.from({ length: 3 }, () => ({ judged: false, violation: undefined })),
    );
  });
});

describe("taints", () => {
  const judge = (...sightings: ReturnType<typeof sighting>[]) =>
    judgeTaints({ sightings, patience: { reportMillis: 0, evictionMillis: 0, tellMillis: 0, taintMillis: 5000 } });
  it("follow a condition that stays", () => {
    expect(judge(sighting(0, "True"), sighting(4000, "True"), sighting(5000, "True", true))).toEqual({
      judged: true,
      violation: undefined,
    });
    expect(judge(sighting(0, "True"), sighting(5000, "True")).violation?.expected).toContain("MemoryPressure");
    expect(judge(sighting(0, "False", true), sighting(5000, "False", true)).violation).toBeDefined();
  });
  it("have time after the last of several changes", () => {
    const often = [sighting(0, "False"), sighting(1000, "True"), sighting(2000, "False"), sighting(4000, "True")];
    expect(judge(...often, sighting(8000, "True")).judged).toBe(false);
    expect(judge(...often, sighting(9000, "True")).violation).toBeDefined();
  });
  it("have time after each change", () => {
    expect(judge(sighting(0, "True"), sighting(4000, "False"), sighting(8000, "True")).judged).toBe(false);
  });
});
