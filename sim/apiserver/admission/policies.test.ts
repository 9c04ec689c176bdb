import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Answer, configMaps, TestBed } from "../test-bed.fixture.ts";

const group = "/apis/admissionregistration.svc.io/v1";
const policies = `${group}/validatingadmissionpolicies`;
const bindings = `${group}/validatingadmissionpolicybindings`;
const rule = { operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };

const policySpec = (more: JsonObject = {}): JsonObject => ({
  matchConstraints: { resourceRules: [rule] },
  validations: [{ expression: "object.data.k == 'v'" }],
  ...more,
});

/** A server with one policy and one binding. */
class Cluster {
  readonly bed = new TestBed();

  constructor(policy: JsonObject = {}, binding: JsonObject = {}) {
    this.make(policies, "p", policySpec(policy));
    this.make(bindings, "b", { policyName: "p", validationActions: ["Deny"], ...binding });
  }

  make(path: string, name: string, spec: JsonObject): void {
    const stored = this.bed.ask(`POST ${path}`, { body: { metadata: { name }, spec } });
    if (stored.status !== 201) throw new Error(stored.text);
  }

  ok(request: string, body: JsonObject): void {
    const answer = this.bed.ask(request, { headers: { "content-type": "application/merge-patch+json" }, body });
    if (answer.status !== 200) throw new Error(answer.text);
  }

  create(data: JsonObject = { k: "x" }, metadata: JsonObject = {}, path = configMaps): Answer {
    return this.bed.ask(`POST ${path}`, { body: { metadata: { name: "a", ...metadata }, data } });
  }

  /** The message of a refusal without its beginning; "" when the object was made. */
  refusal(data?: JsonObject, metadata?: JsonObject): string {
    const { status, body } = this.create(data, metadata);
    if (status === 201) return "";
    return String(body["message"]).replace(/^configmaps "a" is forbidden: /, "");
  }
}

const denied = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ";

