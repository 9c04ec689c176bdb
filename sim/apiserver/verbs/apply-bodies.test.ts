import { describe, expect, it } from "vitest";
import { type CborValue, encodeCbor } from "../../../wire/cbor.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { type Answer, configMaps, TestBed } from "../test-bed.fixture.ts";
import { apply, deployment, deployments, map, template } from "./apply.fixture.ts";

describe("what is no configuration", () => {
  const bed = new TestBed({ profile: kubernetesProfile });
  it.each([
    ["of another kind", { ...map({}), kind: "Secret" }, 400, "invalid object type: /v1, Kind=Secret"],
    ["of another version", { ...map({}), apiVersion: "apps/v2" }, 400, "invalid object type: apps/v2, Kind=ConfigMap"],
    ["of no kind", { metadata: { name: "a" } }, 400, "invalid object type: /, Kind="],
    ["with owners", map({}, { managedFields: [] }), 400, "metadata.managedFields must be nil"],
    [
      "of another name",
      map({}, { name: "b" }),
      400,
      "the name of the object (b) does not match the name on the URL (a)",
    ],
    [
      "of another namespace",
      map({}, { namespace: "other" }),
      400,
      "the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      "of no object",
      "[]",
      400,
      "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ],
    [
      "with a value of the wrong type",
      map({ k: 5, l: true }),
      500,
      "failed to create typed patch object (/a; /v1, Kind=ConfigMap): errors:\n" +
        "  .data.k: expected string, got &value.valueUnstructured{Value:5}\n" +
        "  .data.l: expected string, got &value.valueUnstructured{Value:true}",
    ],
    [
      "with a list for a map",
      { ...map({}), data: ["a"] },
      500,
      "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data: expected map, got &{[a]}",
    ],
  ])("%s", (_, body, code, message) => {
    const answer = apply(bed, `${configMaps}/a`, body);
    expect([answer.status, answer.at("message")]).toEqual([code, message]);
    expect(bed.ask(`GET ${configMaps}/a`).status).toBe(404);
  });

  it("two elements of one key, a number as text, an unknown field, all at once", () => {
    const body = { ...template({ name: "c" }, { name: "c" }), replicas: "3", bogus: 1 };
    expect(apply(bed, `${deployments}/d`, deployment(body)).at("message")).toBe(
      "failed to create typed patch object (/d; apps/v1, Kind=Deployment): errors:\n" +
        '  .spec.template.spec.containers: duplicate entries for key [name="c"]\n' +
        "  .spec.replicas: expected numeric (int or float), got string\n" +
        "  .spec.bogus: field not declared in schema",
    );
  });

  it("one field of several that a map does not have, one element of several that is none", () => {
    const body = { ...map({}, { finalizers: [{}, 5] }), bogus: 1, other: 2 };
    expect(apply(bed, `${configMaps}/a`, body).at("message")).toBe(
      "failed to create typed patch object (/a; /v1, Kind=ConfigMap): errors:\n" +
        "  .metadata.finalizers: element 0: associative list without keys has an element that's a map type\n" +
        "  .bogus: field not declared in schema",
    );
  });

  it("without a manager", () => {
    const answer = bed.ask(`PATCH ${configMaps}/a`, {
      headers: { "content-type": "application/apply-patch+yaml" },
      body: map({}),
    });
    expect([answer.status, answer.at("message")]).toEqual([
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ]);
  });
});

describe("forms of the body", () => {
  const twice = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n  k: w\n";

  it("duplicates are dropped, warned of, or refused", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const strict = apply(bed, `${configMaps}/a`, twice, { query: "&fieldValidation=Strict" });
    expect([strict.status, strict.at("message")]).toEqual([
      400,
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key "k" already set in map',
    ]);
    const warned = apply(bed, `${configMaps}/a`, twice);
    expect([warned.status, warned.headers["warning"]]).toEqual([
      201,
      ['299 - "line 7: key \\"k\\" already set in map"'],
    ]);
    expect(
      apply(bed, `${configMaps}/a`, twice, { query: "&fieldValidation=Ignore" }).headers["warning"],
    ).toBeUndefined();
  });

  it.each([
    ["{", "}"],
    ["[", "]"],
  ] as const)("nested too deep it is refused, and quickly: %s", (open, close) => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const path = "/apis/apps/v1/namespaces/default/controllerrevisions/r";
    for (const depth of [1_000, 9_000, 200_000]) {
      const deep =
        open === "{" ? `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}` : open.repeat(depth) + close.repeat(depth);
      const body = `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"},"revision":1,"data":${deep}}`;
      const answer = apply(bed, path, body);
      expect([answer.status, answer.at("message")]).toEqual([
        400,
        "error decoding YAML: error converting YAML to JSON: yaml: exceeded max depth",
      ]);
    }
  });

  it("CBOR is taken with its gate alone", () => {
    const type = "application/apply-patch+cbor";
    const send = (bed: TestBed): Answer => {
      const answer = { status: 0 } as { status: number };
      bed.kernel.enter(bed.process, () =>
        bed.server.start(
          {
            method: "PATCH",
            path: `${configMaps}/a`,
            query: "fieldManager=m",
            headers: { authorization: "Bearer alice", "content-type": type },
            body: encodeCbor(map({ k: "v" }) as unknown as CborValue),
          },
          {
            respond: (status) => {
              answer.status = status;
            },
            open: () => {},
            frame: () => 0,
            close: () => {},
          },
        ),
      );
      return answer as Answer;
    };
    expect(send(new TestBed({ profile: kubernetesProfile })).status).toBe(415);
    const bed = new TestBed({ profile: kubernetesProfile, featureGates: { CBORServingAndStorage: true } });
    expect(send(bed).status).toBe(201);
    expect(bed.ask(`GET ${configMaps}/a`).at("data")).toEqual({ k: "v" });
  });
});
