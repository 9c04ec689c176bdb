import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  authentication,
  authenticator,
  authorization,
  authorizer,
  egress,
  kindOf,
  selection,
  tracing,
  withClaimRule,
  withIssuer,
  withMappings,
  withUserRule,
} from "./files.fixture.ts";
import { type Problem, readConfiguration } from "./read.ts";
import { kubernetesRules, serverKinds, svcRules } from "./rules.ts";
import { bareSetting, type Setting } from "./setting.ts";

const setting: Setting = {
  ...bareSetting(kubernetesRules, ["https://kubernetes.default.svc"]),
  fileProblem: (path) => (path === "/etc/here" ? undefined : "no such file or directory"),
};

type Fields = Record<string, unknown>;

/** Accepted by a live server of release 1.33, or by its published checks. */
const accepted: Readonly<Record<string, Fields>> = {
  "no authenticator": authentication({ jwt: undefined }),
  "an expression that gives no text": withMappings({ username: { expression: "1 == 1" } }),
  "the email by claim": withMappings({ username: { claim: "email", prefix: "" } }),
  "the verified email": withMappings({ username: { expression: "claims.email_verified ? claims.email : 'x'" } }),
  "one audience with its policy": withIssuer({ audienceMatchPolicy: "MatchAny" }),
  "an empty uid": withMappings({ uid: {} }),
  "an older egress word": egress(selection("Direct", undefined, "master")),
  "any case of an egress name": egress(selection("Direct", undefined, "Cluster")),
  "a webhook with defaults": authorization(authorizer({ authorizedTTL: undefined, unauthorizedTTL: undefined })),
  "an email in brackets": withMappings({ username: { expression: 'claims["email"]' } }),
  "a prefix of no groups": withMappings({ groups: { prefix: "g:" } }),
  "the older egress word beside the newer": egress(
    selection("Direct", undefined, "master"),
    selection("Direct", undefined, "controlplane"),
  ),
  "gRPC by a socket, with TCP beside it": egress(
    selection("GRPC", { uds: { udsName: "/x" }, tcp: { url: "http://x" } }),
  ),
  "two webhooks": authorization(authorizer(), authorizer({}, { name: "second.hook" })),
  "an empty tracing file": tracing(),
  "a whole sample": tracing({ samplingRatePerMillion: 1_000_000, endpoint: "collector:4317" }),
};

