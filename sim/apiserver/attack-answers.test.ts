/**
 * What answers to attacks of the benchmark cost, counted: slices and their bytes, rows of tables, events. A count grows where somebody
 * does again in one piece what is done in parts, or for each what was done once.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject, Payload } from "../contract/http-message.ts";
import { applied, type AttackRequest, definitionOf, post, times } from "./attack-requests.fixture.ts";
import { attackTable } from "./attack-table.fixture.ts";
import { compactJson, prettyJson, yaml } from "./encodings/encode.ts";
import { type Told, sliceBytes, strike, Struck } from "./struck.fixture.ts";

describe("a long list", () => {
  it.each(["json", "yaml", "table", "protobuf", "cbor", "pretty"])("in %s is made in parts", (encoding) => {
    const { struck, told } = strike(`list-${encoding}`, 1 / 40); // 2,000 objects
    const sizes = sliceBytes(told[0] as Told);
    expect([told[0]?.status, struck.failures]).toEqual([200, []]);
    expect(sizes.length).toBeGreaterThanOrEqual(10); // 200 objects each at most, or a megabyte
    expect(Math.max(...sizes)).toBeLessThan(1_200_000);
  });

  it("of large objects on lines of their own is made in parts", () => {
    const { told } = strike("pretty-list", 1 / 56);
    const sizes = sliceBytes(told[0] as Told);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(9_000_000);
    expect(Math.max(...sizes)).toBeLessThan(1_200_000);
  });
});

describe("one object of very many values in YAML is written in parts", () => {
  const path = "/api/v1/namespaces/default/configmaps";
  const data = Object.fromEntries(times(60_000, (at) => [`k${at}`, "v"]));
  const struck = new Struck({ prepare: () => [post(path, { metadata: { name: "wide" }, data })] }, 1);
  it.each([path, `${path}/wide`])("%s", (asked) => {
    const told = struck.send({ path: asked, headers: { accept: "application/yaml" } });
    const sizes = sliceBytes(told);
    expect([told.status, told.payload?.contentType]).toEqual([200, "application/yaml"]);
    expect(Math.max(...sizes)).toBeLessThan(40_000);
    expect(sizes.filter((bytes) => bytes === 0).length).toBeGreaterThan(30); // while the keys are put in order
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(600_000);
  });
});

it("a deleted object of very many values is told in parts", () => {
  const path = "/api/v1/namespaces/default/pods";
  const readinessGates = times(20_000, (at) => ({ conditionType: `c${at}` }));
  const wide = { metadata: { name: "wide" }, spec: { containers: [{ name: "c", image: "i" }], readinessGates } };
  const struck = new Struck({ prepare: () => [post(path, wide)] }, 1);
  const told = struck.send({ method: "DELETE", path: `${path}/wide` });
  const sizes = sliceBytes(told);
  expect([told.status, struck.failures]).toEqual([200, []]);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(400_000);
  expect(Math.max(...sizes)).toBeLessThan(40_000);
});

it("what was counted of many resources is told in parts, each in an event of its own", () => {
  const names = times(150, (at) => `r${at}s`);
  const definition = (plural: string): AttackRequest =>
    post(
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      definitionOf(plural, `K${plural}`, { schema: { openAPIV3Schema: { type: "object" } } }),
    );
  const struck = new Struck({ prepare: () => names.map(definition) }, 1);
  expect(new Struck({}, 1).send({ path: "/metrics" }).eventCount).toBe(1);
  for (const name of names) struck.send({ path: `/apis/example.com/v1/namespaces/default/${name}` });
  const told = struck.send({ path: "/metrics" });
  expect(told.eventCount).toBeGreaterThanOrEqual(10);
  expect(Math.max(...sliceBytes(told))).toBeLessThan(800_000);
  const text = new TextDecoder().decode(told.payload?.bytes());
  const counted = text.match(/apiserver_request_total\{.*resource="r\d+s".*verb="LIST".*\} [12]\n/g) ?? [];
  expect(new Set(counted).size).toBeGreaterThanOrEqual(150);
});

describe("tables of custom resources", () => {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const path = "/apis/example.com/v1/namespaces/default/cols";
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const defined = (additionalPrinterColumns: readonly object[]): AttackRequest =>
    post(definitions, definitionOf("cols", "Col", { schema: { openAPIV3Schema: schema }, additionalPrinterColumns }));
  const custom = (name: string, spec: unknown): AttackRequest =>
    post(path, { apiVersion: "example.com/v1", kind: "Col", metadata: { name }, spec });
  const columnsOf = (count: number, jsonPath: (at: number) => string): readonly object[] =>
    times(count, (at) => ({ name: `c${at}`, type: "string", jsonPath: jsonPath(at) }));
  const staged = (columns: readonly object[], specs: readonly unknown[]): Struck => {
    const struck = new Struck({ prepare: () => [defined(columns)] }, 1);
    for (const [at, spec] of specs.entries()) expect(struck.send(custom(`a${at}`, spec)).status).toBe(201);
    return struck;
  };
  const accept = (format: string): string => `application/${format};as=Table;v=v1;g=meta.k8s.io`;

  it.each([
    ["json", ""],
    ["json", "&pretty=1"],
    ["yaml", ""],
  ])("with long rows are made in parts: %s%s", (format, more) => {
    const struck = staged(
      columnsOf(200, () => ".spec.s"),
      times(30, () => ({ s: "x".repeat(1_000) })),
    );
    for (const include of ["None", "Metadata", "Object"]) {
      const told = struck.send({
        path: `${path}?includeObject=${include}${more}`,
        headers: { accept: accept(format) },
      });
      const sizes = sliceBytes(told);
      expect(told.status).toBe(200);
      expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(6_000_000);
      expect(Math.max(...sizes)).toBeLessThan(800_000);
    }
    const one = struck.send({ path: `${path}/a1`, headers: { accept: accept(format) } });
    expect(Math.max(...sliceBytes(one))).toBeLessThan(300_000);
    expect(struck.failures).toEqual([]);
  });

  it.each(["json", "yaml"])("whose rows cost much are made some at a time: %s", (format) => {
    const struck = staged(
      columnsOf(10, (at) => `.spec.n[?(@.a==${at + 2})].a`),
      times(40, () => ({ n: times(1_000, () => ({ a: 1 })) })),
    );
    for (const query of ["", "?pretty=1"]) {
      const told = struck.send({ path: `${path}${query}`, headers: { accept: accept(format) } });
      expect(sliceBytes(told).length).toBeGreaterThanOrEqual(40); // 200 rows in one
    }
  });

  it.each(["json", "yaml"])("with thousands of columns say in parts what these are: %s", (format) => {
    const columns = columnsOf(3_000, (at) => `.spec.c${at}`).map((column) => ({
      ...column,
      description: "d".repeat(100),
    }));
    const told = staged(columns, [{}]).send({ path, headers: { accept: accept(format) } });
    const sizes = sliceBytes(told);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(500_000);
    expect(Math.max(...sizes)).toBeLessThan(100_000);
  });

  it("are what the encoder makes of the whole", () => {
    const struck = staged(
      [...columnsOf(150, (at) => `.spec.c${at}`), ...columnsOf(3, () => ".spec"), ...columnsOf(2, () => ".spec.n[*]")],
      times(230, (at) => ({ c1: "<&>", c7: "a: b\nc", n: times(at % 40, () => at), long: "v".repeat((at % 9) ** 5) })),
    );
    for (const include of ["None", "Metadata", "Object"]) {
      const asked = (format: string, query = ""): Payload =>
        struck.send({ path: `${path}?includeObject=${include}${query}`, headers: { accept: accept(format) } })
          .payload as Payload;
      const json = asked("json");
      expect(Buffer.from(json.bytes()).equals(compactJson(json.object as JsonObject))).toBe(true);
      const inYaml = asked("yaml");
      expect(Buffer.from(inYaml.bytes()).equals(yaml(inYaml.object as JsonObject))).toBe(true);
      const pretty = asked("json", "&pretty=1");
      expect(Buffer.from(pretty.bytes()).equals(prettyJson(pretty.object as JsonObject))).toBe(true);
    }
  });

  interface Heard {
    readonly frames: Payload[];
  }

  const watched = (struck: Struck): Heard => {
    const frames: Payload[] = [];
    const { kernel, process, server } = struck.bed;
    const headers = { authorization: "Bearer admin", accept: accept("json") };
    const responder = {
      respond: () => {},
      open: () => {},
      frame(payload: Payload) {
        frames.push(payload);
        return 0;
      },
      whenTaken: (resume: () => void) => void process.clock.after(1, resume),
      close: () => {},
    };
    kernel.enter(process, () =>
      server.start({ method: "GET", path, query: "watch=1", headers, body: undefined }, responder),
    );
    return { frames };
  };

  it("are made once for all watches that show the same", () => {
    const struck = staged(
      columnsOf(50, () => ".spec.n[*]"),
      [],
    );
    const all = times(3, () => watched(struck));
    for (const name of ["one", "two"]) struck.send(custom(name, { n: [1] }));
    struck.bed.advance(0.1);
    const told = all.map(({ frames }) => frames);
    expect(told.map(({ length }) => length)).toEqual([2, 2, 2]);
    expect(new Set(told.flat()).size).toBe(2);
  });

  it("tell a watch what there is some rows at a time where these cost much", () => {
    const struck = staged(
      columnsOf(10, (at) => `.spec.n[?(@.a==${at + 2})].a`),
      times(40, () => ({ n: times(1_000, () => ({ a: 1 })) })),
    );
    const { frames } = watched(struck);
    const { kernel } = struck.bed;
    let most = frames.length;
    for (let before = frames.length; frames.length < 40; before = frames.length) {
      kernel.step();
      most = Math.max(most, frames.length - before);
    }
    expect(most).toBeLessThanOrEqual(4);
  });
});

it("who owns deeply nested fields is told on lines of their own in parts, of which none is long", () => {
  let fields: object = {};
  for (let depth = 0; depth < 950; depth++) fields = { [`f:${"a".repeat(20)}`]: fields };
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f:k${at}`, fields]));
  const entry = { manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: many };
  const path = "/api/v1/namespaces/default/configmaps";
  const headers = { "content-type": "application/json" };
  const struck = new Struck({}, 1);
  const body = JSON.stringify({ metadata: { name: "deep", managedFields: [entry] } });
  expect(struck.send({ method: "POST", path, headers, body }).status).toBe(201);
  const sizes = sliceBytes(struck.send({ path: `${path}/deep?pretty=1` }));
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(15_000_000);
  expect(Math.max(...sizes)).toBeLessThan(100_000);
});

it("a large object is answered in parts, with the same bytes, the first time", () => {
  const struck = new Struck({}, 1);
  const [told] = [...(attackTable()["create json labels"]?.strike?.() ?? [])].map((each) => struck.send(each));
  expect([told?.status, struck.failures]).toEqual([201, []]);
  expect(told?.eventCount).toBeGreaterThanOrEqual(16);
  const slices: Uint8Array[] = [];
  const made = told?.payload?.slices?.();
  for (let next = made?.next(); next?.done === false; next = made?.next()) slices.push(next.value);
  expect(Math.max(...slices.map(({ length }) => length))).toBeLessThan(40_000);
  expect(Buffer.concat(slices).equals(told?.payload?.bytes() as Uint8Array)).toBe(true);
  expect(Buffer.concat(slices).toString()).toBe(`${JSON.stringify(told?.payload?.object)}\n`);
  const path = "/api/v1/namespaces/default/configmaps/labels";
  expect(struck.send({ path }).payload?.slices?.()).toBeUndefined(); // it is written already
});

describe("a long name stands in all that is told of what is below it, no further than there is room", () => {
  const long = "k".repeat(100_000);
  const below = (value: string): object => Object.fromEntries(times(2_000, (at) => [`q${at}`, value]));
  const texts = { type: "object", additionalProperties: { type: "string" } };
  const openAPIV3Schema = {
    type: "object",
    properties: { spec: { type: "object", additionalProperties: { type: "object", properties: { m: texts } } } },
  };
  const definition = post(
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    definitionOf("longs", "Long", { schema: { openAPIV3Schema } }),
  );
  const path = "/apis/example.com/v1/namespaces/default/longs";
  const object = (name: string, spec: unknown): object => ({
    apiVersion: "example.com/v1",
    kind: "Long",
    metadata: { name },
    spec: { [long]: spec },
  });
  const owned = (manager: string, value: string): AttackRequest =>
    applied(`${path}/a`, manager, object("a", { m: below(value) }));

  it("of conflicts", () => {
    const struck = new Struck({ prepare: () => [definition] }, 1);
    expect(struck.send(owned("one", "x")).status).toBe(201);
    const told = struck.send(owned("other", "y"));
    const status = JSON.parse(new TextDecoder().decode(told.payload?.bytes())) as JsonObject;
    expect([told.status, struck.failures]).toEqual([409, []]);
    expect(status["message"]).toMatch(
      /^Apply failed with 2000 conflicts: conflicts with "one":\n- \.spec\.k+\.m\.q0\n/,
    );
    expect((status["message"] as string).length).toBeLessThan(1_200_000);
  });

  it("of fields that are dropped", () => {
    const struck = new Struck({ prepare: () => [definition] }, 1);
    const told = struck.send(post(`${path}?fieldValidation=Strict`, object("b", below("x"))));
    const { message } = JSON.parse(new TextDecoder().decode(told.payload?.bytes())) as { message: string };
    expect([told.status, struck.failures]).toEqual([400, []]);
    expect(message).toContain('strict decoding error: unknown field "spec.kkk');
    expect(message.length).toBeLessThan(1_200_000);
  });
});
