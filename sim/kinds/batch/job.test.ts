import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint, update } from "../../objects/objects.fixture.ts";
import { metadataOf } from "../../contract/objects.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";

const jobs = endpoint("batch/v1/jobs");
const pod = { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] };
const job = (spec: JsonObject = {}, template: JsonObject = {}): JsonObject => ({
  metadata: { name: "j" },
  spec: { template: { spec: pod, ...template }, ...spec },
});
const texts = (body: JsonObject): readonly string[] =>
  validateCreate(create(body, jobs), jobs.strategy).map(({ field, message }) => `${field}: ${message}`);
const step = (before: JsonObject, spec: JsonObject, status?: JsonObject): readonly string[] => {
  const made = create(before, jobs);
  const live = status === undefined ? made : { ...made, status };
  const body = { ...made, spec: { ...(made["spec"] as JsonObject), ...spec } };
  return validateUpdate(update(body, live, jobs), live, jobs.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );
};

it("A job has defaults, and a selector made from its uid", () => {
  const made = create(job({}, { metadata: { labels: { a: "b" } } }), jobs);
  const { uid = "", labels } = metadataOf(made);
  expect(labels).toEqual({ a: "b" });
  expect(made["spec"]).toMatchObject({
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: "TerminatingOrFailed",
    selector: { matchLabels: { "batch.svc.io/controller-uid": uid } },
    template: {
      metadata: { labels: { a: "b", "controller-uid": uid, "job-name": "j", "batch.svc.io/job-name": "j" } },
    },
  });
  expect(texts(job())).toEqual([]);
});

it("Its pods end", () => {
  const always = { spec: { containers: pod.containers } };
  expect(texts(job({}, always))).toEqual([
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ]);
});

it("Nobody else says which pods are its own, unless it says so", () => {
  const selector = { matchLabels: { a: "b" } };
  const labelled = { metadata: { labels: { a: "b" } } };
  expect(texts(job({ selector }, labelled))).toEqual([
    expect.stringContaining("spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"),
  ]);
  expect(texts(job({ selector, manualSelector: true }, labelled))).toEqual([]);
  expect(texts(job({ selector, manualSelector: true }))).toEqual([
    "spec.template.metadata.labels: Invalid value: map[string]string(nil): `selector` does not match template `labels`",
  ]);
  expect(texts(job({}, { metadata: { labels: { "job-name": "z" } } }))).toEqual([
    expect.stringContaining("spec.template.metadata.labels[job-name]: Invalid value: map[string]string{"),
  ]);
});

const wrong: readonly (readonly [JsonObject, string])[] = [
  [{ parallelism: -1 }, "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"],
  [{ completionMode: "Z" }, 'spec.completionMode: Unsupported value: "Z": supported values: "NonIndexed", "Indexed"'],
  [{ completionMode: "Indexed", parallelism: 1 }, "spec.completions: Required value: when completion mode is Indexed"],
  [{ backoffLimitPerIndex: 1 }, "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
  [
    { completionMode: "Indexed", completions: 2, backoffLimitPerIndex: 1, maxFailedIndexes: 3 },
    "spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions",
  ],
  [
    { podReplacementPolicy: "Z" },
    'spec.podReplacementPolicy: Unsupported value: "Z": supported values: "Failed", "TerminatingOrFailed"',
  ],
  [
    { podFailurePolicy: { rules: [{ action: "Ignore" }] } },
    "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
  ],
  [
    { podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [2, 1] } }] } },
    "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: []int32{2, 1}: must be ordered",
  ],
];
it.each(wrong)("%j is refused", (spec, text) => expect(texts(job(spec))).toEqual([text]));

it("Each index makes a hostname", () => {
  const named = { ...job({ completionMode: "Indexed", completions: 100 }), metadata: { name: "j".repeat(61) } };
  expect(texts(named)).toEqual([
    expect.stringContaining(`will not able to create pod with invalid DNS label: ${"j".repeat(61)}-99`),
  ]);
});

it("What it was made for stays; where its pods go may change until it begins", () => {
  expect(step(job(), { parallelism: 3, suspend: true })).toEqual([]);
  expect(step(job(), { completions: 2 })).toEqual(["spec.completions: Invalid value: 2: field is immutable"]);
  const indexed = job({ completionMode: "Indexed", completions: 2, parallelism: 2 });
  expect(step(indexed, { completions: 3, parallelism: 3 })).toEqual([]);
  expect(step(indexed, { completions: 3 })).toEqual([
    "spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism",
  ]);
  const moved = (body: JsonObject, status?: JsonObject): readonly string[] => {
    const template = ((create(body, jobs)["spec"] as JsonObject)["template"] ?? {}) as JsonObject;
    const spec = { ...(template["spec"] as JsonObject), nodeSelector: { a: "b" } };
    return step(body, { template: { ...template, spec } }, status);
  };
  expect(moved(job({ suspend: true }))).toEqual([]);
  expect(moved(job({ suspend: true }), { startTime: "2026-01-01T00:00:00Z" })).toEqual([
    "spec.template: Invalid value: core.PodTemplateSpec{}: field is immutable",
  ]);
  expect(moved(job())).toHaveLength(1);
});
