import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf, patchTypes } from "../../client/collection.ts";
import type { JsonObject } from "../../client/types.ts";
import { versionOf } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

const goneUid = "00000000-0000-4000-8000-000000000000";

/** A table of applies that must be refused, each with the statuses that may say so. One run says all. */
export const refusedAppliesChangeNothing = defineCheck({
  id: "refused-applies-change-nothing",
  area: "apply",
  property: "An apply that is not as it has to be is refused, and nothing happens.",
  requirements: [
    "apply.manager-required",
    "apply.manager-form",
    "apply.force-only",
    "apply.managed-fields-body",
    "apply.wrong-type",
    "apply.wrong-name",
    "apply.uid",
    "apply.stale",
    "apply.malformed",
  ],
  features: ["configmaps"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const first = objectOf(await collection.create(configMap("a", { data: { k: "v" } })));
    objectOf(await collection.patch("a", "merge", { data: { k: "w" } }));
    const before = objectOf(await collection.get("a"));
    const configuration = (parts: JsonObject = {}, name = "a"): JsonObject => ({
      ...configMap(name, { data: { n: "1" } }),
      ...parts,
    });
    const named = (metadata: JsonObject) => configuration({ metadata: { name: "a", ...metadata } });
    const alpha = { query: { fieldManager: "alpha" } };
    const apply =
      (body: JsonObject, options: { query: JsonObject } = alpha, name = "a") =>
      () =>
        collection.patch(name, "apply", body, options as typeof alpha);
    const merge = (query: JsonObject) => () =>
      collection.patch("a", "merge", { data: { n: "1" } }, { query } as typeof alpha);
    const text = (rawBody: string) => () =>
      collection.client.request("PATCH", collection.pathOf("a"), { ...alpha, rawBody, contentType: patchTypes.apply });
    const entry = { manager: "x", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} };
    const invalid = [400, 422];
    const rows: readonly [requirement: string, ask: () => Promise<Answer>, statuses: readonly number[]][] = [
      ["apply.manager-required", apply(configuration(), { query: {} }), invalid],
      ["apply.manager-required", apply(configuration(), { query: { fieldManager: "" } }), invalid],
      ["apply.manager-form", apply(configuration(), { query: { fieldManager: "m".repeat(129) } }), invalid],
      ["apply.manager-form", merge({ fieldManager: "m".repeat(129) }), invalid],
      ["apply.manager-form", merge({ fieldManager: "a\u0000b" }), invalid],
      ["apply.force-only", merge({ force: true }), invalid],
      ["apply.managed-fields-body", apply(named({ managedFields: [entry] })), invalid],
      ["apply.wrong-type", apply(configuration({ kind: "Secret" })), invalid],
      ["apply.wrong-type", apply(configuration({ apiVersion: "v2" })), invalid],
      ["apply.wrong-name", apply(configuration({}, "b")), invalid],
      ["apply.wrong-name", apply(named({ namespace: "elsewhere" })), invalid],
      ["apply.uid", apply(named({ uid: goneUid })), [409, 422]],
      ["apply.uid", apply(configuration({ metadata: { name: "absent", uid: goneUid } }), alpha, "absent"), [409]],
      ["apply.stale", apply(named({ resourceVersion: versionOf(first) })), [409]],
      ["apply.malformed", text("a: [b"), [400]],
      ["apply.malformed", text("{"), [400]],
    ];
    for (const [requirement, ask, statuses] of rows) {
      const answer = await ask();
      const { path, body } = answer.exchange.request;
      const promise = `${statuses.join(" or ")} for PATCH ${path} with ${String(body).slice(0, 200)}`;
      attempt.expect(
        requirement,
        statuses.includes(answer.status),
        promise,
        `${answer.status} ${answer.text.slice(0, 300)}`,
      );
      const after = objectOf(await collection.get("a"));
      attempt.expect(
        requirement,
        versionOf(after) === versionOf(before),
        "the object as it was",
        JSON.stringify(after),
      );
    }
    for (const name of ["absent", "b"]) {
      const absent = await collection.get(name);
      attempt.expect("apply.uid", absent.status === 404, `no ${name}, for nothing was created`, String(absent.status));
    }
    const longest = await collection.patch("a", "apply", configuration(), { query: { fieldManager: "m".repeat(128) } });
    attempt.expect(
      "apply.manager-form",
      longest.status === 200,
      "200 for a manager of 128 bytes",
      String(longest.status),
    );
  },
});
