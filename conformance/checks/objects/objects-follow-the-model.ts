import fc from "fast-check";
import { anyStep, wholeLife } from "../../arbitraries/programs.ts";
import { LostAnswer } from "../../client/client.ts";
import { emptyModel, predict } from "../../model/objects.ts";
import type { WriteStep } from "../../model/write-step.ts";
import { judgeSameState, stateOf } from "../../model/replay.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { Memory, perform } from "../../runner/perform.ts";

/** What is asked of a name that nobody has, or has no longer. */
const nothingThere: readonly WriteStep[] = [
  { do: "get", name: "a", cut: false },
  { do: "delete", name: "a", cut: false },
  { do: "merge-patch", name: "a", team: "red", base: "none", cut: false },
  { do: "create", name: "a", team: "red", cut: false },
  { do: "delete", name: "a", cut: false },
  { do: "delete", name: "a", cut: false },
  { do: "json-patch", name: "a", cut: false },
];

/**
 * Property: one writer's program goes as the sequential model says: which writes succeed, which are refused and how,
 * and what a list shows after each.
 */
export const objectsFollowTheModel = defineCheck({
  id: "objects-follow-the-model",
  area: "objects",
  property: "Creates, updates, patches and deletions of one writer do what the sequential model says.",
  requirements: [
    "objects.verbs",
    "lists.complete",
    "objects.name-reuse",
    "writes.current-put",
    "errors.not-found",
    "deletion.at-once",
  ],
  features: ["configmaps"],
  input: fc.array(anyStep(), { minLength: 1, maxLength: 14 }),
  // So that every requirement is judged, whatever the seed.
  examples: [[...wholeLife], [...nothingThere]],
  async run(attempt, steps) {
    const collection = await attempt.target.collection("configmaps");
    const memory = new Memory();
    let model = emptyModel;
    for (const step of steps) {
      const base = "base" in step && step.base !== "none" ? memory.version(step.name, step.base) : undefined;
      const answer = await perform(collection, step, memory, { writes: [], reads: [] });
      if (answer instanceof LostAnswer) throw answer;
      const prediction = predict(model, step, base, answer);
      attempt.expect(
        prediction.requirement,
        prediction.violation === undefined,
        prediction.violation?.expected ?? "",
        prediction.violation?.actual ?? "",
      );
      model = prediction.next;
      const list = await collection.readList();
      const named = { expected: "the model", actual: "the list" };
      attempt.holds(
        "lists.complete",
        judgeSameState(model.living, stateOf(attempt.target.own(collection, list.items)), named),
      );
    }
  },
});
