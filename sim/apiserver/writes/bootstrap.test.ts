import { describe, expect, it } from "vitest";
import { kubernetesProfile, svcProfile } from "../profile.ts";
import { TestBed } from "../test-bed.ts";

describe.each([
  [kubernetesProfile, "kube-apiserver-1.33"],
  [svcProfile, "svc-apiserver-1.33"],
])("what a cluster begins with ($name)", (profile, manager) => {
  it("is owned by the server: an applier who wants it otherwise meets that, and nobody without a name", () => {
    const bed = new TestBed({ profile });
    const path = "/api/v1/namespaces/default";
    const label = `${profile.dialect.labelSuffix}/metadata.name`;
    expect(bed.ask(`GET ${path}`).at("metadata.managedFields.0")).toMatchObject({
      manager,
      operation: "Update",
      fieldsV1: { "f:metadata": { "f:labels": { ".": {}, [`f:${label}`]: {} } } },
    });
    const applied = bed.ask(`PATCH ${path}?fieldManager=me`, {
      headers: { "content-type": "application/apply-patch+yaml" },
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: "default", labels: { [label]: "other" } } },
    });
    expect(applied.at("message")).toBe(
      `Apply failed with 1 conflict: conflict with "${manager}" using v1: .metadata.labels.${label}`,
    );
  });
});
