/** Definitions with any schema, sound or not, and instances of any shape: each request is answered, and soon. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isCalledFor } from "./called-for-failures.fixture.ts";
import type { Json } from "../contract/http-message.ts";
import { kubernetesProfile, type Profile, svcProfile } from "../contract/profile.ts";
import { type Answer, TestBed } from "./test-bed.fixture.ts";

type Raw = Readonly<Record<string, unknown>>;

const name = fc.constantFrom(
  "a",
  "b",
  "c",
  "metadata",
  "kind",
  "apiVersion",
  "spec",
  "x-y",
  "__proto__",
  "constructor",
  "",
);
const text = fc.constantFrom("", "a", "ab", "2020-01-01T00:00:00Z", "1h", "10.0.0.1", "\ud800", "a".repeat(300));
const number = fc.constantFrom(0, 1, -1, 2, 1.5, 1e300, 9_007_199_254_740_992, -0.1);
const count = fc.constantFrom(0, 1, 2, -1, 1e12);
const { value } = fc.letrec<{ value: unknown; list: unknown; map: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(text, number, fc.boolean(), fc.constant(null)),
    tie("list"),
    tie("map"),
  ),
  list: fc.array(tie("value"), { maxLength: 4 }),
  map: fc.dictionary(name, tie("value"), { maxKeys: 5, noNullPrototype: true }),
}));

const type = fc.constantFrom("object", "object", "array", "string", "integer", "number", "boolean", "null", "", "any");
const pattern = fc.constantFrom("^a", "(a+)+$", "(a|a)*b", "[", "a{1000}", "(?=a)", "\\d", "a{2000}");
const format = fc.constantFrom(
  "date",
  "date-time",
  "duration",
  "byte",
  "ipv4",
  "cidr",
  "int32",
  "int64",
  "uuid",
  "x",
  "email",
);
const rule = fc.constantFrom(
  "true",
  "self == oldSelf",
  "self.all(x, x > 1)",
  "self.a.b == self.b",
  "has(self.a) && self.a.size() > 0",
  "self.all(x, self.all(y, self.exists(z, x == y && y == z)))",
  "self.matches('(a+)+$')",
  "oldSelf.hasValue()",
  "size(self) < 3",
  "1 / 0 == 1",
  "self +",
  "",
  "self.metadata.name == 'a'",
);
const rules = fc.array(
  fc.record(
    {
      rule,
      message: fc.constantFrom("m", "", "a\nb"),
      messageExpression: fc.constantFrom("'m'", "self", "string(self)", ""),
      reason: fc.constantFrom("FieldValueInvalid", "FieldValueForbidden", "Other"),
      fieldPath: fc.constantFrom(".a", ".a.b", "['x-y']", ".", "[", "a", ".a[0]"),
      optionalOldSelf: fc.boolean(),
    },
    { requiredKeys: ["rule"], noNullPrototype: true },
  ),
  { maxLength: 2 },
);

/** Fields whose schemas are nobody else's to judge. */
const field = fc.constantFrom("a", "b", "c", "spec", "status", "x-y", "__proto__", "constructor", "toString");

