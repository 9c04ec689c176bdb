import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../../contract/profile.ts";
import { configMaps, TestBed } from "../test-bed.fixture.ts";

/** Names that mean something to one of the patches, to JavaScript, or to the type. */
const key = fc.constantFrom(
  "metadata",
  "labels",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "spec",
  "template",
  "containers",
  "ports",
  "env",
  "name",
  "uid",
  "replicas",
  "strategy",
  "status",
  "conditions",
  "type",
  "$patch",
  "$retainKeys",
  "$setElementOrder/containers",
  "$setElementOrder/finalizers",
  "$deleteFromPrimitiveList/finalizers",
  "$deleteFromPrimitiveList/containers",
  "__proto__",
  "constructor",
  "toString",
  "",
);
const scalar = fc.constantFrom("d", "delete", "replace", "merge", "", 0, 1, -1, 1.5, 1e300, true, null);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalar, tie("list"), tie("map")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  map: fc.dictionary(key, tie("value"), { maxKeys: 6, noNullPrototype: true }),
}));

const types = ["merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml", "json-patch+json"] as const;
const deployment = "/apis/apps/v1/namespaces/default/deployments/d";

describe("patches of any shape", () => {
  it("are answered with a Status or the object, and the server goes on", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = { selector: { matchLabels: { a: "b" } }, template };
    const made = bed.ask("POST /apis/apps/v1/namespaces/default/deployments", {
      body: { metadata: { name: "d", finalizers: ["e.com/f"] }, spec },
    });
    expect(made.status).toBe(201);
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.constantFrom("", "/status", "/scale"), value, (type, at, body) => {
        const scaled = at === "/scale";
        const identity = scaled
          ? { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" } }
          : { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" } };
        const isMap = typeof body === "object" && body !== null && !Array.isArray(body);
        const sent = type === "apply-patch+yaml" && isMap ? { ...identity, ...body } : body;
        const manager = type === "apply-patch+yaml" ? "&fieldManager=m&force=true" : "";
        const answer = bed.ask(`PATCH ${deployment}${at}?dryRun=All${manager}`, {
          headers: { "content-type": `application/${type}` },
          body: JSON.stringify(sent),
        });
        expect(answer.over).toBe(true);
        expect([200, 400, 409, 413, 422, 500]).toContain(answer.status);
        // A 500 is the observed answer to a patch that its type cannot be merged with, and to nothing else.
        if (answer.status === 500) expect(answer.at("message")).toMatch(knownTexts);
        expect(({} as Record<string, unknown>)["spec"]).toBeUndefined();
      }),
      { seed: 21, numRuns: 1500 },
    );
    expect(bed.ask(`GET ${configMaps}`).status).toBe(200);
  });
});

const knownTexts =
  /^(?:failed to (?:create typed patch|convert new) object |map: .* does not contain declared merge key: |unknown patch type: |merging lists cannot yet |expected a |unable to find api field |list element types are not identical: |no elements in any |The order in patch list:|strconv\.ParseUint: )/s;
