import { describe, expect, it } from "vitest";
import { kubernetesDialect, svcDialect } from "../../wire/dialect.ts";
import { fromDialect, resolved, type Step } from "./step.ts";

const step: Step = {
  what: "replace",
  method: "PUT",
  path: "/apis/coordination.svc.io/v1/namespaces/{ns}/leases/a",
  headers: { accept: "application/json;as=Table;g=meta.svc.io;v=v1" },
  body: { apiVersion: "coordination.svc.io/v1", metadata: { uid: "{uid:a}", annotations: { keep: "{not one}" } } },
};

describe("a step", () => {
  it("is filled in with what the server has said, as text whatever is in it", () => {
    const sent = resolved(
      step,
      new Map([
        ["ns", "n"],
        ["uid:a", 'u"1'],
      ]),
      svcDialect,
    );
    expect(sent?.path).toBe("/apis/coordination.svc.io/v1/namespaces/n/leases/a");
    expect(sent?.body).toMatchObject({ metadata: { uid: 'u"1', annotations: { keep: "{not one}" } } });
  });

  it("is not asked when it names what the server has not said", () => {
    expect(resolved(step, new Map([["ns", "n"]]), svcDialect)).toBeUndefined();
  });

  it("is spelled as its server spells groups, and what comes back as svc does", () => {
    const sent = resolved(
      step,
      new Map([
        ["ns", "n"],
        ["uid:a", "u"],
      ]),
      kubernetesDialect,
    );
    expect(sent?.path).toContain("/apis/coordination.k8s.io/v1/");
    expect(sent?.headers?.["accept"]).toContain("g=meta.k8s.io");
    const secret = resolved(
      { ...step, body: { type: "svc.io/basic-auth" } },
      new Map([["ns", "n"]]),
      kubernetesDialect,
    );
    expect(secret?.body).toEqual({ type: "kubernetes.io/basic-auth" });
    const text = '{"apiVersion":"coordination.k8s.io/v1","labels":{"kubernetes.io/metadata.name":"kube-system"}}';
    expect(fromDialect(text, kubernetesDialect)).toBe(
      '{"apiVersion":"coordination.svc.io/v1","labels":{"svc.io/metadata.name":"svc-system"}}',
    );
  });
});
