import { describe, expect, it } from "vitest";
import { kubernetesProfile, type Profile, svcProfile } from "../../contract/profile.ts";
import { type Answer, TestBed } from "../../apiserver/test-bed.fixture.ts";

const json = { "content-type": "application/json" };
const merge = { "content-type": "application/merge-patch+json" };
const crons = "/apis/stable.example.com/v1/namespaces/default/crons";

/** A server with one definition, whose spec has these properties and rules. */
class Cluster {
  readonly bed: TestBed;
  readonly defined: Answer;

  constructor(
    spec: Record<string, unknown>,
    { profile = kubernetesProfile, root = {} }: { profile?: Profile; root?: object } = {},
  ) {
    this.bed = new TestBed({ profile });
    const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", ...spec } }, ...root };
    const path = `/apis/apiextensions.${profile.dialect.groupSuffix}/v1/customresourcedefinitions`;
    this.defined = this.bed.ask(`POST ${path}`, {
      headers: json,
      body: {
        metadata: { name: "crons.stable.example.com" },
        spec: {
          group: "stable.example.com",
          scope: "Namespaced",
          names: { plural: "crons", kind: "Cron" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
        },
      },
    });
    this.bed.advance(2);
  }

  create(spec: unknown, name = "a"): Answer {
    const body = { apiVersion: "stable.example.com/v1", kind: "Cron", metadata: { name }, spec };
    return this.settled(this.bed.ask(`POST ${crons}`, { headers: json, body }));
  }

  patch(spec: unknown, name = "a"): Answer {
    return this.settled(this.bed.ask(`PATCH ${crons}/${name}`, { headers: merge, body: { spec } }));
  }

  /** Rules that cost much are evaluated in several events of one instant. */
  private settled(answer: Answer): Answer {
    this.bed.advance(0);
    return answer;
  }
}

type Shown = readonly (readonly [field: string, message: string])[];

function causesOf(answer: Answer): Shown {
  expect(answer.status).toBe(422);
  const { causes } = answer.body["details"] as { causes: { field: string; message: string }[] };
  return causes.map(({ field, message }) => [field, message]);
}

const int = { type: "integer" };
const short = { type: "string", maxLength: 10 };
const rules = (...list: object[]) => ({ "x-kubernetes-validations": list });
const root = "spec.validation.openAPIV3Schema.properties[spec]";

describe("validation rules", () => {
  const replicas = { minReplicas: int, replicas: int, maxReplicas: int };

  it("refuse what breaks them, with their message, at their place", () => {
    const cluster = new Cluster({
      properties: replicas,
      ...rules(
        { rule: "self.minReplicas <= self.replicas" },
        {
          rule: "self.replicas <= self.maxReplicas",
          message: " replicas is too large ",
          fieldPath: ".replicas",
          reason: "FieldValueForbidden",
        },
        { rule: "self.replicas != 13", message: "fixed", messageExpression: "'not %d'.format([self.replicas])" },
        { rule: "self.replicas != 13", message: "fixed", messageExpression: "''" },
      ),
    });
    expect(cluster.defined.status).toBe(201);
    expect(cluster.create({ minReplicas: 1, replicas: 2, maxReplicas: 3 }).status).toBe(201);
    expect(causesOf(cluster.create({ minReplicas: 20, replicas: 13, maxReplicas: 12 }, "b"))).toEqual([
      ["spec", 'Invalid value: "object": failed rule: self.minReplicas <= self.replicas'],
      ["spec.replicas", "Forbidden: replicas is too large"],
      ["spec", 'Invalid value: "object": not 13'],
      ["spec", 'Invalid value: "object": fixed'],
    ]);
    expect(causesOf(cluster.create({ minReplicas: 1 }, "c"))[0]).toEqual([
      "spec",
      'Invalid value: "object": no such key: replicas evaluating rule: self.minReplicas <= self.replicas',
    ]);
  });

  it("are the dialect's own", () => {
    const cluster = new Cluster(
      { properties: { n: int }, "x-svc-validations": [{ rule: "self.n > 0" }] },
      { profile: svcProfile },
    );
    expect(causesOf(cluster.create({ n: 0 }))).toEqual([["spec", 'Invalid value: "object": failed rule: self.n > 0']]);
  });

  it("see the root's kind and name, elements, maps, escaped names and formats", () => {
    const cluster = new Cluster(
      {
        properties: {
          list: { type: "array", maxItems: 5, items: { ...int, ...rules({ rule: "self % 2 == 0", message: "odd" }) } },
          map: {
            type: "object",
            maxProperties: 5,
            additionalProperties: { ...short, ...rules({ rule: "self != ''" }) },
          },
          "my-field": { ...int, ...rules({ rule: "self < 10" }) },
          port: {
            "x-kubernetes-int-or-string": true,
            ...rules({ rule: "type(self) == int ? self < 100 : self == 'http'" }),
          },
          at: { type: "string", format: "date-time", ...rules({ rule: "self.getFullYear() >= 2020" }) },
          set: {
            type: "array",
            maxItems: 5,
            "x-kubernetes-list-type": "set",
            items: short,
            ...rules({ rule: "self == ['b', 'a']" }),
          },
        },
        ...rules({ rule: "!has(self.my__dash__field) || self.my__dash__field != 7" }),
      },
      { root: rules({ rule: "self.metadata.name.startsWith('a')", message: "wrong name" }) },
    );
    expect(cluster.defined.text).toContain('"uid"');
    const good = {
      list: [2],
      map: { k: "v" },
      "my-field": 1,
      port: "http",
      at: "2021-01-01T00:00:00Z",
      set: ["a", "b"],
    };
    expect(cluster.create(good).text).toContain('"uid"');
    const bad = { list: [2, 3], map: { k: "" }, "my-field": 11, port: 100, at: "2011-01-01T00:00:00Z", set: ["a"] };
    expect(causesOf(cluster.create(bad, "b")).map(([field, message]) => [field, message.split(": ")[1]])).toEqual([
      ["<nil>", '"object"'],
      ["spec.at", '"string"'],
      ["spec.list[1]", '"integer"'],
      ["spec.map[k]", '"string"'],
      ["spec.my-field", '"integer"'],
      ["spec.port", '""'],
      ["spec.set", '"array"'],
    ]);
  });

  it("wait for an object that is sound", () => {
    const cluster = new Cluster({ properties: replicas, ...rules({ rule: "self.replicas > 0" }) });
    expect(causesOf(cluster.create({ replicas: "x" })).map(([, message]) => message)[1]).toBe(
      'Invalid value: "null": some validation rules were not checked because the object was invalid; ' +
        "correct the existing errors to complete validation",
    );
  });

  it("compare with the value before, where there is one", () => {
    const cluster = new Cluster({
      properties: {
        class: { ...short, ...rules({ rule: "self == oldSelf", message: "class is immutable" }) },
        ports: {
          type: "array",
          maxItems: 5,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: short, port: { ...int, ...rules({ rule: "self >= oldSelf", message: "shrunk" }) } },
          },
        },
        grown: {
          ...int,
          ...rules({
            rule: "oldSelf.hasValue() ? self > oldSelf.value() : self == 1",
            optionalOldSelf: true,
            message: "not the next",
          }),
        },
      },
    });
    expect(cluster.defined.status).toBe(201);
    expect(causesOf(cluster.create({ grown: 2 }))).toEqual([["spec.grown", 'Invalid value: "integer": not the next']]);
    expect(cluster.create({ ports: [{ name: "a", port: 2 }], grown: 1 }).status).toBe(201);
    expect(cluster.patch({ class: "x", grown: 2 }).status).toBe(200);
    const moved = [
      { name: "b", port: 1 },
      { name: "a", port: 1 },
    ];
    expect(causesOf(cluster.patch({ class: "y", ports: moved, grown: 3 }))).toEqual([
      ["spec.class", 'Invalid value: "string": class is immutable'],
      ["spec.ports[1].port", 'Invalid value: "integer": shrunk'],
    ]);
  });

