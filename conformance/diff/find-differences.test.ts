import { describe, expect, it } from "vitest";
import { type DiffOptions, findDifferences } from "./find-differences.ts";
import type { Outcome, Side } from "./side.ts";
import type { Program, Step } from "./step.ts";

/** A side that answers each step by itself, knowing the steps before. */
function side(status: (step: Step, before: readonly Step[], calls: number) => number): Side {
  let calls = 0;
  return {
    playAll: async (programs: readonly Program[]): Promise<Outcome[]> =>
      programs.map((program) => {
        calls += 1;
        return program.map((step, index) => ({
          sent: step,
          answer: { status: status(step, program.slice(0, index), calls), headers: {}, body: {} },
        }));
      }),
    leave: async () => [],
  };
}

const good = side(() => 200);

const run = (b: Side, change: Partial<DiffOptions> = {}) =>
  findDifferences({
    a: good,
    b,
    seed: 1,
    runs: 40,
    topics: ["deletion"],
    signal: new AbortController().signal,
    names: { a: "one", b: "other" },
    replayOf: (topic) => `again ${topic}`,
    ...change,
  });

describe("findDifferences", () => {
  it("finds none between equals, and says how much that means", async () => {
    expect(await run(side(() => 200))).toMatchObject({
      conclusion: "same",
      complete: true,
      differences: [],
      topics: [{ topic: "deletion", programs: 40, undecided: 0 }],
    });
  });

  it("groups by cause, and leaves only the steps that it takes", async () => {
    const afterCreate = side((step, before) =>
      step.what === "delete" && before.some(({ what }) => what === "create") ? 500 : 200,
    );
    const { conclusion, differences } = await run(afterCreate);
    expect(conclusion).toBe("different");
    expect(differences.map(({ cause }) => cause)).toEqual(["delete: status 200 or 500"]);
    expect(differences[0]?.program.map(({ what }) => what)).toEqual(["create", "delete"]);
    expect(differences[0]).toMatchObject({ steady: true, a: "200", b: "500", replay: "again deletion" });
    expect(differences[0]?.programs).toBeGreaterThan(1);
  });

  it("says what may follow from an earlier difference", async () => {
    const spreading = side((step, before) =>
      step.what === "create" ? 202 : before.some(({ what }) => what === "create") && step.what === "delete" ? 500 : 200,
    );
    const { differences } = await run(spreading);
    expect(differences.map(({ cause, follows }) => [cause, follows])).toEqual([
      ["create: status 200 or 202", undefined],
      ["delete: status 200 or 500", "create: status 200 or 202"],
    ]);
  });

  it("does not hold a server to a difference that does not come back", async () => {
    const once = side((step, _before, calls) => (calls <= 40 && step.what === "delete" ? 500 : 200));
    const { conclusion, differences } = await run(once);
    expect(differences.every(({ steady }) => !steady)).toBe(true);
    expect(differences.length).toBeGreaterThan(0);
    expect(conclusion).toBe("inconclusive");
  });

  it("is inconclusive when programs could not be played, or a person stopped it", async () => {
    const absent: Side = {
      playAll: async (programs) => programs.map(() => ({ undecided: "no answer" })),
      leave: async () => ["/api/v1/namespaces/left"],
    };
    expect(await run(absent)).toMatchObject({
      conclusion: "inconclusive",
      undecided: ["B: no answer"],
      topics: [{ undecided: 40 }],
      leftovers: { a: [], b: ["/api/v1/namespaces/left"] },
    });
    expect(await run(good, { signal: AbortSignal.abort() })).toMatchObject({ conclusion: "inconclusive", topics: [] });
  });

  it("meets the same programs with the same seed, and others with another", async () => {
    const seen = async (seed: number): Promise<string> => {
      let text = "";
      await run(
        { ...good, playAll: (programs) => ((text += JSON.stringify(programs)), good.playAll(programs)) },
        { seed },
      );
      return text;
    };
    expect(await seen(3)).toBe(await seen(3));
    expect(await seen(4)).not.toBe(await seen(3));
  });
});
