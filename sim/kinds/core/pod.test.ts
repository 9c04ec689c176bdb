import { expect, it } from "vitest";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { endpoint, create } from "../../objects/objects.fixture.ts";
import { seal } from "../../objects/seal.ts";
import { podRules } from "./pod.ts";

const pods = endpoint("v1/pods");
const container = { name: "main", image: "registry.example.com/main:1" };

/** The spec as it is stored. */
function storedSpec(spec: JsonObject): JsonObject {
  return seal(create({ metadata: { name: "a" }, spec }, pods)["spec"] as JsonObject);
}

function fieldsOf(name: string, spec: JsonObject): readonly (string | undefined)[] {
  const causes: Cause[] = [];
  podRules.validate?.({ metadata: { name }, spec } as JsonObject, causes, pods.strategy.dialect);
  return causes.map(({ field }) => field);
}

it("finds a stored spec as it found it before, whatever the pod is called", () => {
  const fit = storedSpec({ containers: [container] });
  const unfit = storedSpec({ containers: [{ ...container, image: " " }] });
  for (const name of ["a", "b", "b"]) {
    expect([fieldsOf(name, fit), fieldsOf(name, unfit)]).toEqual([[], ["spec.containers[0].image"]]);
  }
});

it("looks again at a spec that makes claims in the pod's name", () => {
  const volumeClaimTemplate = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
  const spec = storedSpec({
    containers: [container],
    volumes: [
      { name: "made", ephemeral: { volumeClaimTemplate } },
      { name: "found", persistentVolumeClaim: { claimName: "b-made" } },
    ],
  });
  expect([fieldsOf("a", spec), fieldsOf("a", spec), fieldsOf("b", spec).length > 0]).toEqual([[], [], true]);
});
