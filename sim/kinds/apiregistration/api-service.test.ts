import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../../contract/profile.ts";
import { type Answer, TestBed } from "../../apiserver/test-bed.fixture.ts";
import { create, endpoint } from "../../objects/objects.fixture.ts";
import { validateCreate } from "../../objects/validation.ts";

const services = endpoint("apiregistration.svc.io/v1/apiservices");
const texts = (name: string, spec: object): readonly string[] =>
  validateCreate(create({ metadata: { name }, spec: { ...spec } }, services), services.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );

describe("the registry of served APIs", () => {
  const path = "/apis/apiregistration.k8s.io/v1/apiservices";

  it("lists each group version that the server serves, as its own", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const items = bed.ask(`GET ${path}`).at("items") as { metadata: { name: string } }[];
    const names = items.map(({ metadata }) => metadata.name);
    expect(names).toContain("v1.");
    expect(names).toContain("v1.apiregistration.k8s.io");
    const groups = bed.ask("GET /apis").at("groups") as { versions: { groupVersion: string }[] }[];
    const served = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion));
    expect(names.toSorted()).toEqual(
      ["v1.", ...served.map((each) => each.split("/").toReversed().join("."))].toSorted(),
    );
    const apps: Answer = bed.ask(`GET ${path}/v1.apps`);
    expect(apps.at("status.conditions.0")).toMatchObject({ type: "Available", status: "True", reason: "Local" });
    expect(bed.ask(`GET ${path}`, { headers: { accept: "application/vnd.kubernetes.protobuf" } }).status).toBe(200);
  });

  it("takes no other server's API, and says so", () => {
    const spec = { group: "example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 };
    expect(texts("v1.example.com", spec)).toEqual([]);
    expect(texts("v1.example.com", { ...spec, service: { namespace: "a", name: "b" } })).toEqual([
      "spec.service: Forbidden: aggregated APIs are not supported by this simulator",
    ]);
    expect(texts("other", { group: "example.com" })).toEqual([
      'metadata.name: Invalid value: "other": must be `spec.version+"."+spec.group`: ".example.com"',
      "spec.version: Required value",
      "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
      "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
    ]);
  });
});
