import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Answer, TestBed } from "../test-bed.fixture.ts";

const classes = "/apis/scheduling.svc.io/v1/priorityclasses";
const makeClass = (bed: TestBed, name: string, fields: JsonObject): Answer =>
  bed.ask(`POST ${classes}`, { body: { metadata: { name }, ...fields } });
const makePod = (bed: TestBed, name: string, spec: JsonObject = {}): Answer =>
  bed.ask("POST /api/v1/namespaces/default/pods", {
    body: { metadata: { name }, spec: { containers: [{ name: "c", image: "i" }], ...spec } },
  });
const rank = (made: Answer): unknown =>
  ["priorityClassName", "priority", "preemptionPolicy"].map((field) => made.at(`spec.${field}`));

it("A pod is ranked by its class, or else by the default one", () => {
  const bed = new TestBed();
  expect(rank(makePod(bed, "early"))).toEqual([undefined, 0, "PreemptLowerPriority"]);
  makeClass(bed, "high", { value: 9, preemptionPolicy: "Never" });
  makeClass(bed, "usual", { value: 5, globalDefault: true });
  expect(rank(makePod(bed, "a", { priorityClassName: "high" }))).toEqual(["high", 9, "Never"]);
  expect(rank(makePod(bed, "b"))).toEqual(["usual", 5, "PreemptLowerPriority"]);
  expect(rank(makePod(bed, "c", { priorityClassName: "system-node-critical" }))).toEqual([
    "system-node-critical",
    2_000_001_000,
    "PreemptLowerPriority",
  ]);
});

it("A class that is not there, and a number of one's own, are refused", () => {
  const bed = new TestBed();
  const refused = (name: string, spec: JsonObject): unknown => {
    const answer = makePod(bed, name, spec);
    return [answer.status, answer.at("message")];
  };
  expect(refused("a", { priorityClassName: "nope" })).toEqual([
    403,
    'pods "a" is forbidden: no PriorityClass with name nope was found',
  ]);
  expect(refused("b", { priority: 7 })).toEqual([
    403,
    'pods "b" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
  ]);
  expect(makePod(bed, "c", { preemptionPolicy: "Never" }).status).toBe(403);
  expect(makePod(bed, "d", { priority: 0 }).status).toBe(201);
});

it("One class is the default", () => {
  const bed = new TestBed();
  expect(makeClass(bed, "a", { value: 1, globalDefault: true }).status).toBe(201);
  const second = makeClass(bed, "b", { value: 2, globalDefault: true });
  expect([second.status, second.at("message")]).toEqual([
    403,
    'priorityclasses.scheduling.svc.io "b" is forbidden: PriorityClass "a" is already marked as default. Only one default can exist',
  ]);
  expect(makeClass(bed, "c", { value: 2 }).status).toBe(201);
});