describe("validating policies", () => {
  it("refuse what their expressions do not hold for", () => {
    const cluster = new Cluster();
    const { status, body } = cluster.create();
    const message = `${denied}failed expression: object.data.k == 'v'`;
    expect(status).toBe(422);
    expect(body).toMatchObject({
      reason: "Invalid",
      message: `configmaps "a" is forbidden: ${message}`,
      details: { name: "a", kind: "configmaps", causes: [{ message }] },
    });
    expect(cluster.create({ k: "v" }).status).toBe(201);
    expect(cluster.bed.merge(`${configMaps}/a`, { data: { k: "w" } }).status).toBe(422);
    expect(cluster.bed.ask(`DELETE ${configMaps}/a`).status).toBe(200);
  });

  it.each([
    ["Equivalent", 422],
    ["Exact", 201],
  ] as const)(
    "hear of other versions of what they name, shown in that version, if they want %s matches",
    (matchPolicy, status) => {
      const events = "/api/v1/namespaces/default/events";
      const rules = { ...rule, apiGroups: ["events.svc.io"], resources: ["events"] };
      const expression = "object.note != 'bad' || request.kind.group == request.requestKind.group";
      const validations = [{ expression, message: "shown with its note" }];
      const cluster = new Cluster({ matchConstraints: { matchPolicy, resourceRules: [rules] }, validations });
      const involvedObject = { kind: "Pod", namespace: "default", name: "p" };
      const post = (message: string): Answer =>
        cluster.bed.ask(`POST ${events}`, { body: { metadata: { name: "e" }, involvedObject, message } });
      const answer = post("bad");
      expect(answer.status).toBe(status);
      if (status === 201) return;
      expect(answer.at("message")).toContain("denied request: shown with its note");
      const excepting = { matchPolicy, resourceRules: [{ ...rules, apiGroups: [""] }], excludeResourceRules: [rules] };
      cluster.ok(`PATCH ${policies}/p`, { spec: { matchConstraints: excepting } });
      expect(post("bad").status).toBe(201);
    },
  );

  it("have no effect without a binding, nor on policies and bindings", () => {
    const all = { ...rule, operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] };
    const cluster = new Cluster({ matchConstraints: { resourceRules: [all] }, validations: [{ expression: "false" }] });
    expect(cluster.create().status).toBe(422);
    expect(cluster.bed.ask(`DELETE ${bindings}/b`).status).toBe(200);
    expect(cluster.create().status).toBe(201);
  });

  it("say it in their own words, with their own reason", () => {
    const validation = (more: JsonObject): JsonObject => ({ validations: [{ expression: "false", ...more }] });
    expect(new Cluster(validation({ message: " No. " })).refusal()).toBe(`${denied}No.`);
    const made = { message: "No.", messageExpression: "'no ' + object.data.k" };
    expect(new Cluster(validation(made)).refusal()).toBe(`${denied}no x`);
    expect(new Cluster(validation(made)).refusal({ other: "y" })).toBe(`${denied}No.`);
    const { status, body } = new Cluster(validation({ reason: "Forbidden" })).create();
    expect([status, body["reason"]]).toEqual([403, "Forbidden"]);
  });

  it("warn where their binding says so, and note where it says that", () => {
    const warned = new Cluster({}, { validationActions: ["Warn", "Audit"] }).create();
    expect(warned.status).toBe(201);
    expect([warned.headers["warning"]].flat()).toEqual([
      "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: object.data.k == 'v'\"",
    ]);
    const noted = new Cluster({}, { validationActions: ["Audit"] }).create();
    expect([noted.status, noted.headers["warning"]]).toEqual([201, undefined]);
  });

  it("see the request, the namespace and their variables, each evaluated once it is asked for", () => {
    const variables = [
      { name: "keys", expression: "object.data.map(k, k)" },
      { name: "count", expression: "size(variables.keys)" },
      { name: "broken", expression: "object.data.none == 'x'" },
    ];
    const seen = new Cluster({
      variables,
      validations: [
        { expression: "variables.count == 2 && variables.keys.exists(k, k == 'k')" },
        { expression: "namespaceObject.metadata.name == 'default' && request.operation == 'CREATE'" },
        { expression: "oldObject == null && request.userInfo.username == 'alice'" },
      ],
    });
    expect(seen.refusal({ k: "v", l: "w" })).toBe("");
    expect(seen.refusal({ k: "v" })).toContain("failed expression: variables.count == 2");
    const broken = new Cluster({ variables, validations: [{ expression: "variables.broken" }] });
    expect(broken.refusal()).toBe(
      `${denied}expression 'variables.broken' resulted in error: composited variable "broken" fails to evaluate: no such key: none`,
    );
  });

  it("fail by their failure policy when they cannot be evaluated", () => {
    const broken = { validations: [{ expression: "object.spec.x == 1" }] };
    expect(new Cluster(broken).refusal()).toBe(
      `${denied}expression 'object.spec.x == 1' resulted in error: no such key: spec`,
    );
    expect(new Cluster({ ...broken, failurePolicy: "Ignore" }).refusal()).toBe("");
    const annotation = { auditAnnotations: [{ key: "a", valueExpression: "object.spec.x" }], validations: [] };
    expect(new Cluster(annotation).refusal()).toContain("no such key: spec");
  });

  it("are for what constraints, conditions and bindings say", () => {
    expect(new Cluster({ matchConditions: [{ name: "c", expression: "object.data.k != 'x'" }] }).refusal()).toBe("");
    const excluded = { resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ["a"] }] };
    expect(new Cluster({ matchConstraints: excluded }).refusal()).toBe("");
    const labelled = { objectSelector: { matchLabels: { strict: "yes" } } };
    expect(new Cluster({}, { matchResources: labelled }).refusal()).toBe("");
    expect(new Cluster({}, { matchResources: labelled }).refusal({}, { labels: { strict: "yes" } })).toContain(denied);
    const secrets = { resourceRules: [{ ...rule, resources: ["secrets"] }] };
    expect(new Cluster({}, { matchResources: secrets }).refusal()).toBe("");
  });

  it("are judged with each parameter that a binding refers to", () => {
    const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
    const judged = {
      paramKind,
      validations: [{ expression: "object.metadata.name == 'limits' || object.data.k == params.data.k" }],
    };
    const ref = (more: JsonObject): JsonObject => ({ paramRef: { parameterNotFoundAction: "Deny", ...more } });
    const byName = ref({ name: "limits" });
    const missing = new Cluster(judged, byName);
    expect(missing.refusal()).toBe(
      `${denied}failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
    );
    const lenient = new Cluster(judged, { paramRef: { name: "limits", parameterNotFoundAction: "Allow" } });
    expect(lenient.create({ k: "x" }, { name: "limits", labels: { limit: "1" } }).status).toBe(201);
    expect(lenient.refusal({ k: "x" })).toBe("");
    expect(lenient.create({ k: "y" }, { name: "c" }).status).toBe(422);
    const bySelector = ref({ selector: { matchLabels: { limit: "1" } } });
    lenient.bed.merge(`${bindings}/b`, {
      spec: { paramRef: { name: null, ...(bySelector["paramRef"] as JsonObject) } },
    });
    expect(lenient.create({ k: "y" }, { name: "c" }).status).toBe(422);
    expect(lenient.create({ k: "x" }, { name: "c" }).status).toBe(201);
    const unknown = new Cluster({ ...judged, paramKind: { apiVersion: "v1", kind: "Nothing" } }, byName);
    expect(unknown.refusal()).toContain("failed to find resource referenced by paramKind: 'v1, Kind=Nothing'");
  });

  it("cannot keep the server busy", () => {
    const all = "object.data.all(a, object.data.all(b, object.data.all(c, a + b != c)))";
    const data = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`l${at}`, "x"]));
    expect(new Cluster({ validations: [{ expression: all }] }).refusal(data)).toContain("actual cost limit exceeded");
  });
});

describe("policies that nobody could carry out", () => {
  const causesOf = (path: string, spec: JsonObject): readonly (readonly [string, string])[] => {
    const { status, body, text } = new TestBed().ask(`POST ${path}`, { body: { metadata: { name: "p" }, spec } });
    if (status !== 422) throw new Error(text);
    const { causes } = body["details"] as { causes: { field: string; message: string }[] };
    return causes.map(({ field, message }) => [field, message]);
  };

  it.each([
    [
      { validations: [{ expression: "objekt.x" }] },
      "spec.validations[0].expression",
      "undeclared reference to 'objekt'",
    ],
    [
      { validations: [{ expression: "1" }] },
      "spec.validations[0].expression",
      'Invalid value: "1": must evaluate to bool',
    ],
    [
      { validations: [{ expression: "params.x" }] },
      "spec.validations[0].expression",
      "undeclared reference to 'params'",
    ],
    [{ validations: [{ expression: "variables.x" }] }, "spec.validations[0].expression", "undefined field 'x'"],
    [{ validations: [{ expression: "true", reason: "Odd" }] }, "spec.validations[0].reason", "Unsupported value"],
    [
      { validations: [{ expression: "true", messageExpression: "1" }] },
      "spec.validations[0].messageExpression",
      "string",
    ],
    [
      {
        validations: [{ expression: "true", messageExpression: "string(authorizer.path('/').check('get').allowed())" }],
      },
      "spec.validations[0].messageExpression",
      "undeclared reference to 'authorizer'",
    ],
    [{ variables: [{ name: "a b", expression: "1" }] }, "spec.variables[0].name", "not a valid CEL identifier"],
    [
      { matchConditions: [{ name: "c", expression: "1" }] },
      "spec.matchConditions[0].expression",
      "must evaluate to bool",
    ],
    [{ failurePolicy: "Maybe" }, "spec.failurePolicy", "Unsupported value"],
    [{ paramKind: { kind: "ConfigMap" } }, "spec.paramKind.apiVersion", "Required value"],
    [{ matchConstraints: {} }, "spec.matchConstraints.resourceRules", "Required value"],
    [
      { auditAnnotations: [{ key: "k", valueExpression: "1" }] },
      "spec.auditAnnotations[0].valueExpression",
      "one of [string null]",
    ],
  ] as const)("are refused: %j", (more, field, message) => {
    const causes = causesOf(policies, policySpec(more as unknown as JsonObject));
    expect(causes).toEqual([[field, expect.stringContaining(message)]]);
  });

  it("are refused without anything to judge", () => {
    expect(causesOf(policies, policySpec({ validations: [] })).map(([field]) => field)).toEqual([
      "spec.validations",
      "spec.auditAnnotations",
    ]);
  });

  it.each([
    [{ policyName: "" }, "spec.policyName"],
    [{ validationActions: [] }, "spec.validationActions"],
    [{ validationActions: ["Deny", "Warn"] }, "spec.validationActions"],
    [{ paramRef: { parameterNotFoundAction: "Deny" } }, "spec.paramRef"],
    [{ paramRef: { name: "x" } }, "spec.paramRef.parameterNotFoundAction"],
  ] as const)("are bindings: %j", (more, field) => {
    const spec = { policyName: "p", validationActions: ["Deny"], ...more };
    expect(causesOf(bindings, spec as unknown as JsonObject).map(([at]) => at)).toEqual([field]);
  });
});

it("judge by what there was when they began, whatever is written before they have ended", () => {
  const cluster = new Cluster(
    { validations: [{ expression: "object.data.k == 'v'" }] },
    { validationActions: ["Warn"] },
  );
  const costly = "object.data.all(a, object.data.all(b, a != 'none' && b != 'none'))";
  const validations = Array.from({ length: 12 }, () => ({ expression: costly }));
  cluster.make(policies, "q", policySpec({ validations }));
  cluster.make(bindings, "q", { policyName: "q", validationActions: ["Deny"] });
  const keys = Array.from({ length: 150 }, (_, at) => [`k${at}`, "x"]);
  const answer = cluster.create({ ...Object.fromEntries(keys), k: "x" });
  expect(answer.status).toBe(0);
  // What came first comes no longer: what was found by then is still the other's.
  expect(cluster.bed.ask(`DELETE ${policies}/p`).status).toBe(200);
  cluster.bed.advance(0);
  expect([answer.status, answer.headers["warning"] !== undefined || answer.headers["Warning"] !== undefined]).toEqual([
    201,
    true,
  ]);
});