/** Every keyword that a schema may have, and some that it may not; `unsoundness` 0 leaves those out that are refused. */
function schemas(prefix: string, unsoundness: number): fc.Arbitrary<Raw> {
  const { any } = fc.letrec<{ any: Raw; sound: Raw; wild: Raw }>((tie) => {
    const inner = tie("any");
    const map = fc.dictionary(unsoundness === 0 ? field : name, inner, { maxKeys: 4, noNullPrototype: true });
    const list = fc.array(inner, { maxLength: 3 });
    const limits = {
      nullable: fc.boolean(),
      default: value,
      enum: fc.array(value, { maxLength: 3 }),
      minimum: number,
      maximum: number,
      exclusiveMinimum: fc.boolean(),
      exclusiveMaximum: fc.boolean(),
      multipleOf: number,
      minLength: count,
      maxLength: count,
      minItems: count,
      maxItems: count,
      minProperties: count,
      maxProperties: count,
      required: fc.array(name, { maxLength: 2 }),
      format,
      pattern,
      [`${prefix}validations`]: rules,
    };
    const junctions = { allOf: list, anyOf: list, oneOf: list, not: inner };
    const extensions = {
      [`${prefix}preserve-unknown-fields`]: fc.boolean(),
      [`${prefix}int-or-string`]: fc.boolean(),
      [`${prefix}embedded-resource`]: fc.boolean(),
      [`${prefix}list-type`]: fc.constantFrom("atomic", "set", "map", "other"),
      [`${prefix}list-map-keys`]: fc.array(name, { maxLength: 2 }),
      [`${prefix}map-type`]: fc.constantFrom("atomic", "granular", "other"),
    };
    const unsound = { $ref: text, uniqueItems: fc.boolean(), id: text, title: text, description: text, example: value };
    const wild = fc.record(
      {
        type,
        properties: map,
        additionalProperties: fc.oneof(inner, fc.boolean()),
        items: fc.oneof(inner, list),
        ...limits,
        ...junctions,
        ...extensions,
        ...unsound,
      },
      { requiredKeys: [], noNullPrototype: true },
    );
    return { wild, sound: soundSchemas(prefix, inner, map), any: anySchema(tie("sound"), tie("wild"), unsoundness) };
  });
  const root = fc.dictionary(field, any, { maxKeys: 4, noNullPrototype: true });
  const asObject = fc.record({ type: fc.constant("object"), properties: root });
  if (unsoundness === 0) return asObject;
  const ruled = fc.record({ type: fc.constant("object"), properties: root, [`${prefix}validations`]: rules });
  return fc.oneof({ weight: 5, arbitrary: asObject }, { weight: 2, arbitrary: ruled }, { weight: 1, arbitrary: any });
}

function anySchema(sound: fc.Arbitrary<Raw>, wild: fc.Arbitrary<Raw>, unsoundness: number): fc.Arbitrary<Raw> {
  return fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 1, arbitrary: fc.constant<Raw>({ type: "string" }) },
    { weight: 4, arbitrary: sound },
    { weight: unsoundness, arbitrary: wild },
  );
}

/** Schemas that are accepted, as long as those in them are. */
function soundSchemas(prefix: string, inner: fc.Arbitrary<Raw>, properties: fc.Arbitrary<Raw>): fc.Arbitrary<Raw> {
  const is = fc.constant;
  const ofObject = { type: is("object"), properties };
  const validated = (rule: string): Raw => ({ [`${prefix}validations`]: [{ rule }] });
  const number = fc.constantFrom(0, 1, -1, 2.5);
  const bounds = fc.record(
    { minimum: number, maximum: number, multipleOf: fc.constantFrom(1, 2), not: is({ enum: [1] }) },
    { requiredKeys: [], noNullPrototype: true },
  );
  return fc.oneof(
    fc.record(ofObject),
    fc.record({ ...ofObject, nullable: fc.boolean(), [`${prefix}map-type`]: fc.constantFrom("atomic", "granular") }),
    fc.record({ type: is("object"), additionalProperties: inner }),
    is({ type: "object", additionalProperties: true }),
    is({ type: "object", [`${prefix}preserve-unknown-fields`]: true, maxProperties: 3 }),
    is({ type: "object", properties: { a: { type: "integer", default: 1 }, b: { type: "string" } }, default: {} }),
    fc.record({
      ...ofObject,
      [`${prefix}embedded-resource`]: is(true),
      [`${prefix}preserve-unknown-fields`]: is(true),
    }),
    is({ [`${prefix}preserve-unknown-fields`]: true }),
    is({ [`${prefix}int-or-string`]: true, anyOf: [{ type: "integer" }, { type: "string" }] }),
    fc.record({ type: is("array"), items: inner, maxItems: fc.constantFrom(1, 3) }),
    fc.record({
      type: is("array"),
      [`${prefix}list-type`]: is("set"),
      items: fc.constantFrom({ type: "string" }, { type: "integer" }, { type: "number" }),
    }),
    properties.map((more) => ({
      type: "array",
      [`${prefix}list-type`]: "map",
      [`${prefix}list-map-keys`]: ["a"],
      items: { type: "object", properties: { ...more, a: { type: "string", default: "k" } } },
    })),
    fc.record({ type: fc.constantFrom("string", "integer", "number", "boolean"), nullable: fc.boolean() }),
    fc.record({ type: is("string"), default: fc.constantFrom("", "a"), enum: is(["", "a", "ab"]) }),
    fc.record({ type: is("string"), format, maxLength: fc.constantFrom(1, 5) }),
    fc.record({ type: is("string"), pattern: fc.constantFrom("^a", "(a+)+$", "(a|a)*b") }),
    fc.record({
      type: fc.constantFrom("integer", "number"),
      anyOf: fc.array(bounds, { maxLength: 3 }),
      oneOf: fc.array(bounds, { maxLength: 2 }),
    }),
    is({ type: "string", maxLength: 9, ...validated("self != 'a' && self.matches('(a+)+$') || oldSelf == self") }),
    is({ type: "array", maxItems: 5, items: { type: "integer" }, ...validated("self.all(x, 4 / x > 1)") }),
    is({
      type: "object",
      additionalProperties: { type: "integer" },
      maxProperties: 4,
      ...validated("self.all(k, self[k] > 0)"),
    }),
  );
}

