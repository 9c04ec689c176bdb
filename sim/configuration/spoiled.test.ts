/**
 * Every field of every kind, spoiled in every way that a field can be: what is told names the field. The shapes say which
 * fields there are, so that a new one is judged here, or this test fails.
 */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readConfiguration, shapeOf } from "./read.ts";
import { type ConfigurationRules, kubernetesRules, type ServerKind, serverKinds, svcRules } from "./rules.ts";
import { bareSetting } from "./setting.ts";

type Path = readonly (string | number)[];

/** All fields that can stand beside each other. What excludes it is in `others`. */
function whole({ apiVersions, dialect }: ConfigurationRules): Readonly<Record<ServerKind, unknown>> {
  const isSvc = dialect.name === "svc";
  const header = (kind: ServerKind) => ({ apiVersion: apiVersions[kind][0], kind });
  const file = isSvc
    ? { type: "SvcConfigFile", svcConfigFile: "/w" }
    : { type: "KubeConfigFile", kubeConfigFile: "/w" };
  return {
    AuthenticationConfiguration: {
      ...header("AuthenticationConfiguration"),
      jwt: [
        {
          issuer: {
            url: "https://issuer.test",
            discoveryURL: "https://other.test/discovery",
            certificateAuthority: "-----BEGIN CERTIFICATE-----\nMIIBAAAA\n-----END CERTIFICATE-----\n",
            audiences: ["a", "b"],
            audienceMatchPolicy: "MatchAny",
          },
          claimValidationRules: [
            { claim: "hd", requiredValue: "x" },
            { expression: "claims.a == 'b'", message: "no" },
          ],
          claimMappings: {
            username: { claim: "sub", prefix: "" },
            groups: { claim: "groups", prefix: "g:" },
            uid: { claim: "uid" },
            extra: [{ key: "example.com/x", valueExpression: "claims.x" }],
          },
          userValidationRules: [{ expression: "user.uid != ''", message: "no" }],
        },
      ],
      anonymous: { enabled: true, conditions: [{ path: "/livez" }] },
    },
    AuthorizationConfiguration: {
      ...header("AuthorizationConfiguration"),
      authorizers: [
        {
          type: "Webhook",
          name: "gate",
          webhook: {
            authorizedTTL: "5m",
            unauthorizedTTL: "30s",
            timeout: "3s",
            subjectAccessReviewVersion: "v1",
            matchConditionSubjectAccessReviewVersion: "v1",
            failurePolicy: "Deny",
            connectionInfo: file,
            matchConditions: [{ expression: "request.user == 'jane'" }],
          },
        },
      ],
    },
    EgressSelectorConfiguration: {
      ...header("EgressSelectorConfiguration"),
      egressSelections: [
        {
          name: "cluster",
          connection: {
            proxyProtocol: "HTTPConnect",
            transport: {
              tcp: { url: "https://proxy.test", tlsConfig: { caBundle: "/a", clientKey: "/b", clientCert: "/c" } },
            },
          },
        },
        { name: "etcd", connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: "/tunnel" } } } },
      ],
    },
    TracingConfiguration: { ...header("TracingConfiguration"), endpoint: "a:4317", samplingRatePerMillion: 1 },
  };
}

const others: Readonly<Record<ServerKind, readonly string[]>> = {
  AuthenticationConfiguration: [
    "jwt[].claimMappings.username.expression",
    "jwt[].claimMappings.groups.expression",
    "jwt[].claimMappings.uid.expression",
  ],
  AuthorizationConfiguration: [],
  EgressSelectorConfiguration: [],
  TracingConfiguration: [],
};

/** What is told of a field that is gone, and of one that is empty, where that is not the field itself or nothing. */
type Told = "itself" | "nothing" | readonly string[];
interface Row {
  readonly gone: Told;
  readonly empty: Told;
}
const needed: Row = { gone: "itself", empty: "itself" };
const free: Row = { gone: "nothing", empty: "nothing" };

