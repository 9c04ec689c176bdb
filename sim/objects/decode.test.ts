import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kubernetesDialect } from "../../wire/dialect.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { decodeObject } from "./decode.ts";
import { bytesOf, decodeText, endpoint, errorOf } from "./objects.fixture.ts";
import { seal } from "./seal.ts";

const configMaps = endpoint("v1/configmaps");
const pods = endpoint("v1/pods");
const secrets = endpoint("v1/secrets");
const deployments = endpoint("apps/v1/deployments");

const messageOf = (text: string, at = configMaps, level: "Ignore" | "Warn" | "Strict" = "Warn"): string =>
  errorOf(() => decodeText(text, at, level)).message;

const cannot = (kind: string): string => `${kind} in version "v1" cannot be handled as a ${kind}: `;

describe("a body that is no object of the kind", () => {
  const unrecognised = "the object provided is unrecognized (must be of type ConfigMap): ";
  const jsonError = `${unrecognised}couldn't get version/kind; json parse error: `;

  it.each([
    ["", `${jsonError}unexpected end of JSON input (<empty>)`],
    ['{"metadata": {', `${jsonError}unexpected end of JSON input ({"metadata": {)`],
    ["hello", `${jsonError}invalid character 'h' looking for beginning of value (68656c6c6f)`],
    [
      '{"kind":"ConfigMap","metadata":{"name":"x"},}',
      `${jsonError}invalid character '}' looking for beginning of object key string ({"kind":"ConfigMap","metadata" ...)`,
    ],
    ['{"kind":5}', `${jsonError}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})`],
  ])("%s", (text, message) => {
    expect(messageOf(text)).toBe(message);
    expect(errorOf(() => decodeText(text, configMaps)).code).toBe(400);
  });

  it("is refused when it names another kind or version", () => {
    expect(messageOf('{"apiVersion":"v1","kind":"Secret"}')).toBe(
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    );
    expect(messageOf('{"apiVersion":"v1","kind":"Widget"}')).toContain(
      'no kind "Widget" is registered for version "v1"',
    );
    expect(messageOf('{"apiVersion":"events.svc.io/v1","kind":"Event"}', endpoint("v1/events"))).toBe(
      "the API version in the data (events.svc.io/v1) does not match the expected API version (v1)",
    );
  });
});

