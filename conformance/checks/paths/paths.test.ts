import { describe, expect, it } from "vitest";
import { runSuite } from "../../run-suite.ts";
import { jumpingClock, type Script, scriptedTransport } from "../../testing/scripted-target.fixture.ts";

const verbs = ["get", "list"];
const resources = [
  { name: "namespaces", kind: "Namespace", namespaced: false, verbs },
  { name: "namespaces/status", kind: "Namespace", namespaced: false, verbs: ["get"] },
  { name: "pods", kind: "Pod", namespaced: true, verbs },
  { name: "pods/status", kind: "Pod", namespaced: true, verbs: ["get"] },
];
const missing = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "NotFound", code: 404 };
const notFound = { status: 404, json: { ...missing, message: "not found", details: {} } };

/** A target with namespaces and pods. `wrong` answers first; what it leaves alone is lawful. */
function judged(check: string, wrong: (method: string, path: string) => ReturnType<Script> | undefined) {
  const script: Script = ({ method, path: target, body }) => {
    const path = target.split("?")[0] as string;
    return wrong(method, path) ?? lawful(method, path, String(body ?? ""));
  };
  return runSuite({
    transport: scriptedTransport(script),
    clock: jumpingClock(),
    profile: "svc",
    targetKind: "embedded",
    only: [check],
  });
}

function lawful(method: string, path: string, body = ""): ReturnType<Script> {
  if (path === "/api/v1") return { status: 200, json: { groupVersion: "v1", resources } };
  if (path === "/apis") return { status: 200, json: { groups: [] } };
  if (path === "/api/v1/namespaces" && method === "GET") return listOf("Namespace");
  if (/^\/api\/v1\/namespaces\/[^/]+\/pods$/.test(path) && method === "GET") return listOf("Pod");
  if (path.includes("no-such-object") || method === "DELETE") return notFound;
  const pod = path.includes("/pods");
  const namespace = /\/namespaces\/([^/]+)/.exec(path)?.[1] ?? /"name":"([^"]+)"/.exec(body)?.[1];
  const own = pod ? { name: "a", namespace, uid: "1" } : { name: namespace, uid: "2" };
  const metadata = { ...own, resourceVersion: "1", creationTimestamp };
  return {
    status: method === "POST" ? 201 : 200,
    json: { apiVersion: "v1", kind: pod ? "Pod" : "Namespace", metadata },
  };
}

const creationTimestamp = "2026-01-02T03:04:05Z";
const listOf = (kind: string, apiVersion = "v1") => ({
  status: 200,
  json: { kind: `${kind}List`, apiVersion, metadata: { resourceVersion: "1" }, items: [] },
});

async function failureOf(check: string, wrong: Parameters<typeof judged>[1]): Promise<string | undefined> {
  const report = await judged(check, wrong);
  return report.checks[0]?.failure?.requirement;
}

describe("types-are-found-at-their-paths", () => {
  const check = "types-are-found-at-their-paths";

  it("accepts a target with each type at its path", async () => {
    expect((await judged(check, () => undefined)).conclusion).toBe("conformant");
  });

  it("passes over a type that goes while it is looked at, and not one that stays named", async () => {
    const groupVersion = "widgets.example.com/v1";
    const version = { groupVersion, version: "v1" };
    const groups = { groups: [{ name: "widgets.example.com", versions: [version], preferredVersion: version }] };
    const widgets = { groupVersion, resources: [{ name: "widgets", kind: "Widget", namespaced: true, verbs }] };
    const judgedWith = (looksUntilGone: number) => {
      let looks = 0;
      return judged(check, (_, path) => {
        if (path === "/apis") return { status: 200, json: looks++ < looksUntilGone ? groups : { groups: [] } };
        if (path === `/apis/${groupVersion}`) return { status: 200, json: widgets };
        return path.endsWith("/widgets") ? { status: 404, text: "404 page not found" } : undefined;
      });
    };
    for (const looks of [2, 3]) expect((await judgedWith(looks)).conclusion).toBe("conformant");
    expect((await judgedWith(1000)).conclusion).toBe("nonconformant");
  });

  it.each([
    ["a namespaced type that is not in namespaces", "paths.namespaced", /\/pods$/, notFound],
    ["a cluster-scoped type that is not without one", "paths.cluster-scoped", /\/v1\/namespaces$/, listOf("Pod")],
    ["a list of another group", "paths.prefixes", /\/pods$/, listOf("Pod", "apps/v1")],
    ["an object that nobody made", "paths.namespaced", /pods\/.*no-such/, { status: 200, json: { kind: "Pod" } }],
  ])("rejects %s", async (_, requirement, path, answer) => {
    const wrong = (method: string, at: string) => (method === "GET" && path.test(at) ? answer : undefined);
    expect(await failureOf(check, wrong)).toBe(requirement);
  });
});