  it("hold nothing against a writer who left a value as it was", () => {
    const cluster = new Cluster({ properties: { n: int, m: int } });
    cluster.create({ n: 0, m: 1 });
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crons.stable.example.com";
    const schema = {
      type: "object",
      properties: { spec: { type: "object", properties: { n: { ...int, ...rules({ rule: "self > 0" }) }, m: int } } },
    };
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    expect(cluster.bed.ask(`PATCH ${path}`, { headers: merge, body: { spec: { versions } } }).status).toBe(200);
    expect(cluster.patch({ m: 2 }).status).toBe(200);
    expect(causesOf(cluster.patch({ n: -1 }))).toEqual([["spec.n", 'Invalid value: "integer": failed rule: self > 0']]);
  });

  it("stop when the budget of a call, or of all calls, is spent", () => {
    const list = { type: "array", items: int, maxItems: 400 };
    const pairs = "self.list.all(a, self.list.all(b, a + b > ";
    const many = Array.from({ length: 15 }, (_, at) => ({ rule: `${pairs}-${at}))` }));
    const cluster = new Cluster({ properties: { list }, ...rules(...many) });
    expect(cluster.defined.status).toBe(201);
    const ones = (length: number): number[] => new Array<number>(length).fill(1);
    expect(cluster.create({ list: ones(50) }).status).toBe(201);
    expect(causesOf(cluster.create({ list: ones(400) }, "b"))).toEqual([
      [
        "spec",
        "Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules " +
          `will be run due to call cost exceeds limit for rule: ${pairs}-0))`,
      ],
    ]);
    const text = "validation failed due to running out of cost budget, no further validation rules will be run";
    expect(causesOf(cluster.create({ list: ones(310) }, "c"))).toEqual([["spec", `Invalid value: "object": ${text}`]]);
  });
});

