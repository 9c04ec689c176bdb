import { describe, expect, it } from "vitest";
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import type { WireRequest } from "../../../wire/ports.ts";
import { runSuite } from "../../run-suite.ts";
import {
  jumpingClock,
  refusal,
  type ScriptedAnswer,
  scriptedTransport,
} from "../../testing/scripted-target.fixture.ts";

interface Metadata {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  creationTimestamp?: string;
}

type Wrong =
  | "takes any name"
  | "takes no long name"
  | "prefix first"
  | "path ignored"
  | "names nothing"
  | "one name for all kinds"
  | "namespaces twice";

const ok = (status: number, json: unknown): ScriptedAnswer => ({ status, json });

/** Objects by path, as a lawful server keeps them, but for what is wrong with it. */
function target(wrong?: Wrong) {
  const objects = new Map<string, { metadata: Metadata }>();
  let version = 0;
  const store = (path: string, object: { metadata: Metadata }, name: string) => {
    const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
    const kept = {
      uid: String(++version),
      resourceVersion: String(version),
      creationTimestamp: "2026-01-01T00:00:00Z",
    };
    const metadata = { ...object.metadata, name, ...(namespace === undefined ? {} : { namespace }), ...kept };
    const stored = { ...object, metadata };
    objects.set(`${path}/${name}`, stored);
    return stored;
  };
  const create = (path: string, object: { metadata: Metadata }): ScriptedAnswer => {
    const { name: given, generateName, namespace } = object.metadata;
    if (namespace !== undefined && !path.includes(`/${namespace}/`)) return refusal(400, "BadRequest");
    const made = generateName === undefined ? undefined : `${generateName.slice(0, 58)}x1y2z`;
    const name = wrong === "prefix first" ? (made ?? given) : (given ?? made);
    if (name === undefined)
      return wrong === "names nothing" ? ok(201, store(path, object, "unnamed")) : refusal(422, "Invalid");
    const allowed = dns1123SubdomainErrors(name).length === 0 && !(wrong === "takes no long name" && name.length > 200);
    if (!allowed && wrong !== "takes any name") return refusal(422, "Invalid");
    const held = wrong === "one name for all kinds" && path.endsWith("podtemplates");
    const twice = objects.has(`${path}/${name}`) && !(wrong === "namespaces twice" && path.endsWith("/namespaces"));
    return held || twice ? refusal(409, "AlreadyExists") : ok(201, store(path, object, name));
  };
  return ({ method, path: full, body }: WireRequest): ScriptedAnswer => {
    const path = decodeURIComponent(full.split("?")[0] as string);
    const object = body === undefined ? undefined : (JSON.parse(String(body)) as { metadata: Metadata });
    if (method === "POST" && object !== undefined) return create(path, object);
    if (method === "PUT" && object !== undefined) {
      const same = path.endsWith(`/${String(object.metadata.name)}`);
      return same || wrong === "path ignored" ? ok(200, object) : refusal(400, "BadRequest");
    }
    if (method === "GET" && /\/(configmaps|namespaces)$/.test(path)) {
      const kind = path.endsWith("/configmaps") ? "ConfigMapList" : "NamespaceList";
      const items = [...objects]
        .filter(([at]) => at.startsWith(`${path}/`) && !at.slice(path.length + 1).includes("/"))
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([, item]) => item);
      return ok(200, { kind, apiVersion: "v1", metadata: { resourceVersion: String(version) }, items });
    }
    const found = objects.get(path);
    return found === undefined || method === "DELETE" ? refusal(404, "NotFound") : ok(200, found);
  };
}

async function judged(check: string, wrong?: Wrong) {
  const report = await runSuite({
    transport: scriptedTransport(target(wrong)),
    clock: jumpingClock(),
    profile: "svc",
    targetKind: "embedded",
    only: [check],
    runs: 20,
  });
  return report.checks[0]?.failure?.requirement ?? report.checks[0]?.verdict;
}

describe("names-follow-their-grammar", () => {
  const check = "names-follow-their-grammar";

  it("accepts a target that takes what the grammar allows", async () => {
    expect(await judged(check)).toMatchObject({ status: "passed" });
  });

  it.each([
    ["takes any name", "names.syntax"],
    ["takes no long name", "names.length"],
  ] as const)("rejects a target that %s", async (wrong, requirement) => {
    expect(await judged(check, wrong)).toBe(requirement);
  });
});

describe("names-come-from-their-request", () => {
  const check = "names-come-from-their-request";

  it("accepts a target that calls objects as their requests do", async () => {
    expect(await judged(check)).toMatchObject({ status: "passed" });
  });

  it.each([
    ["names nothing", "names.required"],
    ["prefix first", "names.explicit-wins"],
    ["path ignored", "names.mismatch"],
    ["one name for all kinds", "names.kinds-apart"],
    ["namespaces twice", "names.cluster-scope"],
  ] as const)("rejects a target: %s", async (wrong, requirement) => {
    expect(await judged(check, wrong)).toBe(requirement);
  });
});

describe("names-follow-the-rule-of-their-type", () => {
  const group = "rbac.authorization.svc.io/v1";
  const named = (...names: string[]) => ok(200, { resources: names.map((name) => ({ name, verbs: ["create"] })) });

  /** A target with services and roles, each by its rule, or all by one. */
  async function verdict(rules: { services: RegExp; roles: RegExp }, created = 201) {
    const report = await runSuite({
      transport: scriptedTransport(({ method, path: full, body }) => {
        const path = full.split("?")[0] as string;
        if (path === "/api/v1") return named("namespaces", "services");
        if (path === `/apis/${group}`) return named("roles");
        if (method !== "POST") return refusal(404, "NotFound");
        const { name } = (JSON.parse(String(body)) as { metadata: { name: string } }).metadata;
        const { [path.split("/").at(-1) as string]: rule = labels } = rules as Record<string, RegExp>;
        return rule.test(name) ? ok(created, {}) : refusal(422, "Invalid");
      }),
      clock: jumpingClock(),
      profile: "svc",
      targetKind: "embedded",
      only: ["names-follow-the-rule-of-their-type"],
      runs: 60,
    });
    return report.checks[0]?.failure?.requirement ?? report.checks[0]?.verdict;
  }
  const labels = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
  const services = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
  const roles = /^(?!\.{1,2}$)[^/%]+$/;

  it("accepts a target whose types have their rules", async () => {
    expect(await verdict({ services, roles })).toMatchObject({ status: "passed" });
    expect(await verdict({ services, roles }, 200)).toMatchObject({ status: "passed" });
  });

  it.each([
    ["services are named like roles", { services: roles, roles }],
    ["roles are named like services", { services, roles: services }],
    ["services begin with any digit", { services: labels, roles }],
  ])("rejects a target where %s", async (_, rules) => {
    expect(await verdict(rules)).toBe("names.rule-of-type");
  });
});
