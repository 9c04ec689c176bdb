import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { TestBed } from "../test-bed.fixture.ts";
import { schemaInSwagger } from "./swagger.ts";
import { drained } from "../../../wire/steps.ts";
import { concatenated } from "../encodings/encodings.ts";
import { swaggerPieces } from "./swagger-protobuf.ts";

/** Written from the published numbers apart from the encoder's table, and read by the library's own classes. */
const { root } = protobuf.parse(`syntax = "proto3";
  message Any { string yaml = 2; }
  message NamedAny { string name = 1; Any value = 2; }
  message Schema { string ref = 1; string format = 2; Any default = 5; repeated string required = 19; repeated Any enum = 20;
    Additional additional = 21; Texts type = 22; Items items = 23; Properties properties = 25; repeated NamedAny extensions = 31; }
  message Additional { Schema schema = 1; }
  message Texts { repeated string value = 1; }
  message Items { repeated Schema schema = 1; }
  message NamedSchema { string name = 1; Schema value = 2; }
  message Properties { repeated NamedSchema pairs = 1; }
  message Query { string name = 4; }
  message NonBody { Query query = 3; }
  message Parameter { NonBody elsewhere = 2; }
  message ParametersItem { Parameter parameter = 1; }
  message Operation { repeated ParametersItem parameters = 8; repeated NamedAny extensions = 13; }
  message PathItem { Operation get = 2; Operation patch = 8; }
  message NamedPathItem { string name = 1; PathItem value = 2; }
  message Paths { repeated NamedPathItem path = 2; }
  message Document { string swagger = 1; Paths paths = 8; Properties definitions = 9; }`);

const read = (bytes: Uint8Array): JsonObject => {
  const type = root.lookupType("Document");
  return type.toObject(type.decode(bytes)) as JsonObject;
};

describe.each([svcProfile, kubernetesProfile])("Swagger under $name", (profile) => {
  const bed = new TestBed({ profile });
  const document = bed.ask("GET /openapi/v2").body as unknown as {
    paths: Record<string, Record<string, { parameters: { name: string; in: string }[] }>>;
    definitions: Record<string, JsonObject>;
  };

  it("holds the paths and definitions of every group version, and refers to nothing else", () => {
    expect(Object.keys(document.paths)).toContain("/api/v1/namespaces/{namespace}/pods/{name}");
    expect(Object.keys(document.paths).some((path) => path.startsWith("/apis/apps/v1/"))).toBe(true);
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/definitions\/([^"]*)"/g)].map(([, name]) => name);
    expect(refs.length).toBeGreaterThan(1000);
    expect([...new Set(refs)].filter((name) => !Object.hasOwn(document.definitions, name as string))).toEqual([]);
    expect(/"(oneOf|allOf)":\[|"(requestBody|components)":/.exec(JSON.stringify(document))).toBeNull();
  });

  it("says the same in protobuf", () => {
    const decoded = read(concatenated(drained(swaggerPieces(document as unknown as JsonObject)))) as never as {
      swagger: string;
      paths: { path: { name: string; value: { patch?: { parameters: unknown[] } } }[] };
      definitions: { pairs: { name: string }[] };
    };
    expect(decoded.swagger).toBe("2.0");
    expect(decoded.paths.path.map(({ name }) => name)).toEqual(Object.keys(document.paths));
    expect(decoded.definitions.pairs.map(({ name }) => name)).toEqual(Object.keys(document.definitions));
    const pod = decoded.paths.path.find(({ name }) => name === "/api/v1/namespaces/{namespace}/pods/{name}");
    expect(pod?.value.patch?.parameters).toContainEqual({ parameter: { elsewhere: { query: { name: "dryRun" } } } });
  });

  it("answers an old client in the form that it names", () => {
    const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    const answer = bed.ask("GET /openapi/v2", { headers: { accept } });
    expect([answer.status, answer.contentType]).toEqual([
      200,
      "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    ]);
    expect(bed.ask("GET /openapi/v2", { headers: { accept: "text/html" } }).status).toBe(406);
    const etag = answer.headers["etag"] as string;
    expect(bed.ask("GET /openapi/v2", { headers: { "if-none-match": etag } }).status).toBe(304);
    expect(bed.ask("POST /openapi/v2").status).toBe(405);
  });
});

describe("a schema in Swagger", () => {
  const $ref = "#/components/schemas/a";
  it.each([
    [
      "a reference with more beside it",
      { allOf: [{ $ref }], default: {}, "x-a": 1 },
      { $ref: "#/definitions/a", "x-a": 1 },
    ],
    ["a number or a text", { oneOf: [{}], format: "int-or-string" }, { format: "int-or-string", type: "string" }],
    ["a list of references", { type: "array", items: { $ref } }, { type: "array", items: { $ref: "#/definitions/a" } }],
    [
      "a property called default",
      { properties: { default: { type: "string" } } },
      { properties: { default: { type: "string" } } },
    ],
  ])("is right for %s", (_, schema, expected) => {
    expect(schemaInSwagger(schema as JsonObject)).toEqual(expected);
  });
});