describe("definitions with validation rules", () => {
  const causes = (rule: object, properties: object = { n: int }): Shown =>
    causesOf(new Cluster({ properties, ...rules(rule) }).defined);
  const at = `${root}.x-kubernetes-validations[0]`;

  it("are refused for what does not compile, with the line and the place", () => {
    expect(causes({ rule: "self.x > 0" })).toEqual([
      [
        `${at}.rule`,
        'Invalid value: apiextensions.ValidationRule{Rule:"self.x > 0", Message:"", MessageExpression:"", ' +
          'Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:"", OptionalOldSelf:(*bool)(nil)}: ' +
          "compilation failed: ERROR: <input>:1:5: undefined field 'x'\n | self.x > 0\n | ....^",
      ],
    ]);
    expect(causes({ rule: "self.n" })[0]?.[1]).toContain(": cel expression must evaluate to a bool");
    expect(causes({ rule: "true", messageExpression: "1" })[0]).toEqual([
      `${at}.messageExpression`,
      expect.stringContaining("messageExpression must evaluate to a string"),
    ]);
    expect(causes({ rule: "unknownFunction(self.n)" })[0]?.[1]).toContain("undeclared reference to 'unknownFunction'");
  });

  it.each([
    [{ rule: " " }, "rule", "Required value: rule is not specified"],
    [{ rule: "true", message: " " }, "message", 'Invalid value: " ": message must be non-empty if specified'],
    [{ rule: "true", message: "a\nb" }, "message", 'Invalid value: "a\\nb": message must not contain line breaks'],
    [{ rule: "true ||\nfalse" }, "message", "Required value: message must be specified if rule contains line breaks"],
    [
      { rule: "true", messageExpression: " " },
      "messageExpression",
      "Required value: messageExpression must be non-empty if specified",
    ],
    [
      { rule: "true", fieldPath: ".x" },
      "fieldPath",
      'Invalid value: ".x": fieldPath must be a valid path: does not refer to a valid field',
    ],
    [
      { rule: "true", fieldPath: "n" },
      "fieldPath",
      'Invalid value: "n": fieldPath must be a valid path: expected [ or . but got: n',
    ],
    [
      { rule: "true", optionalOldSelf: true },
      "optionalOldSelf",
      "Invalid value: true: may not be set if oldSelf is not used in rule",
    ],
  ])("are refused for %j", (rule, field, message) => {
    expect(causes(rule)).toEqual([[`${at}.${field}`, message]]);
  });

  it("are refused for comparisons with what cannot be found again", () => {
    const items = { ...int, ...rules({ rule: "self == oldSelf" }) };
    expect(causesOf(new Cluster({ properties: { list: { type: "array", maxItems: 3, items } } }).defined)).toEqual([
      [
        `${root}.properties[list].items.x-kubernetes-validations[0].rule`,
        `Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${root}.properties[list]`,
      ],
    ]);
  });

  it("are refused for what could cost too much: the rule, its share, and the whole", () => {
    const list = { type: "array", items: { type: "string" } };
    const found = causes({ rule: "self.list.all(x, x.contains('gpu'))" }, { list });
    const advice =
      "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";
    expect(found).toEqual([
      [`${at}.rule`, `Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${advice}`],
      [
        `${at}.rule`,
        "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
      ],
      [
        "spec.validation.openAPIV3Schema",
        `Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${advice}`,
      ],
    ]);
    // The published bound for texts of at most 16 characters.
    const bounded = (maxItems: number) => ({
      list: { type: "array", maxItems, items: { type: "string", maxLength: 16 } },
    });
    const rule = rules({ rule: "self.list.all(x, x.contains('gpu'))" });
    expect(new Cluster({ properties: bounded(909_000), ...rule }).defined.status).toBe(201);
    expect(new Cluster({ properties: bounded(910_000), ...rule }).defined.status).toBe(422);
  });
});