describe("a value of the wrong type", () => {
  it.each([
    ['{"data":{"k":5}}', "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"],
    ['{"data":[]}', "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string"],
    ['{"immutable":"yes"}', "json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool"],
    [
      '{"metadata":{"labels":{"a":1}}}',
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    ['{"metadata":5}', "json: cannot unmarshal number into Go struct field ConfigMap.metadata of type v1.ObjectMeta"],
    [
      '{"metadata":{"generation":1.5}}',
      "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64",
    ],
    [
      '{"metadata":{"finalizers":{}}}',
      "json: cannot unmarshal object into Go struct field ObjectMeta.metadata.finalizers of type []string",
    ],
  ])("%s", (text, error) => {
    expect(messageOf(text)).toBe(cannot("ConfigMap") + error);
    expect(messageOf(text, configMaps, "Ignore")).toBe(cannot("ConfigMap") + error);
  });

  it("is the first one of the document, whatever else is wrong", () => {
    expect(messageOf('{"bogus":1,"immutable":3,"data":{"k":5}}')).toContain("ConfigMap.immutable of type bool");
  });

  it.each([
    [
      '{"spec":{"terminationGracePeriodSeconds":1.0}}',
      "number 1.0 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64",
    ],
    [
      '{"spec":{"terminationGracePeriodSeconds":1e3}}',
      "number 1e3 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64",
    ],
    [
      '{"spec":{"terminationGracePeriodSeconds":1e999}}',
      "number 1e999 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64",
    ],
    ['{"metadata":{"name":1.0}}', "number into Go struct field ObjectMeta.metadata.name of type string"],
    ['{"spec":1e3}', "number into Go struct field Pod.spec of type v1.PodSpec"],
  ])("may be a number that is whole and not written so: %s", (text, error) => {
    expect(messageOf(text, pods)).toBe(`${cannot("Pod")}json: cannot unmarshal ${error}`);
  });

  it("may be no port and no time, which end the reading: what came before is not told", () => {
    const services = endpoint("v1/services");
    const port = (value: string): string => `{"spec":{"type":5,"ports":[{"targetPort":${value}}],"clusterIP":5}}`;
    const target = "into Go struct field ServicePort.spec.ports.targetPort of type int32";
    expect(messageOf(port("80.5"), services)).toBe(`${cannot("Service")}json: cannot unmarshal number 80.5 ${target}`);
    expect(messageOf(port("80.0"), services)).toBe(`${cannot("Service")}json: cannot unmarshal number 80.0 ${target}`);
    expect(messageOf(port("true"), services)).toBe(`${cannot("Service")}json: cannot unmarshal bool ${target}`);
    expect(messageOf('{"data":5,"metadata":{"creationTimestamp":"x"}}')).toContain('parsing time "x"');
    expect(messageOf('{"data":5,"binaryData":{"a":"!"}}')).toContain("ConfigMap.data of type");
    const limits = (value: string): string => `{"spec":{"containers":[{"resources":{"limits":{"cpu":${value}}}}]}}`;
    expect(messageOf(limits("true"), pods)).toContain("quantities must match the regular expression");
    for (const wrong of ["[1]", "[1e300]", '{"a":1e300}', "[[1.0]]"]) {
      expect(messageOf(limits(wrong), pods)).toContain("quantities must match the regular expression");
    }
    const { draft } = decodeText(limits("1e3"), pods);
    expect(draft["spec"]).toMatchObject({ containers: [{ resources: { limits: { cpu: "1e3" } } }] });
  });

  it("has texts of its own for bytes, times and quantities", () => {
    expect(messageOf('{"data":{"u":"%%%"}}', secrets)).toBe(`${cannot("Secret")}illegal base64 data at input byte 0`);
    expect(messageOf('{"metadata":{"creationTimestamp":"soon"}}')).toBe(
      `${cannot("ConfigMap")}parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"`,
    );
    const event = endpoint("events.svc.io/v1/events");
    expect(messageOf('{"eventTime":"2024-01-01T00:00:00Z"}', event)).toContain("2006-01-02T15:04:05.000000Z07:00");
    expect(messageOf('{"spec":{"containers":[{"resources":{"limits":{"cpu":"lots"}}}]}}', pods)).toContain(
      "quantities must match the regular expression",
    );
  });
});

describe("unknown and duplicate fields", () => {
  const unknown = '{"metadata":{"name":"a","bogusMeta":1},"data":{"k":"v"},"bogus":true,"other":{"deep":1}}';
  const duplicate = '{"metadata":{"name":"a","labels":{"a":"1","a":"2"}},"data":{"k":"v","k":"w"},"data":{"z":"y"}}';

  it("are dropped at every level but Strict, and warned of at Warn, in document order", () => {
    for (const level of ["Ignore", "Warn"] as const) {
      const { draft, warnings } = decodeText(unknown, configMaps, level);
      expect(draft).toEqual({
        kind: "ConfigMap",
        apiVersion: "v1",
        metadata: { name: "a", creationTimestamp: null },
        data: { k: "v" },
      });
      expect(warnings).toEqual(
        level === "Ignore"
          ? []
          : ['unknown field "metadata.bogusMeta"', 'unknown field "bogus"', 'unknown field "other"'],
      );
    }
  });

  it("merge where an object comes twice, as the observed server's decoder does", () => {
    const { draft, warnings } = decodeText(duplicate, configMaps);
    expect(draft["data"]).toEqual({ k: "w", z: "y" });
    expect(warnings).toEqual([
      'duplicate field "metadata.labels.a"',
      'duplicate field "data.k"',
      'duplicate field "data"',
    ]);
  });

  it.each([
    ['{"z":1,"z":2}', ['unknown field "z"']],
    ['{"z":{"a":1,"a":2},"zz":[{"b":1,"b":2}]}', ['unknown field "z"', 'unknown field "zz"']],
    [
      '{"zz":1,"data":{"a":"1","a":"2"},"y":1}',
      ['unknown field "zz"', 'duplicate field "data.a"', 'unknown field "y"'],
    ],
    ['{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{},"f:a":{}}}]}}', []],
    [
      '{"metadata":{"ownerReferences":[{"z":1},{"uid":"a","uid":"b"}]}}',
      ['unknown field "metadata.ownerReferences[0].z"', 'duplicate field "metadata.ownerReferences[1].uid"'],
    ],
  ])("come in the order of the text, and nothing unknown is looked into: %s", (text, warnings) => {
    expect(decodeText(text, configMaps).warnings).toEqual(warnings);
  });

  it("are a hundred at most", () => {
    const fields = Array.from({ length: 150 }, (_, at) => `"z${at}":1`).join(",");
    expect(decodeText(`{${fields}}`, configMaps).warnings).toHaveLength(100);
    expect(decodeText(`{${fields},"data":{},"data":{}}`, configMaps).warnings).toHaveLength(100);
  });

  it("refuse the body at Strict, all named", () => {
    expect(messageOf(unknown, configMaps, "Strict")).toBe(
      `${cannot("ConfigMap")}strict decoding error: unknown field "metadata.bogusMeta", unknown field "bogus", unknown field "other"`,
    );
    const nested =
      '{"spec":{"unknownSpec":1,"containers":[{"name":"c","imagee":"x","ports":[{"containerPort":80,"portName":"x"}]}]}}';
    expect(messageOf(nested, pods, "Strict")).toBe(
      `${cannot("Pod")}strict decoding error: unknown field "spec.unknownSpec", unknown field "spec.containers[0].imagee", unknown field "spec.containers[0].ports[0].portName"`,
    );
  });

  it("have case: Data is not data", () => {
    expect(decodeText('{"Data":{"a":"b"}}', configMaps).warnings).toEqual(['unknown field "Data"']);
  });

  it("may be called like anything that objects inherit", () => {
    const { draft, warnings } = decodeText(
      '{"__proto__":{"x":1},"constructor":1,"data":{"__proto__":"p","toString":"t"}}',
      configMaps,
    );
    expect(warnings).toEqual(['unknown field "__proto__"', 'unknown field "constructor"']);
    const data = draft["data"] as JsonObject;
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
    expect(JSON.stringify(data)).toBe('{"__proto__":"p","toString":"t"}');
  });
});

describe("YAML", () => {
  const yaml = (text: string, level: "Ignore" | "Warn" | "Strict" = "Warn") =>
    decodeText(text, configMaps, level, "yaml");

  it("is read as version 1.1 with the last duplicate standing", () => {
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\nbogus: 1\ndata:\n  k: v\n  k: w\n";
    const { draft, warnings } = yaml(text);
    expect(draft["data"]).toEqual({ k: "w" });
    expect(warnings).toEqual(['line 8: key "k" already set in map', 'unknown field "bogus"']);
    expect(errorOf(() => yaml(text, "Strict")).message).toBe(
      `${cannot("ConfigMap")}strict decoding error: yaml: unmarshal errors:\n  line 8: key "k" already set in map, unknown field "bogus"`,
    );
  });

  it("has no bare strings where a type wants one", () => {
    expect(errorOf(() => yaml("data:\n  k: 5\n")).message).toContain("cannot unmarshal number into");
    expect(errorOf(() => yaml("data:\n  k: yes\n")).message).toContain("cannot unmarshal bool into");
    expect(yaml("data:\n  k: 2001-01-01\n  l: 1:30\n").draft["data"]).toEqual({ k: "2001-01-01", l: "1:30" });
  });

  it("refuses what is no YAML, bombs and bottomless nesting", () => {
    const wrong = errorOf(() => yaml("apiVersion: v1\n  kind: [oops\n"));
    expect(wrong.code).toBe(400);
    expect(wrong.message).toContain("(must be of type ConfigMap): yaml: ");
    const bomb = `a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\n`;
    expect(errorOf(() => yaml(bomb)).message).toContain("excessive aliasing");
    expect(errorOf(() => yaml("[".repeat(20_000))).code).toBe(400);
  });
});

describe("normalising", () => {
  it("drops what is empty and keeps what a pointer holds", () => {
    const { draft } = decodeText(
      '{"metadata":{"name":"n","labels":null,"annotations":{}},"immutable":false,"data":null}',
      configMaps,
    );
    expect(draft).toEqual({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { name: "n", creationTimestamp: null },
      immutable: false,
    });
    const deployment = decodeText('{"spec":{"replicas":0,"minReadySeconds":0,"paused":false}}', deployments).draft;
    const spec = deployment["spec"] as JsonObject;
    expect(spec["replicas"]).toBe(0);
    expect(Object.hasOwn(spec, "minReadySeconds")).toBe(false);
    expect(Object.hasOwn(spec, "paused")).toBe(false);
    expect(spec["selector"]).toBeNull();
  });

  it("writes fields in the order of the wire, and map keys in byte order", () => {
    const { draft } = decodeText('{"data":{"b":"1","a":"2"},"metadata":{"namespace":"x","name":"n"}}', configMaps);
    expect(JSON.stringify(draft)).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","namespace":"x","creationTimestamp":null},"data":{"a":"2","b":"1"}}',
    );
  });

  it("speaks the server's dialect", () => {
    const leases = endpoint("coordination.svc.io/v1/leases", kubernetesDialect);
    expect(decodeText('{"apiVersion":"coordination.k8s.io/v1","kind":"Lease"}', leases).draft["apiVersion"]).toBe(
      "coordination.k8s.io/v1",
    );
    expect(errorOf(() => decodeText('{"apiVersion":"apps/v1","kind":"Deployment"}', leases)).message).toContain(
      "converting (v1.Deployment) to (coordination.Lease)",
    );
  });

  it("turns times to UTC and forgets fractions of a second", () => {
    const { draft } = decodeText('{"metadata":{"deletionTimestamp":"2024-03-01T00:30:00.25+01:00"}}', configMaps);
    expect((draft["metadata"] as JsonObject)["deletionTimestamp"]).toBe("2024-02-29T23:30:00Z");
  });
});