const authenticationRows: Readonly<Record<string, Row>> = {
  "jwt[].issuer": {
    gone: ["jwt[0].issuer.url", "jwt[0].issuer.audiences"],
    empty: ["jwt[0].issuer.url", "jwt[0].issuer.audiences"],
  },
  "jwt[].issuer.url": needed,
  "jwt[].issuer.discoveryURL": free,
  "jwt[].issuer.certificateAuthority": free,
  "jwt[].issuer.audiences": needed,
  "jwt[].issuer.audiences[]": { gone: "nothing", empty: "itself" },
  // There are two audiences.
  "jwt[].issuer.audienceMatchPolicy": needed,
  "jwt[].claimValidationRules": free,
  "jwt[].claimValidationRules[].claim": {
    gone: ["jwt[0].claimValidationRules[0]"],
    empty: ["jwt[0].claimValidationRules[0]"],
  },
  "jwt[].claimValidationRules[].requiredValue": free,
  "jwt[].claimValidationRules[].expression": {
    gone: ["jwt[0].claimValidationRules[1]"],
    empty: ["jwt[0].claimValidationRules[1]"],
  },
  "jwt[].claimValidationRules[].message": free,
  "jwt[].claimMappings": { gone: ["jwt[0].claimMappings.username"], empty: ["jwt[0].claimMappings.username"] },
  "jwt[].claimMappings.username": needed,
  "jwt[].claimMappings.username.claim": {
    gone: ["jwt[0].claimMappings.username"],
    empty: ["jwt[0].claimMappings.username"],
  },
  "jwt[].claimMappings.username.prefix": { gone: "itself", empty: "nothing" },
  "jwt[].claimMappings.groups": free,
  "jwt[].claimMappings.groups.claim": free,
  "jwt[].claimMappings.groups.prefix": { gone: "itself", empty: "nothing" },
  "jwt[].claimMappings.extra": free,
  "jwt[].claimMappings.extra[].key": needed,
  "jwt[].claimMappings.extra[].valueExpression": needed,
  "jwt[].userValidationRules": free,
  "jwt[].userValidationRules[].expression": needed,
  "jwt[].userValidationRules[].message": free,
  "anonymous.conditions": free,
};

const egressRows: Readonly<Record<string, Row>> = {
  "egressSelections[].connection.transport.tcp.tlsConfig.caBundle": free,
};

const kubernetesRows: Readonly<Record<ServerKind, Readonly<Record<string, Row>>>> = {
  AuthenticationConfiguration: {
    ...authenticationRows,
    jwt: free,
    "jwt[].claimMappings.uid": free,
    "jwt[].claimMappings.uid.claim": free,
    anonymous: { gone: "nothing", empty: "nothing" },
    // What has conditions has to be on.
    "anonymous.enabled": { gone: ["anonymous.conditions"], empty: ["anonymous.conditions"] },
    "anonymous.conditions[].path": free,
  },
  AuthorizationConfiguration: {
    authorizers: needed,
    "authorizers[].type": needed,
    "authorizers[].name": needed,
    "authorizers[].webhook": {
      gone: "itself",
      empty: ["timeout", "subjectAccessReviewVersion", "failurePolicy", "connectionInfo.type"].map(below),
    },
    "authorizers[].webhook.authorizedTTL": free,
    "authorizers[].webhook.unauthorizedTTL": free,
    "authorizers[].webhook.timeout": both(below("timeout")),
    "authorizers[].webhook.subjectAccessReviewVersion": both(below("subjectAccessReviewVersion")),
    "authorizers[].webhook.matchConditionSubjectAccessReviewVersion": both(
      below("matchConditionSubjectAccessReviewVersion"),
    ),
    "authorizers[].webhook.failurePolicy": both(below("failurePolicy")),
    "authorizers[].webhook.connectionInfo": both(below("connectionInfo.type")),
    "authorizers[].webhook.connectionInfo.type": both(below("connectionInfo.type")),
    "authorizers[].webhook.connectionInfo.kubeConfigFile": both(below("connectionInfo.kubeConfigFile")),
    "authorizers[].webhook.matchConditions": free,
    "authorizers[].webhook.matchConditions[].expression": both(below("matchConditions[0].expression")),
  },
  EgressSelectorConfiguration: {
    ...egressRows,
    egressSelections: free,
    "egressSelections[].name": both("service.connection"),
    "egressSelections[].connection": both("service.connection.protocol"),
    "egressSelections[].connection.proxyProtocol": both("service.connection.protocol"),
    "egressSelections[].connection.transport": {
      gone: ["service.connection.transport"],
      empty: ["service.connection.tcp"],
    },
    "egressSelections[].connection.transport.tcp": {
      gone: ["service.connection.tcp"],
      empty: ["service.connection.url"],
    },
    "egressSelections[].connection.transport.tcp.url": both("service.connection.url"),
    "egressSelections[].connection.transport.tcp.tlsConfig": {
      gone: ["service.connection.tlsConfig"],
      empty: ["service.connection.tlsConfig.clientCert", "service.connection.tlsConfig.clientKey"],
    },
    "egressSelections[].connection.transport.tcp.tlsConfig.clientKey": both("service.connection.tlsConfig.clientKey"),
    "egressSelections[].connection.transport.tcp.tlsConfig.clientCert": both("service.connection.tlsConfig.clientCert"),
    "egressSelections[].connection.transport.uds": {
      gone: ["service.connection.uds"],
      empty: ["service.connection.udsName"],
    },
    "egressSelections[].connection.transport.uds.udsName": both("service.connection.udsName"),
  },
  TracingConfiguration: { endpoint: free, samplingRatePerMillion: free },
};

