import { configMap } from "../../arbitraries/config-maps.ts";
import type { RequestOptions } from "../../client/client.ts";
import { objectOf, type PatchKind } from "../../client/collection.ts";
import type { Json } from "../../client/types.ts";
import { isJsonObject, versionOf } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

const anyUid = "00000000-0000-4000-8000-000000000000";

interface Row {
  readonly requirement: string;
  readonly kind: PatchKind;
  readonly patch: Json;
  readonly statuses: readonly number[];
  readonly options?: RequestOptions;
  /** Default `a`, which exists. */
  readonly name?: string;
}

const malformed = (kind: PatchKind, rawBody: string): Row => ({
  requirement: "patch.malformed",
  kind,
  patch: null,
  statuses: [400],
  options: { rawBody },
});
const invalid = (kind: PatchKind, patch: Json): Row => ({
  requirement: "patch.result-invalid",
  kind,
  patch,
  statuses: [400, 422],
});
const renamed = (kind: PatchKind, patch: Json): Row => ({
  requirement: "patch.identity",
  kind,
  patch,
  statuses: [400, 409, 422],
});
const absent = (kind: PatchKind, patch: Json): Row => ({
  requirement: "patch.absent",
  kind,
  patch,
  statuses: [404],
  name: "absent",
});

const rows: readonly Row[] = [
  absent("merge", { data: { k: "w" } }),
  absent("json", [{ op: "add", path: "/data/k", value: "w" }]),
  absent("strategic", { data: { k: "w" } }),
  malformed("merge", "{oops"),
  malformed("merge", "[1]"),
  malformed("strategic", "{oops"),
  malformed("json", "{oops"),
  malformed("json", '{"op":"remove"}'),
  malformed("json", '"text"'),
  invalid("merge", { data: { k: { deeper: "w" } } }),
  invalid("merge", { data: { "no key": "w" } }),
  invalid("merge", { metadata: { labels: { k: "no value!" } } }),
  invalid("strategic", { data: { "no key": "w" } }),
  invalid("json", [{ op: "add", path: "/data", value: "no map" }]),
  invalid("json", [{ op: "add", path: "/metadata/labels", value: { k: "no value!" } }]),
  renamed("json", [{ op: "replace", path: "/metadata/name", value: "b" }]),
  renamed("merge", { metadata: { name: "b" } }),
  renamed("merge", { metadata: { namespace: "elsewhere" } }),
  renamed("merge", { metadata: { uid: anyUid } }),
  renamed("strategic", { metadata: { uid: anyUid } }),
  {
    requirement: "patch.unknown-operation",
    kind: "json",
    patch: [{ op: "frobnicate", path: "/data/k" }],
    statuses: [400, 422],
  },
];

/** A table of patches that must be refused, each with the statuses that may say so. One run says all. */
export const refusedPatchesChangeNothing = defineCheck({
  id: "refused-patches-change-nothing",
  area: "patch",
  property: "A patch that cannot be read or carried out is refused, and nothing happens.",
  requirements: [
    "patch.absent",
    "patch.malformed",
    "patch.result-invalid",
    "patch.identity",
    "patch.unknown-operation",
    "patch.operations-limit",
    "field-validation.strict",
  ],
  features: ["configmaps"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const before = objectOf(await collection.create(configMap("a", { data: { k: "v" }, labels: { k: "v" } })));
    const untouched = async (requirement: string, what: string) => {
      const after = objectOf(await collection.get("a"));
      attempt.expect(
        requirement,
        versionOf(after) === versionOf(before),
        `the object as it was after ${what}`,
        JSON.stringify(after),
      );
      for (const name of ["absent", "b"]) {
        const { status } = await collection.get(name);
        attempt.expect(requirement, status === 404, `no ${name} after ${what}`, String(status));
      }
    };
    for (const { requirement, kind, patch, statuses, options = {}, name = "a" } of rows) {
      const answer = await collection.patch(name, kind, patch, options);
      const what = `a ${kind} patch ${String(answer.exchange.request.body).slice(0, 200)}`;
      const actual = `${answer.status} ${answer.text.slice(0, 300)}`;
      attempt.expect(requirement, statuses.includes(answer.status), `${statuses.join(" or ")} for ${what}`, actual);
      await untouched(requirement, what);
    }

    const test = { op: "test", path: "/data/k", value: "v" };
    const most = await collection.patch("a", "json", Array<Json>(10_000).fill(test));
    attempt.expect("patch.operations-limit", most.status === 200, "200 for 10000 operations", String(most.status));
    const tooMany = await collection.patch("a", "json", Array<Json>(10_001).fill(test));
    attempt.expect(
      "patch.operations-limit",
      tooMany.status === 413,
      "413 for 10001 operations",
      String(tooMany.status),
    );

    const strict = await collection.patch(
      "a",
      "merge",
      { data: { k: "w" }, zzField: 1 },
      { query: { fieldValidation: "Strict" } },
    );
    const named = isJsonObject(strict.json) && String(strict.json["message"]).includes("zzField");
    const actual = `${strict.status} ${strict.text.slice(0, 300)}`;
    const promise = strict.status === 400 && named ? undefined : { expected: "400, naming zzField", actual };
    attempt.holdsOrDeviates("strict-patch-is-422", "field-validation.strict", promise, strict.status === 422 && named);
    await untouched("field-validation.strict", "a strict patch with an unknown field");
  },
});
