import { expect, it } from "vitest";
import type { Pod } from "../shared/stored.ts";
import { NodeInfo } from "./node-info.ts";
import { PodCounts } from "./pod-counts.ts";
import { type PodNeeds, podNeeds } from "./pod-needs.ts";
import { podChoice, type PodChoice } from "./terms.ts";

const pod = (name: string, labels: Readonly<Record<string, string>>): PodNeeds =>
  podNeeds({ metadata: { name, namespace: "default", uid: name, labels }, spec: { containers: [] } } as unknown as Pod);

function bench() {
  const nodes = new Map(["n1", "n2"].map((name) => [name, new NodeInfo(name)]));
  const counts = new PodCounts(nodes, () => ({}));
  const place = (each: PodNeeds, node: string): void => {
    nodes.get(node)?.add(each);
    counts.change(each, node, 1);
  };
  const remove = (each: PodNeeds, node: string): void => {
    nodes.get(node)?.remove(each);
    counts.change(each, node, -1);
  };
  return { counts, place, remove };
}

const chosen = (app: string): PodChoice => podChoice(["default"], undefined, { matchLabels: { app } });

it("a choice is asked once for all pods with the same labels, and never again for more of them", () => {
  const { counts, place } = bench();
  for (let at = 0; at < 300; at++) place(pod(`p${at}`, { app: at % 2 === 0 ? "a" : "b" }), "n1");
  const choice = chosen("a");
  let asked = 0;
  const selector = {
    ...choice.selector,
    matches: (labels: PodNeeds["labels"]) => {
      asked++;
      return choice.selector.matches(labels);
    },
  };
  const counted = counts.of({ ...choice, selector });
  for (let at = 300; at < 400; at++) place(pod(`p${at}`, { app: "a" }), "n2");
  expect([...counted]).toEqual([
    ["n1", 150],
    ["n2", 100],
  ]);
  expect(asked).toBe(2);
});

it("counts right whatever was asked before, also what has been forgotten", () => {
  const { counts, place, remove } = bench();
  const first = pod("first", { app: "a" });
  place(first, "n1");
  for (let at = 0; at < 5_000; at++) counts.of(chosen(`x${at}`));
  place(pod("second", { app: "a" }), "n2");
  expect([...counts.of(chosen("a"))]).toEqual([
    ["n1", 1],
    ["n2", 1],
  ]);
  counts.forgetChoices();
  remove(first, "n1");
  place(pod("third", { app: "x7" }), "n1");
  expect([...counts.of(chosen("a"))]).toEqual([["n2", 1]]);
  expect([...counts.of(chosen("x7"))]).toEqual([["n1", 1]]);
  expect([...counts.of(chosen("x8"))]).toEqual([]);
});