/** Refused by a live server of release 1.33, or by its published checks, which name this field. */
const refused: Readonly<Record<string, readonly [file: Fields, field: string, part?: string]>> = {
  "no issuer": [withIssuer({ url: undefined }), "jwt[0].issuer.url", "Required value"],
  "an issuer without TLS": [withIssuer({ url: "http://issuer.test" }), "jwt[0].issuer.url", "scheme must be https"],
  "an issuer with a fragment": [withIssuer({ url: "https://issuer.test#x" }), "jwt[0].issuer.url", "a fragment"],
  "an issuer with a query": [withIssuer({ url: "https://issuer.test?x=1" }), "jwt[0].issuer.url", "a query"],
  "an issuer with a user": [withIssuer({ url: "https://a:b@issuer.test" }), "jwt[0].issuer.url", "a username"],
  "the server's own issuer": [withIssuer({ url: "https://kubernetes.default.svc" }), "jwt[0].issuer.url", "disallowed"],
  "discovery at the issuer": [
    withIssuer({ discoveryURL: "https://issuer.test/" }),
    "jwt[0].issuer.discoveryURL",
    "must be different",
  ],
  "certificates that are none": [withIssuer({ certificateAuthority: "x" }), "jwt[0].issuer.certificateAuthority"],
  "no audiences": [withIssuer({ audiences: undefined }), "jwt[0].issuer.audiences", "at least one"],
  "an empty audience": [withIssuer({ audiences: [""] }), "jwt[0].issuer.audiences[0]", "can't be empty"],
  "an audience twice": [
    withIssuer({ audiences: ["a", "a"], audienceMatchPolicy: "MatchAny" }),
    "jwt[0].issuer.audiences[1]",
    'Duplicate value: "a"',
  ],
  "two audiences without a policy": [withIssuer({ audiences: ["a", "b"] }), "jwt[0].issuer.audienceMatchPolicy"],
  "a policy that is none": [withIssuer({ audienceMatchPolicy: "MatchAll" }), "jwt[0].issuer.audienceMatchPolicy"],
  "an issuer twice": [authentication({ jwt: [authenticator(), authenticator()] }), "jwt[1].issuer.url", "Duplicate"],
  "too many authenticators": [
    authentication({ jwt: Array.from({ length: 65 }, () => authenticator()) }),
    "jwt",
    "Too many: 65: must have at most 64 items",
  ],
  "no username": [withMappings({ username: {} }), "jwt[0].claimMappings.username", "claim or expression is required"],
  "a username by both": [
    withMappings({ username: { claim: "sub", prefix: "", expression: "claims.sub" } }),
    "jwt[0].claimMappings.username",
    "can't both be set",
  ],
  "no prefix": [withMappings({ username: { claim: "sub" } }), "jwt[0].claimMappings.username.prefix"],
  "groups without a prefix": [withMappings({ groups: { claim: "g" } }), "jwt[0].claimMappings.groups.prefix"],
  "an unverified email": [
    withMappings({ username: { expression: "claims.email" } }),
    "jwt[0].claimMappings.username.expression",
    "claims.email_verified must be used",
  ],
  "no key": [withMappings({ extra: [{ valueExpression: "claims.a" }] }), "jwt[0].claimMappings.extra[0].key"],
  "an upper key": [
    withMappings({ extra: [{ key: "Example.com/X", valueExpression: "claims.a" }] }),
    "jwt[0].claimMappings.extra[0].key",
    "key must be lowercase",
  ],
  "a reserved key": [
    withMappings({ extra: [{ key: "k8s.io/x", valueExpression: "claims.a" }] }),
    "jwt[0].claimMappings.extra[0].key",
    "are reserved",
  ],
  "a key without a domain": [
    withMappings({ extra: [{ key: "x", valueExpression: "claims.a" }] }),
    "jwt[0].claimMappings.extra[0].key",
    "must be a domain-prefixed path",
  ],
  "a key twice": [
    withMappings({ extra: [1, 2].map(() => ({ key: "example.com/x", valueExpression: "claims.a" })) }),
    "jwt[0].claimMappings.extra[1].key",
    "Duplicate",
  ],
  "a rule of both forms": [
    withClaimRule({ claim: "a", expression: 'claims.a == "b"' }),
    "jwt[0].claimValidationRules[0]",
    "can't both be set",
  ],
  "a rule of neither": [withClaimRule({}), "jwt[0].claimValidationRules[0]", "claim or expression is required"],
  "a message with a claim": [withClaimRule({ claim: "a", message: "m" }), "jwt[0].claimValidationRules[0].message"],
  "a value with an expression": [
    withClaimRule({ expression: "true", requiredValue: "m" }),
    "jwt[0].claimValidationRules[0].requiredValue",
  ],
  "a rule that gives no boolean": [
    withClaimRule({ expression: "claims.a" }),
    "jwt[0].claimValidationRules[0].expression",
    "must evaluate to bool",
  ],
  "a claim twice": [withClaimRule({ claim: "a" }, { claim: "a" }), "jwt[0].claimValidationRules[1].claim", "Duplicate"],
  "an empty user rule": [withUserRule({ expression: "" }), "jwt[0].userValidationRules[0].expression", "required"],
  "an unknown field of the user": [
    withUserRule({ expression: "user.nope == 'a'" }),
    "jwt[0].userValidationRules[0].expression",
    "<input>:1:5: undefined field 'nope'\n | user.nope == 'a'\n | ....^",
  ],
  "a user rule twice": [
    withUserRule({ expression: "user.username != 'a'" }, { expression: "user.username != 'a'" }),
    "jwt[0].userValidationRules[1].expression",
    "Duplicate",
  ],
  "conditions of what is off": [
    authentication({ anonymous: { enabled: false, conditions: [{ path: "/healthz" }] } }),
    "anonymous.conditions",
    "enabled should be set to true",
  ],
  "another kind": [{ ...authentication(), kind: "Nope" }, "kind", 'no kind "Nope" is registered'],
  "another version": [{ ...authentication(), apiVersion: "apiserver.k8s.io/v1beta1" }, "apiVersion"],
  "no authorizer": [authorization(), "authorizers", "at least one"],
  "no webhook": [authorization({ type: "Webhook", name: "w" }), "authorizers[0].webhook", "required when"],
  "a webhook of another type": [
    authorization(authorizer({}, { type: "RBAC" })),
    "authorizers[0].webhook",
    "may only be specified",
  ],
  "a name twice": [authorization(authorizer(), authorizer()), "authorizers[1].name", "Duplicate"],
  "a type twice": [
    authorization({ type: "RBAC", name: "a" }, { type: "RBAC", name: "b" }),
    "authorizers[1].type",
    "Duplicate",
  ],
  "a name that is none": [authorization(authorizer({}, { name: "Bad_Name" })), "authorizers[0].name", "RFC 1123"],
  "no name": [authorization(authorizer({}, { name: "" })), "authorizers[0].name", "Required value"],
  "no time": [authorization(authorizer({ timeout: "0s" })), "authorizers[0].timeout", "Required value"],
  "too much time": [authorization(authorizer({ timeout: "31s" })), "authorizers[0].timeout", "must be > 0s and <= 30s"],
  "a time that is none": [authorization(authorizer({ timeout: "soon" })), "authorizers[0].timeout"],
  "a lifetime below zero": [authorization(authorizer({ authorizedTTL: "-1s" })), "authorizers[0].authorizedTTL"],
  "another review": [
    authorization(authorizer({ subjectAccessReviewVersion: "v2" })),
    "authorizers[0].subjectAccessReviewVersion",
    'supported values: "v1", "v1beta1"',
  ],
  "another review of conditions": [
    authorization(authorizer({ matchConditionSubjectAccessReviewVersion: "v1beta1" })),
    "authorizers[0].matchConditionSubjectAccessReviewVersion",
  ],
  "another policy": [authorization(authorizer({ failurePolicy: "Fail" })), "authorizers[0].failurePolicy"],
  "no policy": [authorization(authorizer({ failurePolicy: undefined })), "authorizers[0].failurePolicy", "Required"],
  "another way": [
    authorization(authorizer({ connectionInfo: { type: "Carrier" } })),
    "authorizers[0].connectionInfo.type",
    'supported values: "InClusterConfig", "KubeConfigFile"',
  ],
  "no connection file": [
    authorization(authorizer({ connectionInfo: { type: "KubeConfigFile" } })),
    "authorizers[0].connectionInfo.kubeConfigFile",
    "Required value",
  ],
  "an absent connection file": [
    authorization(authorizer({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/no/such" } })),
    "authorizers[0].connectionInfo.kubeConfigFile",
    "no such file",
  ],
  "a file where none is read": [
    authorization(authorizer({ connectionInfo: { type: "InClusterConfig", kubeConfigFile: "/x" } })),
    "authorizers[0].connectionInfo.kubeConfigFile",
    "can only be set when",
  ],
  "an empty condition": [
    authorization(authorizer({ matchConditions: [{ expression: " " }] })),
    "authorizers[0].matchConditions[0].expression",
    "Required value",
  ],
  "too many conditions": [
    authorization(
      authorizer({ matchConditions: Array.from({ length: 65 }, (_, at) => ({ expression: `${at} > 3` })) }),
    ),
    "authorizers[0].matchConditions",
    "must have at most 64 items",
  ],
  "a condition that gives a text": [
    authorization(authorizer({ matchConditions: [{ expression: "request.user" }] })),
    "authorizers[0].matchConditions[0].expression",
    "must evaluate to bool but got string",
  ],
  "a condition about nothing": [
    authorization(authorizer({ matchConditions: [{ expression: "request.nope == 'a'" }] })),
    "authorizers[0].matchConditions[0].expression",
    "undefined field 'nope'",
  ],
  "a selection twice": [egress(selection("Direct"), selection("Direct")), "service.connection[1]", "Duplicate"],
  "a name for no selection": [egress(selection("Direct", undefined, "moon")), "service.connection", '"moon"'],
  "a name for no selection twice": [
    egress(selection("Direct", undefined, "moon"), selection("Direct", undefined, "Moon")),
    "service.connection[1]",
    'Duplicate value: "moon"',
  ],
  "a transport for nothing": [
    egress(selection("Direct", { tcp: { url: "http://x" } })),
    "service.connection.transport",
  ],
  "no transport": [egress(selection("HTTPConnect")), "service.connection.transport", "must be set for HTTPConnect"],
  "an empty transport": [egress(selection("HTTPConnect", {})), "service.connection.tcp", "One of TCP or UDS"],
  "both transports": [
    egress(selection("HTTPConnect", { tcp: { url: "http://x" }, uds: { udsName: "/x" } })),
    "service.connection.tcp",
    "cannot both be set",
  ],
  "gRPC over TCP": [egress(selection("GRPC", { tcp: { url: "http://x" } })), "service.connection.uds"],
  "no socket": [egress(selection("GRPC", { uds: { udsName: "" } })), "service.connection.udsName"],
  "TLS without certificates": [
    egress(selection("HTTPConnect", { tcp: { url: "https://x:1" } })),
    "service.connection.tlsConfig",
    "must be present",
  ],
  "certificates without TLS": [
    egress(selection("HTTPConnect", { tcp: { url: "http://x:1", tlsConfig: { caBundle: "/etc/here" } } })),
    "service.connection.tlsConfig",
    "should not be present",
  ],
  "an absent certificate": [
    egress(
      selection("HTTPConnect", { tcp: { url: "https://x", tlsConfig: { clientKey: "/etc/here", clientCert: "/no" } } }),
    ),
    "service.connection.tlsConfig.clientCert",
  ],
  "another scheme": [egress(selection("HTTPConnect", { tcp: { url: "ftp://x" } })), "service.connection.url"],
  "another protocol": [egress(selection("Pigeon")), "service.connection.protocol", "supported values"],
  "no protocol": [egress(selection(undefined)), "service.connection.protocol"],
  "a negative rate": [tracing({ samplingRatePerMillion: -1 }), "samplingRatePerMillion", "must be positive"],
  "too high a rate": [tracing({ samplingRatePerMillion: 1_000_001 }), "samplingRatePerMillion", "one million"],
  "a rate of another type": [tracing({ samplingRatePerMillion: "all" }), "samplingRatePerMillion", "integer"],
  "a bad endpoint": [tracing({ endpoint: "http://::bad" }), "endpoint", 'invalid port ":bad" after host'],
  "another scheme of the endpoint": [tracing({ endpoint: "http://collector:4317" }), "endpoint", "unsupported scheme"],
  "an unknown field": [tracing({ bogus: 1 }), "bogus", 'unknown field "bogus"'],
  "an unknown field within": [withIssuer({ jwks: 1 }), "jwt[0].issuer.jwks", "unknown field"],
};

describe("as the observed server", () => {
  test.each(Object.entries(accepted))("accepts %s", (_name, file) => {
    expect(problemsOf(file)).toEqual([]);
  });

  test.each(Object.entries(refused))("refuses %s", (_name, [file, field, part = ""]) => {
    const problems = problemsOf(file);
    expect(problems.map((problem) => problem.field)).toContain(field);
    expect(problems.find((problem) => problem.field === field && problem.message.includes(part))).toBeDefined();
  });
});

describe("as the documents have it", () => {
  const own = bareSetting(svcRules);
  const header = (kind: string): string => `apiVersion: apiserver.svc.io/v1beta1\nkind: ${kind}\n`;
  const fieldsOf = (kind: (typeof serverKinds)[number], text: string): readonly string[] => {
    const read = readConfiguration(kind, header(kind) + text, own);
    return read.ok ? [] : read.problems.map(({ field }) => field);
  };
  const hook = `
authorizers:
- type: Webhook
  name: w
  webhook: { timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: { type: InClusterConfig } }
`;

  test("what its tables require has to be there", () => {
    expect(fieldsOf("AuthenticationConfiguration", "")).toEqual(["jwt"]);
    expect(fieldsOf("AuthenticationConfiguration", "jwt: []\n")).toEqual([]);
    expect(fieldsOf("EgressSelectorConfiguration", "")).toEqual(["egressSelections"]);
    expect([...fieldsOf("AuthorizationConfiguration", hook)].sort()).toEqual(
      ["authorizedTTL", "matchConditionSubjectAccessReviewVersion", "matchConditions", "unauthorizedTTL"].map(
        (name) => `authorizers[0].webhook.${name}`,
      ),
    );
  });

  test("a name is a label", () => {
    const rows = "authorizers: [{ type: AlwaysAllow, name: a.b }]\n";
    expect(fieldsOf("AuthorizationConfiguration", rows)).toEqual(["authorizers[0].name"]);
  });

  test("one group holds all kinds", () => {
    expect(fieldsOf("TracingConfiguration", "")).toEqual([]);
    expect(problemsOf(tracing({ apiVersion: "apiserver.svc.io/v1beta1" }))).toHaveLength(1);
  });

  test("what an expression reads in brackets is read, and one name is not there in two words", () => {
    const jwt = `
jwt:
- issuer: { url: "https://issuer.test", audiences: [a] }
  claimMappings: { username: { expression: 'claims["email"]' } }
`;
    expect(fieldsOf("AuthenticationConfiguration", jwt)).toEqual(["jwt[0].claimMappings.username.expression"]);
    const rows =
      "egressSelections: [{ name: master, connection: &c { proxyProtocol: Direct } }, { name: controlplane, connection: *c }]\n";
    expect(fieldsOf("EgressSelectorConfiguration", rows)).toEqual(["egressSelections[1].name"]);
  });

  test("paths are those of the fields", () => {
    const rows = "egressSelections: [{ name: etcd, connection: { proxyProtocol: GRPC, transport: { uds: {} } } }]\n";
    expect(fieldsOf("EgressSelectorConfiguration", rows)).toEqual([
      "egressSelections[0].connection.transport.uds.udsName",
    ]);
  });
});

test("all that is wrong with a file comes at once", () => {
  const text = `
apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
colour: red
jwt:
- issuer: { url: "http://a", audiences: [], audiences: [1] }
  claimMappings: { username: { claim: sub }, groups: 3 }
  userValidationRules: [{ expression: "user.username.startsWith(" }]
`;
  const read = readConfiguration("AuthenticationConfiguration", text, setting);
  const fields = read.ok ? [] : read.problems.map(({ field }) => field);
  expect([...new Set(fields)].sort()).toEqual([
    "audiences",
    "colour",
    "jwt[0].claimMappings.groups",
    "jwt[0].claimMappings.username.prefix",
    "jwt[0].issuer.audiences",
    "jwt[0].issuer.audiences[0]",
    "jwt[0].issuer.url",
    "jwt[0].userValidationRules[0].expression",
  ]);
});

test("of a thousand mistakes a hundred are told, and soon", () => {
  const problems = problemsOf(authentication({ jwt: Array.from({ length: 20_000 }, () => 1) }));
  expect(problems.length).toBeGreaterThan(99);
  expect(problems.length).toBeLessThan(110);
});

test("a field that stands twice is told, in JSON by its path", () => {
  const text =
    '{"apiVersion":"apiserver.config.k8s.io/v1beta1","kind":"TracingConfiguration","endpoint":"a","endpoint":"b"}';
  const read = readConfiguration("TracingConfiguration", text, setting);
  expect(read).toMatchObject({ ok: false, problems: [{ field: "endpoint" }] });
});

test("no text ends the reader", () => {
  const anyFile = fc.oneof(
    fc.string(),
    fc.json(),
    fc.jsonValue({ maxDepth: 6 }).map((jwt) => JSON.stringify(authentication({ jwt }))),
    fc.jsonValue({ maxDepth: 6 }).map((rows) => JSON.stringify({ ...authorization(), authorizers: rows })),
    fc.jsonValue({ maxDepth: 6 }).map((rows) => JSON.stringify({ ...egress(), egressSelections: rows })),
    fc.constantFrom(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`, "[".repeat(50_000), "a: ".repeat(500)),
  );
  fc.assert(
    fc.property(anyFile, fc.constantFrom(...serverKinds), (text, kind) => {
      const read = readConfiguration(kind, text, setting);
      expect(read.ok || read.problems.length > 0).toBe(true);
    }),
    { numRuns: 300 },
  );
});

function problemsOf(file: Fields): readonly Problem[] {
  const kind = file["kind"] === "Nope" ? "AuthenticationConfiguration" : kindOf(file);
  const read = readConfiguration(kind, JSON.stringify(file), setting);
  return read.ok ? [] : read.problems;
}
