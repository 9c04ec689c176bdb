import protobuf from "protobufjs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { type Answer, TestBed } from "../test-bed.fixture.ts";
import { forSwagger } from "./custom-schemas.ts";
import { drained } from "../../../wire/steps.ts";
import { concatenated } from "../encodings/encodings.ts";
import { swaggerPieces } from "./swagger-protobuf.ts";

const json = { "content-type": "application/json" };

describe.each([svcProfile, kubernetesProfile])("custom resources in API documents under $name", (profile) => {
  const { dialect } = profile;
  const prefix = dialect.extensionPrefix;
  const definitions = `/apis/apiextensions.${dialect.groupSuffix}/v1/customresourcedefinitions`;
  const component = "com.example.stable.v1.Cron";

  const schema = {
    type: "object",
    description: "A thing that happens again and again.",
    properties: {
      spec: {
        type: "object",
        required: ["schedule"],
        properties: {
          schedule: { type: "string", pattern: "^.+$", maxLength: 20, description: "When." },
          replicas: { type: "integer", nullable: true, default: 1 },
          port: { [`${prefix}int-or-string`]: true, anyOf: [{ type: "integer" }, { type: "string" }] },
          free: { type: "object", [`${prefix}preserve-unknown-fields`]: true, properties: { a: { type: "string" } } },
        },
        [`${prefix}validations`]: [{ rule: "self.schedule != 'never'" }],
      },
    },
  };

  function defined(): TestBed {
    const bed = new TestBed({ profile });
    const version = { name: "v1", served: true, storage: true, subresources: { status: {} } };
    const made = bed.ask(`POST ${definitions}`, {
      headers: json,
      body: {
        metadata: { name: "crons.stable.example.com" },
        spec: {
          group: "stable.example.com",
          scope: "Namespaced",
          names: { plural: "crons", kind: "Cron" },
          versions: [{ ...version, schema: { openAPIV3Schema: schema } }],
        },
      },
    });
    expect(made.status, made.text).toBe(201);
    bed.advance(2);
    return bed;
  }

  const address = (bed: TestBed): string | undefined => {
    const paths = bed.ask("GET /openapi/v3").body["paths"] as Record<string, { serverRelativeURL: string }>;
    return paths["apis/stable.example.com/v1"]?.serverRelativeURL;
  };
  const read = (answer: Answer) =>
    answer.body as unknown as {
      paths: Record<string, Record<string, JsonObject>>;
      components: { schemas: Record<string, JsonObject> };
      definitions: Record<string, JsonObject>;
    };

  it("have a document of their own, with their schema and what every object has", () => {
    const bed = defined();
    const { paths, components } = read(bed.ask(`GET ${address(bed)}`));
    const own = components.schemas[component] as JsonObject;
    expect(own["description"]).toBe(schema.description);
    expect(own["properties"]).toMatchObject({ ...schema.properties, kind: { type: "string" } });
    expect(own[`${prefix}group-version-kind`]).toEqual([{ group: "stable.example.com", version: "v1", kind: "Cron" }]);
    const collection = paths["/apis/stable.example.com/v1/namespaces/{namespace}/crons"] as Record<string, JsonObject>;
    expect(Object.keys(collection)).toEqual(["get", "post", "delete", "parameters"]);
    expect(JSON.stringify(collection["post"])).toContain(`"#/components/schemas/${component}"`);
    expect(JSON.stringify(collection["get"])).toContain(`"#/components/schemas/${component}List"`);
    expect(paths).toHaveProperty(["/apis/stable.example.com/v1/namespaces/{namespace}/crons/{name}/status"]);
    const refs = [...JSON.stringify(components).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    for (const name of refs) expect(components.schemas).toHaveProperty([name as string]);
  });

  it("offer the patches that they can be sent, by which clients choose theirs", () => {
    const { paths } = read(defined().ask("GET /openapi/v2"));
    const own = "/apis/stable.example.com/v1/namespaces/{namespace}/crons/{name}";
    const consumed = (path: string): unknown => paths[path]?.["patch"]?.["consumes"];
    for (const path of [own, `${own}/status`]) {
      expect(consumed(path)).toEqual(
        ["json-patch+json", "merge-patch+json", "apply-patch+yaml"].map((form) => `application/${form}`),
      );
    }
    expect(consumed("/api/v1/namespaces/{namespace}/pods/{name}")).toContain("application/strategic-merge-patch+json");
  });

  it("come and go with their definitions, and a document that has changed has another address", () => {
    const bed = defined();
    const before = address(bed);
    const versions = [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", description: "Other." } },
      },
    ];
    const path = `${definitions}/crons.stable.example.com`;
    bed.merge(path, { spec: { versions } });
    expect(address(bed)).not.toBe(before);
    expect(bed.ask(`GET ${before}`).status).toBe(301);
    const { paths } = read(bed.ask("GET /openapi/v2"));
    expect(paths).toHaveProperty(["/apis/stable.example.com/v1/namespaces/{namespace}/crons"]);
    bed.ask(`DELETE ${path}`);
    bed.advance(5);
    expect(address(bed)).toBeUndefined();
    expect(bed.ask("GET /openapi/v2").text).not.toContain("stable.example.com");
  });

  it("are told to old clients without what Swagger does not know", () => {
    const bed = defined();
    const answer = bed.ask("GET /openapi/v2");
    const own = read(answer).definitions[component] as { properties: { spec: { properties: JsonObject } } };
    expect(own.properties.spec.properties).toEqual({
      schedule: schema.properties.spec.properties.schedule,
      replicas: {},
      port: { [`${prefix}int-or-string`]: true },
      free: { type: "object", [`${prefix}preserve-unknown-fields`]: true },
    });
    expect(answer.text).toContain(`"$ref":"#/definitions/${component}"`);
  });

  it("are in protobuf as well, with their limits", () => {
    const { root } = protobuf.parse(`syntax = "proto3";
      message Schema { string pattern = 13; int64 max_length = 11; Properties properties = 25; }
      message NamedSchema { string name = 1; Schema value = 2; }
      message Properties { repeated NamedSchema pairs = 1; }
      message Document { Properties definitions = 9; }`);
    const type = root.lookupType("Document");
    const bytes = concatenated(drained(swaggerPieces(defined().ask("GET /openapi/v2").body)));
    const document = type.toObject(type.decode(bytes), {
      longs: Number,
    }) as { definitions: { pairs: { name: string; value: Schema }[] } };
    const own = document.definitions.pairs.find(({ name }) => name === component)?.value;
    const spec = own?.properties.pairs.find(({ name }) => name === "spec")?.value;
    const schedule = spec?.properties.pairs.find(({ name }) => name === "schedule")?.value;
    expect(schedule).toMatchObject({ pattern: "^.+$", maxLength: 20 });
  });
});

interface Schema {
  readonly properties: { readonly pairs: { readonly name: string; readonly value: Schema }[] };
}

describe("forSwagger", () => {
  it("leaves references with company as they are", () => {
    const reference = { allOf: [{ $ref: "#/components/schemas/x" }], default: {} };
    expect(forSwagger(reference, "x-kubernetes-")).toEqual({ allOf: reference.allOf });
    expect(forSwagger({ allOf: [{ minimum: 1 }] }, "x-kubernetes-")).toEqual({});
  });
});
