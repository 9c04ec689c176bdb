/** Random containers: which variables, arguments, files they are given, and what is asked of their logs. Names are few, so that they often meet. */
import fc from "fast-check";
import type { GivenObject, GivingProgram, Variable, WholeSource } from "../model/pods/giving.ts";
import type { LogQuestion } from "../model/pods/logs.ts";

export interface GivingPods {
  readonly pods: readonly GivingProgram[];
  readonly questions: readonly LogQuestion[];
}

/** All that a variable is called. */
export const variableNames = ["A", "B", "C", "D", "E", "F", "P_A", "P_B"] as const;

const names = fc.constantFrom("A", "B", "C", "D", "E", "F");
const piece = fc.oneof(
  fc.constantFrom("x", "$", "$$", "$(", ")", " y"),
  names.map((name) => `$(${name})`),
  names.map((name) => `$$(${name})`),
  fc.constantFrom("$(P_A)", "$(NOBODY)", "$$$(A)"),
);
const text = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(""));

const objects: readonly GivenObject[] = [
  { kind: "ConfigMap", name: "first", data: { A: "a-first", B: "b-first", "file-one": "one" } },
  { kind: "ConfigMap", name: "second", data: { A: "a-second", C: "$(A)" } },
  { kind: "Secret", name: "hidden", data: { B: "b-hidden", D: "d-hidden" } },
];

const anyObject = fc.constantFrom("first", "second", "hidden");
/** Seldom one that is not there: then nothing else is to be seen. */
const reference = fc.oneof(
  { weight: 8, arbitrary: fc.record({ object: anyObject, isOptional: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ object: fc.constant("missing"), isOptional: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.record({ object: fc.constant("missing"), isOptional: fc.constant(false) }) },
);

const source: fc.Arbitrary<WholeSource> = fc
  .tuple(reference, fc.constantFrom("", "", "P_"))
  .map(([from, prefix]) => ({ ...from, prefix }));

const labels = { tier: "front" };
const fields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "status.podIP",
  "status.hostIP",
];

const variable: fc.Arbitrary<Variable> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ name: names, is: fc.constant("text" as const), value: text }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(names, reference, fc.constantFrom("A", "B", "C", "D"), fc.constantFrom(true, true, false))
      .map(([name, { object }, key, isOptional]) => ({ name, is: "key" as const, object, key, isOptional })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      name: names,
      is: fc.constant("field" as const),
      path: fc.constantFrom(...fields, "metadata.labels['tier']", "metadata.labels['nobody']"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        names,
        fc.constantFrom("limits.cpu 1", "limits.cpu 1m", "limits.memory 1", "limits.memory 1Mi", "limits.memory 1Ki"),
      )
      .map(([name, amount]): Variable => {
        const [resource, divisor = "1"] = amount.split(" ");
        return { name, is: "resource", resource: resource as "limits.cpu", divisor };
      }),
  },
);

const giving: fc.Arbitrary<GivingProgram> = fc.record({
  objects: fc.constant(objects),
  labels: fc.constant(labels),
  sources: fc.array(source, { maxLength: 3 }),
  variables: fc.array(variable, { minLength: 1, maxLength: 6 }),
  args: fc.array(text, { maxLength: 3 }),
  limits: fc.record({ milliCpu: fc.constantFrom(250, 1000, 1500), memoryMi: fc.constantFrom(64, 100) }),
  volume: fc.option(
    fc.record({
      object: fc.constant("first"),
      items: fc.constantFrom(undefined, ["A"], ["file-one", "B"]),
    }),
    { nil: undefined },
  ),
});

const some = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 });

const question: fc.Arbitrary<LogQuestion> = fc
  .record({
    tailLines: some(fc.integer({ min: 0, max: 7 })),
    limitBytes: some(fc.integer({ min: 1, max: 120 })),
    sinceLine: some(fc.integer({ min: 1, max: 5 })),
    timestamps: some(fc.boolean()),
  })
  .map((drawn) => Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)));

export const anyGiving: fc.Arbitrary<GivingPods> = fc.record({
  pods: fc.array(giving, { minLength: 2, maxLength: 6 }),
  questions: fc.array(question, { minLength: 2, maxLength: 6 }),
});

const plain: GivingProgram = {
  objects,
  labels,
  sources: [],
  variables: [],
  args: [],
  limits: { milliCpu: 1500, memoryMi: 64 },
  volume: undefined,
};
const say = (name: string, value: string): Variable => ({ name, is: "text", value });

/** An occasion for each rule. */
export const eventfulGiving: GivingPods = {
  pods: [
    {
      ...plain,
      variables: [say("B", "$(A)-$(NOBODY)"), say("A", "1"), say("C", "$(A)$$(A)$$$(A)$"), say("A", "2$(A)")],
      args: ["$(A)", "$$(A)", "$(NOBODY)", "$"],
    },
    {
      ...plain,
      sources: [
        { object: "first", prefix: "", isOptional: false },
        { object: "second", prefix: "", isOptional: true },
        { object: "hidden", prefix: "P_", isOptional: false },
        { object: "missing", prefix: "", isOptional: true },
      ],
      variables: [
        say("E", "$(A) $(P_B)"),
        { name: "F", is: "key", object: "first", key: "nowhere", isOptional: true },
        { name: "D", is: "key", object: "hidden", key: "D", isOptional: false },
      ],
      volume: { object: "first", items: ["file-one"] },
    },
    {
      ...plain,
      variables: [
        { name: "A", is: "resource", resource: "limits.cpu", divisor: "1m" },
        { name: "B", is: "resource", resource: "limits.cpu", divisor: "1" },
        { name: "C", is: "resource", resource: "limits.memory", divisor: "1Mi" },
        { name: "D", is: "field", path: "metadata.labels['tier']" },
        { name: "E", is: "field", path: "status.podIP" },
        { name: "F", is: "field", path: "metadata.uid" },
      ],
      volume: { object: "first", items: undefined },
    },
    { ...plain, variables: [{ name: "A", is: "key", object: "missing", key: "A", isOptional: false }] },
  ],
  questions: [
    { tailLines: 2 },
    { limitBytes: 10 },
    { sinceLine: 2 },
    { timestamps: true, tailLines: 4, sinceLine: 3, limitBytes: 60 },
    { tailLines: 0 },
  ],
};
