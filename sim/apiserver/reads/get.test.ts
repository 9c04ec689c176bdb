import { describe, expect, it } from "vitest";
import { ApiError } from "../../contract/errors.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { Testbed, versionOf } from "./reads.fixture.ts";
import type { JsonObject } from "../../contract/http-message.ts";

const SECOND = 1_000_000;

/** The cache has `n/a` at 2; the store has it at 3. */
function lagging(profile = svcProfile): Testbed {
  const bed = new Testbed({ profile });
  bed.put("n/a");
  bed.context.frontEnd.setLag(SECOND);
  bed.put("n/a");
  return bed;
}

const refused = (answer: unknown): { code: number; message: string; retry: number | undefined } => {
  const { code, message, retryAfterSeconds: retry } = answer as ApiError;
  return { code, message, retry };
};

describe("startGet, under a cache that lags", () => {
  it("without a version asks the store", () => {
    expect(versionOf(lagging().get("n/a") as JsonObject)).toBe(3);
  });

  it("at 0 or an older version takes what the cache has", () => {
    for (const version of ["0", "1", "2"]) expect(versionOf(lagging().get("n/a", version) as JsonObject)).toBe(2);
  });

  it("at a newer version waits for it", () => {
    const bed = lagging();
    let answer: unknown;
    expect(bed.get("n/a", "3", bed.target(), (late) => (answer = late))).toBeUndefined();
    bed.pass(SECOND);
    expect(versionOf(answer as JsonObject)).toBe(3);
  });

  it("at a version that does not come gives up after three seconds", () => {
    const bed = lagging();
    let answer: unknown;
    bed.get("n/a", "9", bed.target(), (late) => (answer = late));
    bed.pass(3 * SECOND);
    expect(refused(answer)).toEqual({
      code: 504,
      message: "Timeout: Too large resource version: 9, current: 3",
      retry: 1,
    });
    const observed = new Testbed({ profile: kubernetesProfile });
    expect(refused(observed.get("n/e", "9", observed.target("events")))).toMatchObject({ code: 504, retry: undefined });
  });

  it("tells a version that no number has exactly by its own digits", () => {
    const bed = lagging();
    let answer: unknown;
    bed.get("n/a", "9007199254740993", bed.target(), (late) => (answer = late));
    bed.pass(3 * SECOND);
    expect(refused(answer)).toMatchObject({
      message: "Timeout: Too large resource version: 9007199254740993, current: 3",
    });
  });

  it("does not see in the cache what is only in the store", () => {
    const bed = lagging();
    bed.put("n/b");
    expect(refused(bed.get("n/b", "0"))).toMatchObject({ code: 404, message: 'configmaps "b" not found' });
    expect(bed.get("n/b")).not.toBeInstanceOf(ApiError);
  });

  it("refuses a version that is none: 400, or what the observed server says", () => {
    const text = 'resourceVersion: Invalid value: "x1": strconv.ParseUint: parsing "x1": invalid syntax';
    const range = '"99999999999999999999": strconv.ParseUint: parsing "99999999999999999999": value out of range';
    const observed = lagging(kubernetesProfile);
    expect(refused(observed.get("n/a", "x1"))).toMatchObject({ code: 500, message: text });
    expect(refused(observed.get("n/a", "99999999999999999999")).message).toContain(range);
    const message = `invalid resource version: ${text}`;
    expect(refused(lagging().get("n/a", "x1"))).toMatchObject({ code: 400, message });
    expect(refused(observed.get("n/e", "x1", observed.target("events")))).toMatchObject({ code: 400, message });
  });

  it("hands out the stored object itself", () => {
    const bed = new Testbed();
    bed.put("n/a");
    expect(bed.get("n/a", "0")).toBe(bed.get("n/a"));
  });
});
