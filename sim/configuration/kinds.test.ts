import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { authentication, authorization, authorizer, egress, selection, tracing } from "./files.fixture.ts";
import { fileKinds, kindOfFile } from "./kinds.ts";
import { kubernetesRules, svcRules } from "./rules.ts";
import { bareSetting } from "./setting.ts";

const files = [
  authentication(),
  authorization(authorizer({ matchConditions: [{ expression: "request.user != 'x'" }] }), { type: "RBAC", name: "b" }),
  egress(selection("GRPC", { uds: { udsName: "/run/tunnel" } }), selection("Direct", undefined, "etcd")),
  tracing({ samplingRatePerMillion: 5 }),
];

describe.each(fileKinds)("$kind", (row) => {
  const file = files.find(({ kind }) => kind === row.kind) as Record<string, unknown>;

  test("its schema takes a good file, and none with a field that nobody knows", () => {
    const valid = new Ajv2020({ strict: false }).compile(row.schema(kubernetesRules));
    expect(valid(file)).toBe(true);
    expect(valid({ ...file, colour: "red" })).toBe(false);
    expect(valid({ ...file, apiVersion: "v1" })).toBe(false);
  });

  test("its schema names the group of the profile", () => {
    expect(JSON.stringify(row.schema(svcRules))).toContain("apiserver.svc.io/v1beta1");
  });

  test("its sentences say what its fields hold", () => {
    const explained = row.explain(JSON.stringify(file), bareSetting(kubernetesRules));
    const text = JSON.stringify(explained);
    const held: Readonly<Record<string, readonly string[]>> = {
      AuthenticationConfiguration: ["https://issuer.test", "touchstone", "sub"],
      AuthorizationConfiguration: ["hook", "request.user != 'x'", "30 s", "10 s", "/etc/here"],
      EgressSelectorConfiguration: ["/run/tunnel", "memory"],
      TracingConfiguration: ["localhost:4317", "5 in a million"],
    };
    for (const part of held[row.kind] ?? []) expect(text).toContain(part);
  });
});

test("what can hardly be meant is allowed with a warning", () => {
  const open = authorization({ type: "AlwaysAllow", name: "a" }, { type: "RBAC", name: "b" });
  const explained = kindOfFile(JSON.stringify(open));
  expect("kind" in explained && explained.explain(JSON.stringify(open), bareSetting(kubernetesRules))).toMatchObject({
    ok: true,
    sentences: expect.arrayContaining([expect.objectContaining({ isWarning: true })]),
  });
});

test("a file says its kind itself", () => {
  expect(kindOfFile("kind: TracingConfiguration")).toMatchObject({ kind: "TracingConfiguration" });
  expect(kindOfFile("kind: Pod")).toMatchObject({ field: "kind", message: expect.stringContaining("must be one of") });
  expect(kindOfFile("- 1")).toMatchObject({ field: "" });
});