describe("subresources-are-below-their-resource", () => {
  const check = "subresources-are-below-their-resource";

  it("accepts a target whose statuses are the objects themselves", async () => {
    expect((await judged(check, () => undefined)).conclusion).toBe("conformant");
  });

  it.each([
    ["no status of a namespace", "paths.cluster-subresource", /namespaces\/[^/]+\/status$/, notFound],
    ["no status of a pod", "paths.subresource", /pods\/a\/status$/, notFound],
    ["the status of another pod", "paths.subresource", /pods\/a\/status$/, lawful("GET", "/api/v1/namespaces/n")],
  ])("rejects %s", async (_, requirement, path, answer) => {
    expect(await failureOf(check, (_method, at) => (path.test(at) ? answer : undefined))).toBe(requirement);
  });
});

describe("proxied-requests-reach-what-they-name", () => {
  /** A target that proxies to the suite, and is wrong in one way. */
  async function proxied(wrong: "nothing" | "names of services" | "bodies" | "the verb"): Promise<unknown> {
    const reviews = new Map<string, (document: unknown) => unknown>();
    const host = {
      url: "https://192.0.2.7:4443",
      certificate: undefined,
      answer: (path: string, review: (document: unknown) => unknown) => {
        reviews.set(path, review);
        return () => void reviews.delete(path);
      },
      close: async () => {},
    };
    const names = ["namespaces", "services", "services/proxy", "endpoints"];
    const script: Script = ({ method, path, body }) => {
      if (path === "/api/v1") return { status: 200, json: { resources: names.map((name) => ({ name, verbs: [] })) } };
      const [, name, rest = ""] = /\/services\/(?:https:)?(\w+)(?::443)?\/proxy(.*)$/.exec(path) ?? [];
      if (name === undefined) return method === "POST" ? { status: 201, json: JSON.parse(String(body)) } : notFound;
      if (wrong === "the verb") return { status: 405, json: {} };
      if (body === undefined || (name !== "near" && wrong !== "names of services")) return { status: 503, json: {} };
      const sent = wrong === "bodies" ? {} : (JSON.parse(String(body)) as unknown);
      return { status: 200, json: reviews.get(rest)?.(sent) };
    };
    const transport = scriptedTransport(script);
    const report = await runSuite({
      transport,
      clock: jumpingClock(),
      profile: "svc",
      targetKind: "url",
      only: ["proxied-requests-reach-what-they-name"],
      webhooks: host,
    });
    // That nobody is there is an answer, and not waited for to change.
    expect(transport.requests.filter(({ path }) => path.endsWith("/far/proxy"))).toHaveLength(1);
    return report.checks[0]?.failure?.requirement ?? report.checks[0]?.verdict.status;
  }

  it("accepts a target that proxies, and lets one that does not be", async () => {
    expect(await proxied("nothing")).toBe("passed");
    expect(await proxied("the verb")).toBe("unsupported");
  });

  it.each(["names of services", "bodies"] as const)("rejects a target that loses %s", async (wrong) => {
    expect(await proxied(wrong)).toBe("paths.proxy");
  });
});
