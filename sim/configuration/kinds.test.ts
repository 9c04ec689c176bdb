import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { authentication, authorization, authorizer, egress, selection, tracing } from "./files.fixture.ts";
import { type FileKind, fileKinds, kindOfFile } from "./kinds.ts";
import { type ConfigurationRules, kubernetesRules, svcRules } from "./rules.ts";
import { bareSetting } from "./setting.ts";

const agentFile = (kind: string, group: string): Record<string, unknown> => ({
  apiVersion: `${group}/v1beta1`,
  kind,
  maxPods: 50,
  evictionHard: { "memory.available": "10%" },
  authentication: { anonymous: { enabled: false } },
  registerWithTaints: [{ key: "a", effect: "NoSchedule" }],
  streamingConnectionIdleTimeout: "30m",
});
const files: readonly Record<string, unknown>[] = [
  agentFile("NodeAgentConfiguration", "nodeagent.config.svc.io"),
  agentFile("KubeletConfiguration", "kubelet.config.k8s.io"),
  authentication(),
  authorization(authorizer({ matchConditions: [{ expression: "request.user != 'x'" }] }), { type: "RBAC", name: "b" }),
  egress(selection("GRPC", { uds: { udsName: "/run/tunnel" } }), selection("Direct", undefined, "etcd")),
  tracing({ samplingRatePerMillion: 5 }),
];

const rulesOf = (kind: string): ConfigurationRules => (kind === "NodeAgentConfiguration" ? svcRules : kubernetesRules);

describe.each(fileKinds)("$kind", (row) => {
  const file = files.find(({ kind }) => kind === row.kind) as Record<string, unknown>;

  test("its schema takes a good file, and none with a field that nobody knows", () => {
    const valid = new Ajv2020({ strict: false }).compile(row.schema(kubernetesRules));
    expect(valid(file)).toBe(true);
    expect(valid({ ...file, colour: "red" })).toBe(false);
    expect(valid({ ...file, apiVersion: "v1" })).toBe(false);
  });

  test("its schema names the group of the profile", () => {
    const group = { NodeAgentConfiguration: "nodeagent.config.svc.io", KubeletConfiguration: "kubelet.config.k8s.io" };
    const own = group[row.kind as keyof typeof group] ?? "apiserver.svc.io";
    expect(JSON.stringify(row.schema(svcRules))).toContain(`${own}/v1beta1`);
  });

  test("its sentences say what its fields hold", () => {
    const explained = row.explain(JSON.stringify(file), bareSetting(rulesOf(row.kind)));
    const text = JSON.stringify(explained);
    const held: Readonly<Record<string, readonly string[]>> = {
      AuthenticationConfiguration: ["https://issuer.test", "touchstone", "sub"],
      AuthorizationConfiguration: ["hook", "request.user != 'x'", "30 s", "10 s", "/etc/here"],
      EgressSelectorConfiguration: ["/run/tunnel", "memory"],
      TracingConfiguration: ["localhost:4317", "5 in a million"],
      NodeAgentConfiguration: ["maxPods is 50", "memory.available is below 10%", "30m0s"],
      KubeletConfiguration: ["maxPods is 50", "authorization.mode is not there", "Webhook"],
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

describe("an agent's file", () => {
  const explained = (fields: object) => {
    const [file] = files;
    const row = fileKinds.find(({ kind }) => kind === "NodeAgentConfiguration") as FileKind;
    return row.explain(JSON.stringify({ ...file, ...fields }), bareSetting(svcRules));
  };

  test("with all that is wrong comes with the fields, types and sense alike", () => {
    const wrong = {
      maxPods: "many",
      port: 70_000,
      imageGCHighThresholdPercent: 10,
      imageGCLowThresholdPercent: 90,
      evictionHard: { "memory.available": "lots" },
      featureGates: { Nonsense: true },
      kubeReserved: { gold: "1" },
    };
    const outcome = explained(wrong);
    const fields = outcome.ok ? [] : outcome.problems.map(({ field }) => field);
    for (const field of ["maxPods", "port", "imageGCLowThresholdPercent", "featureGates", "kubeReserved"]) {
      expect(fields).toContain(field);
    }
    expect(JSON.stringify(outcome)).toContain("lots");
  });

  test("with a field that nobody knows is taken, with a warning", () => {
    expect(explained({ maxPodz: 5 })).toMatchObject({
      ok: true,
      sentences: expect.arrayContaining([{ text: expect.stringContaining('"maxPodz"'), isWarning: true }]),
    });
  });

  test("of the other dialect is told so", () => {
    const row = fileKinds.find(({ kind }) => kind === "KubeletConfiguration") as FileKind;
    expect(row.explain(JSON.stringify(files[1]), bareSetting(svcRules))).toMatchObject({
      ok: false,
      problems: [{ field: "kind", message: expect.stringContaining("must be NodeAgentConfiguration") }],
    });
  });
});