describe("scalars come back as the server writes them", () => {
  it.each([
    ["1000m", "1"],
    ["0.5", "500m"],
    ["1024Ki", "1Mi"],
    ["1e3", "1e3"],
  ])("quantity %s → %s", (sent, shown) => {
    const body = { spec: { containers: [{ name: "c", image: "i", resources: { limits: { cpu: sent } } }] } };
    const { draft } = decodeObject(body, "json", pods.target, "Strict");
    expect(draft).toMatchObject({ spec: { containers: [{ resources: { limits: { cpu: shown } } }] } });
  });

  it.each([
    ["AAAA", "AAAA"],
    ["AA\nAA\r\nAA==", "AAAAAA=="],
    ["AB==", "AA=="],
  ])("bytes %j → %j", (sent, shown) => {
    expect(decodeObject({ data: { k: sent } }, "json", secrets.target, "Strict").draft["data"]).toEqual({ k: shown });
  });
});

describe("an object handed over in process", () => {
  it("is copied: neither the caller's later changes nor ours cross over", () => {
    const body = { metadata: { name: "a", labels: { x: "1" } }, data: { k: "v" } };
    const { draft } = decodeObject(body, "json", configMaps.target, "Strict");
    body.metadata.labels.x = "changed";
    body.data.k = "changed";
    expect(draft).toMatchObject({ metadata: { labels: { x: "1" } }, data: { k: "v" } });
    expect(Object.isFrozen(body.data)).toBe(false);
    seal(draft);
    expect(Object.isFrozen(body.metadata)).toBe(false);
  });

  it("is judged like a body", () => {
    const wrong = { data: { k: 5 } };
    expect(errorOf(() => decodeObject(wrong, "json", configMaps.target, "Warn")).message).toBe(
      errorOf(() => decodeText(JSON.stringify(wrong), configMaps)).message,
    );
    const cyclic: Record<string, unknown> = {};
    cyclic["default"] = cyclic;
    const crd = endpoint("apiextensions.svc.io/v1/customresourcedefinitions");
    const spec = { versions: [{ schema: { openAPIV3Schema: { default: cyclic } } }] };
    expect(errorOf(() => decodeObject({ spec } as never, "json", crd.target, "Warn")).message).toContain(
      "exceeded max depth",
    );
  });
});

