import { describe, expect, it } from "vitest";
import { structOfKind, type TypeRow } from "../../wire/schema.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { decodeProtobuf, encodeProtobuf, openEnvelope } from "../apiserver/encodings/protobuf/envelope.ts";
import { type Answer, TestBed } from "../apiserver/test-bed.fixture.ts";
import { keyStepOf } from "./field-diff.ts";
import { valueStep } from "./field-set.ts";
import { durationSeconds, incremented, int64Of } from "./int64.ts";

const wide = "9007199254740993"; // 2^53 + 1
const most = "9223372036854775807";
const pods = "/api/v1/namespaces/default/pods";

const newBed = (): TestBed => new TestBed({ profile: kubernetesProfile });
const podText = (name: string, spec: string): string =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":{"containers":[{"name":"c","image":"i"}],${spec}}}`;
const send = (bed: TestBed, request: string, type: string, body: string): Answer =>
  bed.ask(request, { as: "admin", headers: { "content-type": type }, body });

describe("integers of 64 bits", () => {
  it("are numbers as far as a double holds them, then bigints, and nothing beyond their range", () => {
    expect([-0, 5, 2n ** 53n - 1n].map(int64Of)).toEqual([0, 5, 2 ** 53 - 1]);
    expect([2n ** 53n, -(2n ** 63n), 2 ** 60].map(int64Of)).toEqual([2n ** 53n, -(2n ** 63n), 2n ** 60n]);
    expect([2n ** 63n, 2 ** 63, 1.5, "1", Number.NaN, Number.POSITIVE_INFINITY].map(int64Of)).toEqual(
      Array.from({ length: 6 }),
    );
  });

  it("are counted past 2^53, and from the largest to the smallest", () => {
    expect(
      [0, Number.MAX_SAFE_INTEGER, 2n ** 63n - 1n, -(2n ** 53n)].map((each) => incremented(each as number)),
    ).toEqual([1, 2n ** 53n, -(2n ** 63n), -Number.MAX_SAFE_INTEGER]);
  });

  it("wrap as durations beyond 292 years", () => {
    expect([30, 9_223_372_036, 9_223_372_037, 2n ** 63n - 1n].map((each) => durationSeconds(each as number))).toEqual([
      30, 9_223_372_036, -9_223_372_036, -1,
    ]);
  });
});

