import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentBugName } from "../planted/agent-bugs.ts";
import { type Image, images, type PodStory, type Step, wrongWith } from "./pod-stories.fixture.ts";

const anyImage = fc.constantFrom(...(Object.keys(images) as Image[]));
const manifestName = fc.constantFrom("a", "b");
const podName = fc.constantFrom("x", "y", "z");
const created = fc.record({
  is: fc.constant("create" as const),
  name: podName,
  image: anyImage,
  never: fc.boolean(),
  milliCpu: fc.constantFrom(0, 1500, 1500),
});
const asked = fc.record({ is: fc.constantFrom("delete" as const, "force" as const), name: podName });
const resized = fc.record({
  is: fc.constant("resize" as const),
  name: podName,
  milliCpu: fc.constantFrom(300, 1000, 1500, 3000),
});
const manifest = fc.record({
  is: fc.constant("manifest" as const),
  name: manifestName,
  image: anyImage,
  never: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  created,
  created,
  asked,
  manifest,
  manifest,
  fc.record({
    is: fc.constantFrom("no manifest" as const, "delete mirror" as const, "end mirror" as const),
    name: manifestName,
  }),
  fc.record({ is: fc.constant("evict" as const), name: podName }),
  resized,
  fc.record({
    is: fc.constant("restart" as const),
    seconds: fc.integer({ min: 0, max: 5 }),
    awaySeconds: fc.constantFrom(0, 0, 60),
  }),
  fc.record({ is: fc.constant("put back" as const), name: manifestName, image: anyImage }),
  fc.record({ is: fc.constant("replace" as const), name: podName, image: anyImage }),
  fc.record({
    is: fc.constant("down" as const),
    meanwhile: fc.array(fc.oneof(created, asked, resized), { minLength: 1, maxLength: 2 }),
  }),
);

const podStory: fc.Arbitrary<PodStory> = fc.record({
  steps: fc.array(fc.record({ step, waitSeconds: fc.constantFrom(0, 1, 3, 8, 15) }), { minLength: 2, maxLength: 10 }),
});

/** `STORIES=1000 npx vitest run sim/agent/pod-stories.test.ts` tells a thousand. */
const stories = Number(process.env["STORIES"] ?? 60);

describe("pods of a node over random lives", () => {
  it("keep their laws", () => {
    fc.assert(
      fc.property(podStory, (story) => {
        expect(wrongWith(story)).toBeUndefined();
      }),
      { numRuns: stories, seed: 1 },
    );
  }, 600_000);

  it.each<AgentBugName>([
    "evict-forgotten-after-restart",
    "evict-shown-early",
    "phase-leaves-terminal",
    "mirror-stuck-terminating",
    "mirror-recreate-churn",
    "mirror-not-recreated-after-terminal",
    "static-readd-same-uid-stuck",
    "static-two-running-same-name",
    "static-removed-while-api-down",
    "status-patch-hits-new-uid",
    "admission-rejects-running-on-restart",
  ])(
    "show %s",
    (bug) => {
      const { failed } = fc.check(
        fc.property(podStory, (story) => wrongWith(story, bug) === undefined),
        { numRuns: 200, seed: 1, endOnFailure: true },
      );
      expect(failed).toBe(true);
    },
    120_000,
  );
});