describe("property", () => {
  const text = fc.string({ maxLength: 6 });
  const anyConfigMap = fc.record(
    {
      metadata: fc.record(
        {
          name: text,
          labels: fc.dictionary(text, text, { maxKeys: 4 }),
          annotations: fc.dictionary(text, text, { maxKeys: 4 }),
          finalizers: fc.array(text, { maxLength: 3 }),
          junk: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
      data: fc.dictionary(text, text, { maxKeys: 5 }),
      immutable: fc.boolean(),
      junk: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );

  it("decoding what was decoded changes nothing, and bytes and objects decode alike", () => {
    fc.assert(
      fc.property(anyConfigMap, (object) => {
        const body = JSON.parse(JSON.stringify(object)) as JsonObject;
        const once = decodeObject(body, "json", configMaps.target, "Ignore").draft;
        const twice = decodeText(JSON.stringify(once), configMaps, "Strict").draft;
        const bytes = decodeObject(bytesOf(JSON.stringify(body)), "json", configMaps.target, "Ignore").draft;
        expect(JSON.stringify(twice)).toBe(JSON.stringify(once));
        expect(JSON.stringify(bytes)).toBe(JSON.stringify(once));
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  it("fields come in one order, in whichever they and those of other documents were sent", () => {
    fc.assert(
      fc.property(anyConfigMap, anyConfigMap, fc.infiniteStream(fc.nat()), (object, other, draws) => {
        const decoded = (body: unknown): string =>
          JSON.stringify(decodeObject(body as JsonObject, "json", configMaps.target, "Ignore").draft);
        const plain = JSON.parse(JSON.stringify(object)) as JsonObject;
        const once = decoded(plain);
        decoded(mixed(other, draws));
        expect(decoded(mixed(plain, draws))).toBe(once);
      }),
      { seed: 8, numRuns: 300 },
    );
  });
});

/** Fields of the object and of its metadata in some other order. */
function mixed(object: object, draws: Iterator<number>): JsonObject {
  const entries = Object.entries(object).map(([key, value]) => ({ key, value, rank: draws.next().value as number }));
  return Object.fromEntries(
    entries
      .sort((left, right) => left.rank - right.rank)
      .map(({ key, value }) => [key, key === "metadata" ? mixed(value as object, draws) : (value as Json)]),
  );
}