const svcRows: typeof kubernetesRows = {
  AuthenticationConfiguration: {
    ...authenticationRows,
    jwt: { gone: "itself", empty: "nothing" },
    "jwt[].claimMappings.uid": { gone: "nothing", empty: "itself" },
    "jwt[].claimMappings.uid.claim": both("jwt[0].claimMappings.uid"),
    anonymous: { gone: "nothing", empty: ["anonymous.enabled"] },
    "anonymous.enabled": {
      gone: ["anonymous.enabled", "anonymous.conditions"],
      empty: ["anonymous.conditions"],
    },
    "anonymous.conditions[].path": needed,
  },
  AuthorizationConfiguration: {
    authorizers: needed,
    "authorizers[].type": needed,
    "authorizers[].name": needed,
    "authorizers[].webhook": {
      gone: "itself",
      empty: [
        "matchConditions",
        "matchConditionSubjectAccessReviewVersion",
        "timeout",
        "authorizedTTL",
        "unauthorizedTTL",
        "subjectAccessReviewVersion",
        "failurePolicy",
        "connectionInfo.type",
      ].map((name) => `authorizers[0].webhook.${name}`),
    },
    "authorizers[].webhook.authorizedTTL": needed,
    "authorizers[].webhook.unauthorizedTTL": needed,
    "authorizers[].webhook.timeout": needed,
    "authorizers[].webhook.subjectAccessReviewVersion": needed,
    "authorizers[].webhook.matchConditionSubjectAccessReviewVersion": needed,
    "authorizers[].webhook.failurePolicy": needed,
    "authorizers[].webhook.connectionInfo": both("authorizers[0].webhook.connectionInfo.type"),
    "authorizers[].webhook.connectionInfo.type": needed,
    "authorizers[].webhook.connectionInfo.svcConfigFile": needed,
    "authorizers[].webhook.matchConditions": { gone: "itself", empty: "nothing" },
    "authorizers[].webhook.matchConditions[].expression": needed,
  },
  EgressSelectorConfiguration: {
    ...egressRows,
    egressSelections: { gone: "itself", empty: "nothing" },
    "egressSelections[].name": needed,
    "egressSelections[].connection": both("egressSelections[0].connection.proxyProtocol"),
    "egressSelections[].connection.proxyProtocol": needed,
    "egressSelections[].connection.transport": {
      gone: "itself",
      empty: ["egressSelections[0].connection.transport.tcp"],
    },
    "egressSelections[].connection.transport.tcp": {
      gone: "itself",
      empty: ["egressSelections[0].connection.transport.tcp.url"],
    },
    "egressSelections[].connection.transport.tcp.url": needed,
    "egressSelections[].connection.transport.tcp.tlsConfig": {
      gone: "itself",
      empty: ["clientCert", "clientKey"].map(
        (name) => `egressSelections[0].connection.transport.tcp.tlsConfig.${name}`,
      ),
    },
    "egressSelections[].connection.transport.tcp.tlsConfig.clientKey": needed,
    "egressSelections[].connection.transport.tcp.tlsConfig.clientCert": needed,
    "egressSelections[].connection.transport.uds": {
      gone: "itself",
      empty: ["egressSelections[1].connection.transport.uds.udsName"],
    },
    "egressSelections[].connection.transport.uds.udsName": needed,
  },
  TracingConfiguration: { endpoint: free, samplingRatePerMillion: free },
};

function both(field: string): Row {
  return { gone: [field], empty: [field] };
}
/** The observed server leaves a part out of the paths below a webhook. */
function below(name: string): string {
  return `authorizers[0].${name}`;
}