const path = fc.constantFrom(
  ".a",
  ".spec.a",
  ".a.b",
  ".metadata.name",
  ".b[0]",
  '.c[?(@.a=="x")].b',
  ".x",
  "",
  "[",
  ".spec",
);
const parts = {
  deprecated: fc.boolean(),
  served: fc.constantFrom(true, true, true, false),
  subresources: fc.constantFrom<Raw>(
    {},
    { status: {} },
    {
      status: {},
      scale: { specReplicasPath: ".spec.a", statusReplicasPath: ".status.a", labelSelectorPath: ".status.b" },
    },
  ),
  additionalPrinterColumns: fc.array(
    fc.record({
      name: fc.constantFrom("A", "B"),
      type: fc.constantFrom("string", "integer", "date", "number", "boolean"),
      jsonPath: fc.constantFrom(".a", ".spec.a", ".b[0]", '.c[?(@.a=="x")].b', ".metadata.name"),
    }),
    { maxLength: 2 },
  ),
};
const unsoundParts = {
  ...parts,
  subresources: fc.record({
    scale: fc.record({ specReplicasPath: path, statusReplicasPath: path, labelSelectorPath: path }),
  }),
  additionalPrinterColumns: fc.array(
    fc.record({ name: fc.constantFrom("A", ""), type: fc.constantFrom("string", "other", ""), jsonPath: path }),
    { maxLength: 2 },
  ),
  selectableFields: fc.array(fc.record({ jsonPath: path }), { maxLength: 2 }),
};

