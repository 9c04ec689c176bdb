import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { mediaTypeOf } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { isJsonObject } from "../../client/types.ts";
import { UnservedVerb } from "../../client/findings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** A corpus of requests that must be refused, each with the status and the requirement that says so. One run says all. */
export const errorsAreStatusObjects = defineCheck({
  id: "errors-are-status-objects",
  area: "errors",
  property: "Refusals have the right status and are Status objects.",
  requirements: [
    "errors.status",
    "errors.not-found",
    "errors.details",
    "errors.unsupported-media",
    "errors.bad-parameter",
    "errors.bad-body",
    "errors.method",
    "errors.not-acceptable",
  ],
  features: ["configmaps"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const stale = objectOf(await collection.create(configMap("a")));
    await unlessUnserved(() => collection.put("a", configMap("a", { data: { value: "newer" } })));
    const { path, client } = collection;
    const one = collection.pathOf("a");
    const none = collection.pathOf("none");
    const merge = "application/merge-patch+json";
    const rows: [requirement: string, ask: () => Promise<Answer>, statuses: number[], reason?: string][] = [
      ["errors.not-found", () => client.request("GET", none), [404], "NotFound"],
      ["errors.not-found", () => client.request("DELETE", none), [404], "NotFound"],
      ["errors.not-found", () => client.request("PATCH", none, { body: {}, contentType: merge }), [404], "NotFound"],
      ["errors.details", () => client.request("POST", path, { body: configMap("a") }), [409], "AlreadyExists"],
      ["errors.details", () => client.request("PUT", one, { body: stale }), [409], "Conflict"],
      [
        "errors.unsupported-media",
        () => client.request("POST", path, { rawBody: "a: b", contentType: "text/plain" }),
        [415],
      ],
      [
        "errors.unsupported-media",
        () => client.request("PUT", one, { rawBody: "a: b", contentType: "application/x-unknown" }),
        [415],
      ],
      [
        "errors.unsupported-media",
        () => client.request("PATCH", one, { rawBody: "{}", contentType: "application/json" }),
        [415],
      ],
      ["errors.bad-parameter", () => collection.list({ limit: "abc" }), [400]],
      ["errors.bad-parameter", () => collection.list({ labelSelector: "a in b" }), [400]],
      ["errors.bad-parameter", () => collection.list({ fieldSelector: "metadata.name" }), [400]],
      ["errors.bad-parameter", () => collection.list({ fieldSelector: "no.such.field=x" }), [400]],
      ["errors.bad-parameter", () => collection.list({ timeoutSeconds: "soon" }), [400]],
      ["errors.bad-body", () => client.request("POST", path, { rawBody: "{" }), [400]],
      ["errors.bad-body", () => client.request("POST", path, { rawBody: "[]" }), [400]],
      ["errors.bad-body", () => client.request("POST", path, { body: { ...configMap("b"), data: "no map" } }), [400]],
      ["errors.bad-body", () => client.request("POST", path, { body: { ...configMap("b"), kind: "Secret" } }), [400]],
      ["errors.bad-body", () => client.request("PUT", one, { body: configMap("b") }), [400]],
      ["errors.method", () => client.request("PUT", path, { body: configMap("a") }), [405]],
      ["errors.method", () => client.request("POST", one, { body: configMap("a") }), [405]],
    ];
    for (const [requirement, ask, statuses, reason] of rows) {
      const answer = await unlessUnserved(ask);
      if (answer === undefined) continue;
      const { method, path: asked } = answer.exchange.request;
      const actual = `${answer.status} ${answer.text.slice(0, 300)}`;
      attempt.expect(
        requirement,
        statuses.includes(answer.status),
        `${method} ${asked} answered ${statuses.join(" or ")}`,
        actual,
      );
      const status = answer.json;
      const isStatus =
        mediaTypeOf(answer.headers) === "application/json" &&
        isJsonObject(status) &&
        status["kind"] === "Status" &&
        status["apiVersion"] === "v1" &&
        status["status"] === "Failure" &&
        status["code"] === answer.status;
      attempt.expect(
        "errors.status",
        isStatus,
        `a Status object in JSON with code ${answer.status}`,
        `${mediaTypeOf(answer.headers)}: ${answer.text.slice(0, 300)}`,
      );
      if (reason !== undefined && isJsonObject(status)) {
        attempt.expect(requirement, status["reason"] === reason, `reason ${reason}`, String(status["reason"]));
        const name = reason === "NotFound" ? "none" : "a";
        const isNamed = isJsonObject(status["details"]) && status["details"]["name"] === name;
        attempt.expect("errors.details", isNamed, `details with the name ${name}`, JSON.stringify(status["details"]));
      }
    }
    const refused = await client.request("GET", one, { accept: "application/x-unknown" });
    attempt.expect(
      "errors.not-acceptable",
      refused.status === 406,
      "406 for an Accept of nothing that is known",
      String(refused.status),
    );
    const untouched = await collection.get("b");
    attempt.expect(
      "errors.bad-body",
      untouched.status === 404,
      "nothing created by a refused body",
      String(untouched.status),
    );
  },
});

/** A verb that the target does not serve leaves the other rows to be judged. */
async function unlessUnserved(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof UnservedVerb) return undefined;
    throw error;
  }
}