describe.each([
  ["kubernetes", kubernetesRules, kubernetesRows],
  ["svc", svcRules, svcRows],
] as const)("%s", (_profile, rules, rows) => {
  describe.each(serverKinds)("%s", (kind) => {
    const file = whole(rules)[kind];
    const told = (text: string): readonly string[] => {
      const read = readConfiguration(kind, text, bareSetting(rules));
      return read.ok ? [] : [...new Set(read.problems.map(({ field }) => field))].sort();
    };
    const paths = pathsIn(file).filter(([first]) => first !== "apiVersion" && first !== "kind");

    test("the whole file is good, and has every field that there is", () => {
      expect(told(JSON.stringify(file))).toEqual([]);
      const there = new Set(paths.map((path) => pattern(path)));
      const known = fieldsOf(JSON.parse(JSON.stringify(toSchema(rules, kind))) as Schema, "");
      expect(known.filter((name) => !there.has(name) && !others[kind].includes(name))).toEqual([]);
    });

    test("a field that nobody knows is told, wherever it stands", () => {
      for (const path of [[], ...paths].filter((each) => isPlain(at(file, each)))) {
        const wrong = changed(file, [...path, "colour"], "red");
        expect(told(JSON.stringify(wrong))).toEqual([shown([...path, "colour"])]);
      }
    });

    test("a field that stands twice is told, wherever it stands", () => {
      for (const path of paths) {
        if (typeof path.at(-1) === "number") continue;
        expect(told(doubled(file, path)), shown(path)).toContain(shown(path));
      }
    });

    test("a value of another type is told, whatever it is", () => {
      for (const path of paths) {
        for (const value of otherTypes(at(file, path))) {
          const fields = told(JSON.stringify(changed(file, path, value)));
          expect(fields, `${shown(path)}: ${JSON.stringify(value)}`).toContain(shown(path));
        }
      }
    });

    test("what has to be there is told when it is gone or empty, and what has not is not", () => {
      const seen = new Set<string>();
      for (const path of paths) {
        const name = pattern(path);
        const row = rows[kind][name];
        if (seen.has(name) || (row === undefined && name.endsWith("[]"))) continue;
        seen.add(name);
        expect(row, `a row for ${name}`).toBeDefined();
        const { gone, empty } = row as Row;
        expect(told(JSON.stringify(changed(file, path, undefined))), `${name} gone`).toEqual(expected(gone, path));
        if (typeof path.at(-1) === "string") {
          expect(told(JSON.stringify(changed(file, path, null))), `${name} null`).toEqual(expected(gone, path));
        }
        const value = emptied(at(file, path));
        if (value === undefined) continue;
        expect(told(JSON.stringify(changed(file, path, value))), `${name} empty`).toEqual(expected(empty, path));
      }
    });
  });
});

const expected = (told: Told, path: Path): readonly string[] =>
  told === "nothing" ? [] : told === "itself" ? [shown(path)] : [...told].sort();

type Plain = Readonly<Record<string, unknown>>;
const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Every field and every item, from the outside in. */
function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  const keys = Array.isArray(value) ? value.map((_item, index) => index) : isPlain(value) ? Object.keys(value) : [];
  return keys.flatMap((key) => {
    const inner = [...path, key];
    return [inner, ...pathsIn((value as Record<string | number, unknown>)[key], inner)];
  });
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value);

/** Undefined takes it away. */
function changed(value: unknown, [key, ...rest]: Path, to: unknown): unknown {
  if (key === undefined) return to;
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => {
      if (index !== key) return [item];
      const next = changed(item, rest, to);
      return next === undefined ? [] : [next];
    });
  }
  return { ...(value as Plain), [key]: changed((value as Plain)[key], rest, to) };
}

const shown = (path: Path): string =>
  path.map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${key}`)).join("");
const pattern = (path: Path): string => shown(path).replace(/\[\d+\]/g, "[]");

/** The file as JSON, with the field at `path` written once more. */
function doubled(value: unknown, path: Path): string {
  const write = (each: unknown, here: Path): string => {
    if (Array.isArray(each)) return `[${each.map((item, index) => write(item, [...here, index])).join(",")}]`;
    if (!isPlain(each)) return JSON.stringify(each);
    const fields = Object.entries(each).flatMap(([key, field]) => {
      const inner = [...here, key];
      const text = `${JSON.stringify(key)}:${write(field, inner)}`;
      return shown(inner) === shown(path) ? [text, text] : [text];
    });
    return `{${fields.join(",")}}`;
  };
  return write(value, []);
}

function otherTypes(value: unknown): readonly unknown[] {
  const all = ["text", 5, 1.5, true, ["x"], { a: "b" }];
  if (typeof value === "number") return all.filter((each) => each !== 5);
  const kindOf = (each: unknown): string => (Array.isArray(each) ? "list" : typeof each);
  return all.filter((each) => kindOf(each) !== kindOf(value));
}

const emptied = (value: unknown): unknown =>
  Array.isArray(value)
    ? []
    : isPlain(value)
      ? {}
      : typeof value === "string"
        ? ""
        : typeof value === "boolean"
          ? false
          : undefined;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const toSchema = (rules: ConfigurationRules, kind: ServerKind): unknown =>
  z.toJSONSchema(shapeOf(kind, rules), { io: "input" });

function fieldsOf({ properties, items }: Schema, path: string): readonly string[] {
  if (items !== undefined) return fieldsOf(items, `${path}[]`);
  return Object.entries(properties ?? {}).flatMap(([name, inner]) => {
    if (path === "" && (name === "apiVersion" || name === "kind")) return [];
    const field = path === "" ? name : `${path}.${name}`;
    return [field, ...fieldsOf(inner, field)];
  });
}