function versions(prefix: string): fc.Arbitrary<readonly Raw[]> {
  const some = { minLength: 1, maxLength: 2 };
  const record = (unsoundness: number, more: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Raw> =>
    fc.record(
      { schema: fc.record({ openAPIV3Schema: schemas(prefix, unsoundness) }), served: fc.constant(true), ...more },
      { requiredKeys: ["served", "schema"], noNullPrototype: true },
    );
  return fc.oneof(
    { weight: 4, arbitrary: fc.array(record(0, parts), some) },
    { weight: 2, arbitrary: fc.array(record(2, {}), some) },
    { weight: 1, arbitrary: fc.array(record(1, unsoundParts), some) },
  );
}

const patchTypes = ["merge-patch+json", "json-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"] as const;
const object = fc.dictionary(name, value, { maxKeys: 5, noNullPrototype: true });
const step = fc.record({
  op: fc.constantFrom("add", "remove", "replace", "test", "copy", "move"),
  path: fc.constantFrom("/a", "/spec", "/a/b", "/b/0", "/b/-", "/metadata", "/metadata/labels", ""),
  from: fc.constantFrom("/a", "/spec", "/b"),
  value,
});
const write = fc.oneof(
  fc.record({ by: fc.constantFrom("POST", "PUT"), at: fc.constantFrom("", "/status", "/scale"), body: object }),
  fc.record({ by: fc.constantFrom(...patchTypes), at: fc.constantFrom("", "/status", "/scale"), body: object }),
  fc.record({ by: fc.constant("json-patch+json"), at: fc.constant(""), body: fc.array(step, { maxLength: 4 }) }),
);
type Write = { readonly by: string; readonly at: string; readonly body: unknown };

const numRuns = 150;

/** Events of the kernel that the server may take for one definition. */
const eventsMax = 200;

function require(holds: boolean, otherwise: () => string): void {
  if (!holds) throw new Error(otherwise());
}

class Round {
  readonly bed: TestBed;
  readonly profile: Profile;
  accepted = 0;
  private index = 0;

  constructor(profile: Profile) {
    this.profile = profile;
    this.bed = new TestBed({ profile });
  }

  /** Every answer is one of the permitted ones. */
  ask(request: string, type = "json", body?: unknown): Answer {
    const headers = { "content-type": `application/${type}` };
    const answer = this.bed.ask(request, {
      as: "admin",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const { status, text: got } = answer;
    const isFine = status < 500 || isCalledFor(this.profile.name, got);
    require(answer.over && status >= 200 && isFine, () => `${request} ${JSON.stringify(body)}: ${status} ${got}`);
    return answer;
  }

  /** Two seconds of what the server does of its own. */
  settle(): void {
    const { kernel } = this.bed;
    const until = kernel.nowMicros() + 2_000_000;
    let events = 0;
    for (let next = kernel.nextEventMicros; next !== undefined && next <= until; next = kernel.nextEventMicros) {
      kernel.step();
      require(++events <= eventsMax, () => `more than ${eventsMax} events of its own`);
    }
    kernel.run(until);
  }

  /** Defines, and writes instances of it. */
  play(versions: readonly Raw[], writes: readonly Write[]): void {
    const group = `g${this.index++}.example.com`;
    const definitions = `/apis/apiextensions.${this.profile.dialect.groupSuffix}/v1/customresourcedefinitions`;
    const spec = {
      group,
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: versions.map((each, at) => ({ ...each, name: `v${at + 1}`, storage: at === 0 })),
    };
    const made = this.ask(`POST ${definitions}`, "json", { metadata: { name: `things.${group}` }, spec });
    if (made.status !== 201) return;
    this.accepted++;
    this.settle();
    writes.forEach((each, at) =>
      this.write(each, `/apis/${group}/v${(at % versions.length) + 1}`, group, at, versions.length),
    );
    for (const at of versions.keys()) {
      const things = `/apis/${group}/v${at + 1}/namespaces/default/things`;
      this.ask(`GET ${things}`);
      this.bed.ask(`GET ${things}`, {
        as: "admin",
        headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
      });
    }
    this.ask(`DELETE ${definitions}/things.${group}`);
    this.settle();
  }

  private write({ by, at, body }: Write, base: string, group: string, index: number, versions: number): void {
    const things = `${base}/namespaces/default/things`;
    const identity = { apiVersion: `${group}/v${(index % versions) + 1}`, kind: "Thing", metadata: { name: "a" } };
    const whole = Array.isArray(body) ? body : { ...(body as Raw), ...identity };
    if (by === "POST") this.ask(`POST ${things}`, "json", whole);
    else if (by === "PUT") {
      const live = this.ask(`GET ${things}/a`);
      const metadata = live.status === 200 ? (live.body["metadata"] as Json) : identity.metadata;
      this.ask(`PUT ${things}/a${at}`, "json", { ...(whole as Raw), metadata });
    } else {
      const query = by === "apply-patch+yaml" ? "?fieldManager=m&force=true" : "";
      this.ask(`PATCH ${things}/a${at}${query}`, by, by === "apply-patch+yaml" ? whole : body);
    }
  }
}

describe.each([kubernetesProfile, svcProfile])("any definition under $name", (profile) => {
  it("is answered, and so is whatever is written by it", { timeout: 60_000 }, () => {
    const round = new Round(profile);
    const writes = fc.array(write, { minLength: 3, maxLength: 6 });
    fc.assert(
      fc.property(versions(profile.dialect.extensionPrefix), writes, (defined, more) => {
        round.play(defined, [{ by: "POST", at: "", body: {} }, ...more]);
        expect(({} as Raw)["a"]).toBeUndefined();
      }),
      { seed: 20_261_122, numRuns },
    );
    // Else nothing was tried but refusals.
    expect(round.accepted).toBeGreaterThan(numRuns / 3);
    expect(round.ask("GET /openapi/v2").status).toBe(200);
  });
});
