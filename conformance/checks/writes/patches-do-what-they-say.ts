import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import type { Json } from "../../client/types.ts";
import { versionOf } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

const anyField = fc.constantFrom("a", "b", "c-d", "e.f");
const anyData = fc.dictionary(anyField, fc.constantFrom("x", "y", ""), { maxKeys: 3 });
const anyMerge = fc.dictionary(anyField, fc.constantFrom("x", "z", null), { maxKeys: 3 });
const anyOperation = fc.oneof(
  fc.record({ op: fc.constantFrom("add", "replace", "test"), field: anyField, value: fc.constantFrom("x", "y") }),
  fc.record({ op: fc.constant("remove"), field: anyField }),
);

/**
 * Property: a patch does to an object's data what its RFC says, and a JSON patch with an operation that cannot be done
 * does nothing. The model is a few lines over a flat map. (`data` holds text alone: RFC 7386 and 6902 in full are
 * judged against public vectors.)
 */
export const patchesDoWhatTheySay = defineCheck({
  id: "patches-do-what-they-say",
  area: "writes",
  property: "Merge patches and JSON patches change what they name, as they say.",
  requirements: ["writes.merge-patch", "writes.json-patch"],
  features: ["configmaps"],
  input: fc.record({
    data: anyData,
    merge: anyMerge,
    operations: fc.array(anyOperation, { minLength: 1, maxLength: 4 }),
  }),
  examples: [{ data: { a: "x" }, merge: { b: "z" }, operations: [{ op: "replace", field: "c-d", value: "x" }] }],
  async run(attempt, { data, merge, operations }) {
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("a", { data, labels: { kept: "yes" } })));
    const merged = await collection.patch("a", "merge", { data: merge });
    const afterMerge = mergeFlat(data, merge);
    attempt.expect(
      "writes.merge-patch",
      sameData(merged, afterMerge),
      `200 with data ${JSON.stringify(afterMerge)}`,
      shown(merged),
    );
    attempt.expect(
      "writes.merge-patch",
      objectOf(merged).metadata.labels?.["kept"] === "yes",
      "labels left as they were",
      shown(merged),
    );

    // An empty map may have been dropped from the object; the patches below need it to exist.
    const anchored = await collection.patch("a", "merge", { data: { anchor: "x" } });
    const before = { ...afterMerge, anchor: "x" };
    const result = operations.reduce<Record<string, string> | undefined>(applyFlat, before);
    const loose = operations.reduce<Record<string, string> | undefined>(applyLoosely, before);
    const patch = operations.map(({ op, field, ...rest }) => ({
      op,
      path: `/data/${field}`,
      ...rest,
    })) as Json[];
    const patched = await collection.patch("a", "json", patch);
    if (result !== undefined) {
      attempt.expect(
        "writes.json-patch",
        sameData(patched, result),
        `200 with data ${JSON.stringify(result)}`,
        shown(patched),
      );
      return;
    }
    const isRefused = patched.status >= 400 && patched.status < 500;
    const promise = { expected: "a refusal, for one operation cannot be done", actual: shown(patched) };
    if (loose === undefined) attempt.holds("writes.json-patch", isRefused ? undefined : promise);
    else {
      const isLoose = sameData(patched, loose);
      attempt.holdsOrDeviates(
        "json-patch-replaces-absent",
        "writes.json-patch",
        isRefused ? undefined : promise,
        isLoose,
      );
      if (!isRefused) return;
    }
    const read = await collection.get("a");
    const untouched = sameData(read, before) && versionOf(objectOf(read)) === versionOf(objectOf(anchored));
    attempt.expect("writes.json-patch", untouched, `data as before: ${JSON.stringify(before)}`, shown(read));
  },
});

function mergeFlat(
  data: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const merged = { ...data };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = value;
  }
  return merged;
}

/** Undefined: some operation could not be done, so nothing is. */
function applyFlat(
  data: Record<string, string> | undefined,
  operation: { op: string; field: string; value?: string },
): Record<string, string> | undefined {
  if (data === undefined) return undefined;
  const { op, field, value } = operation;
  const exists = Object.hasOwn(data, field);
  if (op === "test") return exists && data[field] === value ? data : undefined;
  if (op !== "add" && !exists) return undefined;
  const next = { ...data };
  if (op === "remove") delete next[field];
  else next[field] = value as string;
  return next;
}

/** As the known implementation has it: what is not there is replaced all the same. */
function applyLoosely(
  data: Record<string, string> | undefined,
  operation: { op: string; field: string; value?: string },
): Record<string, string> | undefined {
  return applyFlat(data, operation.op === "replace" ? { ...operation, op: "add" } : operation);
}

function sameData(answer: Answer, expected: Readonly<Record<string, string>>): boolean {
  if (answer.status !== 200) return false;
  const data = (objectOf(answer)["data"] ?? {}) as Record<string, string>;
  const fields = Object.keys(expected);
  return Object.keys(data).length === fields.length && fields.every((field) => data[field] === expected[field]);
}

function shown(answer: Answer): string {
  return `${answer.status} ${answer.text.slice(0, 400)}`;
}