describe("wide integers in built-in objects", () => {
  it("are read, kept and written as they are, in every form", () => {
    const bed = newBed();
    const spec = `"securityContext":{"supplementalGroups":[1]},"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":${wide}}],"terminationGracePeriodSeconds":${most}`;
    const fields = [`"tolerationSeconds":${wide}`, `"terminationGracePeriodSeconds":${most}`];
    const made = send(bed, `POST ${pods}`, "application/json", podText("a", spec));
    expect(made.status).toBe(201);
    const yaml = send(bed, `POST ${pods}`, "application/yaml", podText("b", spec));
    expect(yaml.status).toBe(201);
    for (const { text } of [made, yaml, bed.ask(`GET ${pods}/a`), bed.ask(`GET ${pods}`)]) {
      for (const field of fields) expect(text).toContain(field);
    }
    const asYaml = bed.ask(`GET ${pods}/a`, { headers: { accept: "application/yaml" } });
    expect(asYaml.text).toContain(`tolerationSeconds: ${wide}\n`);
    const type = structOfKind("v1", "Pod") as TypeRow;
    const bytes = encodeProtobuf(type, bed.ask(`GET ${pods}/a`).object as never);
    expect(decodeProtobuf(type, openEnvelope(bytes))["spec"]).toMatchObject({
      terminationGracePeriodSeconds: BigInt(most),
    });
  });

  it("are patched, and a patch that says the same changes nothing", () => {
    const bed = newBed();
    send(bed, `POST ${pods}`, "application/json", podText("a", `"activeDeadlineSeconds":30`));
    const status = (type: string, seconds: string): Answer =>
      send(bed, `PATCH ${pods}/a/status`, `application/${type}`, `{"status":{"observedGeneration":${seconds}}}`);
    for (const [type, seconds] of [
      ["merge-patch+json", wide],
      ["strategic-merge-patch+json", most],
    ] as const) {
      const patched = status(type, seconds);
      expect(patched.text).toContain(`"observedGeneration":${seconds}`);
      expect(status(type, seconds).at("metadata.resourceVersion")).toBe(patched.at("metadata.resourceVersion"));
    }
    const operations = `[{"op":"test","path":"/status/observedGeneration","value":${most}},{"op":"replace","path":"/status/observedGeneration","value":-${wide}}]`;
    const patched = send(bed, `PATCH ${pods}/a/status`, "application/json-patch+json", operations);
    expect(patched.text).toContain(`"observedGeneration":-${wide}`);
  });

  it("tell elements of lists apart", () => {
    const port = BigInt(wide) as unknown as number;
    expect(keyStepOf({ port }, ["port"], [])).toBe(`k:{"port":${wide}}`);
    expect(valueStep(port)).toBe(`v:${wide}`);
  });

  it("come rounded out of a configuration that is applied, as from the real server's reader", () => {
    const bed = newBed();
    const path = `PATCH ${pods}/a?fieldManager=m`;
    const applied = send(
      bed,
      path,
      "application/apply-patch+yaml",
      podText("a", `"terminationGracePeriodSeconds":${wide}`),
    );
    expect(applied.status).toBe(201);
    expect(applied.text).toContain('"terminationGracePeriodSeconds":9007199254740992');
  });

  it("are judged by the rules of their fields, and refused beyond 64 bits", () => {
    const bed = newBed();
    const post = (spec: string): Answer => send(bed, `POST ${pods}`, "application/json", podText("a", spec));
    expect(post(`"activeDeadlineSeconds":${wide}`).at("details.causes")).toMatchObject([
      { field: "spec.activeDeadlineSeconds", message: expect.stringContaining(`Invalid value: ${wide}: `) },
    ]);
    expect(post('"terminationGracePeriodSeconds":9223372036854775808').at("message")).toContain(
      "cannot unmarshal number 9223372036854775808 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64",
    );
  });

  it("are shown to policies and counted by deletions", () => {
    const bed = newBed();
    const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic";
    const resourceRules = [{ operations: ["DELETE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];
    const forbidden = [
      `has(request.options.gracePeriodSeconds) && request.options.gracePeriodSeconds == ${wide}`,
      `oldObject.spec.terminationGracePeriodSeconds != ${most}`,
    ];
    const policy = {
      matchConstraints: { resourceRules },
      validations: forbidden.map((expression) => ({ expression: `!(${expression})` })),
    };
    for (const [path, spec] of [
      ["ies", policy],
      ["ybindings", { policyName: "p", validationActions: ["Deny"] }],
    ] as const) {
      expect(bed.ask(`POST ${policies}${path}`, { as: "admin", body: { metadata: { name: "p" }, spec } }).status).toBe(
        201,
      );
    }
    const spec = `"nodeName":"n","terminationGracePeriodSeconds":${most}`;
    send(bed, `POST ${pods}`, "application/json", podText("a", spec));
    const deleted = bed.ask(`DELETE ${pods}/a`, { as: "admin" });
    expect(deleted.text).toContain(`"deletionGracePeriodSeconds":${most}`);
    const shorten = (seconds: string): Answer =>
      send(bed, `DELETE ${pods}/a`, "application/json", `{"gracePeriodSeconds":${seconds}}`);
    expect(shorten(wide).at("message")).toContain(`denied request: failed expression: !(${forbidden[0]})`);
    expect(shorten("9007199254740995").text).toContain('"deletionGracePeriodSeconds":9007199254740995');
    expect(bed.ask(`DELETE ${pods}/a?gracePeriodSeconds=${most}0`, { as: "admin" }).at("message")).toContain(
      "value out of range",
    );
  });
});
