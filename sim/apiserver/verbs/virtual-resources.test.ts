import { describe, expect, it } from "vitest";
import { TestBed } from "../test-bed.fixture.ts";

const bed = new TestBed();
const group = "/apis/authorization.svc.io/v1";
const path = { path: "/", verb: "get" };
const pods = { verb: "get", resource: "pods" };

function causes(resource: string, spec: object, namespace = ""): readonly unknown[] {
  const place = namespace === "" ? "" : `/namespaces/${namespace}`;
  const answer = bed.ask(`POST ${group}${place}/${resource}`, { body: { spec } });
  const details = answer.body["details"] as { causes?: { field: string; message: string }[] } | undefined;
  return (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
}

describe("reviews of access", () => {
  it("ask about a resource or a path, and about somebody", () => {
    expect(causes("selfsubjectaccessreviews", { resourceAttributes: pods })).toEqual([]);
    expect(causes("selfsubjectaccessreviews", { resourceAttributes: pods, nonResourceAttributes: path })).toEqual([
      'spec.nonResourceAttributes: Invalid value: authorization.NonResourceAttributes{Path:"/", Verb:"get"}: cannot be specified in combination with resourceAttributes',
    ]);
    expect(causes("subjectaccessreviews", {})).toEqual([
      'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified',
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ]);
  });

  it("of one namespace ask about nothing else", () => {
    const local = (spec: object): readonly unknown[] =>
      causes("localsubjectaccessreviews", { user: "u", ...spec }, "default");
    expect(local({ resourceAttributes: { ...pods, namespace: "default" } })).toEqual([]);
    expect(local({ resourceAttributes: pods })).toEqual([
      'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
    ]);
    expect(local({ nonResourceAttributes: path })).toEqual([
      'spec.nonResourceAttributes: Invalid value: authorization.NonResourceAttributes{Path:"/", Verb:"get"}: disallowed on this kind of request',
    ]);
  });

  it("take a selector as a text or in parts", () => {
    const select = (labelSelector: object): readonly unknown[] =>
      causes("selfsubjectaccessreviews", { resourceAttributes: { ...pods, labelSelector } });
    const requirements = [{ key: "a", operator: "Exists" }];
    expect([...select({ rawSelector: "a" }), ...select({ requirements })]).toEqual([]);
    const at = "spec.resourceAttributes.labelSelector";
    expect(select({ rawSelector: "a", requirements })).toEqual([
      `${at}.rawSelector: Invalid value: "a": may not specified at the same time as requirements`,
    ]);
    expect(select({})).toEqual([
      `${at}.requirements: Required value: when ${at} is specified, requirements or rawSelector is required`,
    ]);
  });
});
