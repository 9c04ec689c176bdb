import { describe, expect, it } from "vitest";
import { labelValueErrors, qualifiedNameErrors } from "../../../wire/names.ts";
import type { WireRequest } from "../../../wire/ports.ts";
import { runSuite } from "../../run-suite.ts";
import {
  jumpingClock,
  refusal,
  type ScriptedAnswer,
  scriptedTransport,
} from "../../testing/scripted-target.fixture.ts";

interface Metadata {
  readonly name?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly Readonly<Record<string, unknown>>[];
}

type Rule = (metadata: Metadata) => boolean;

const fits = (errors: readonly string[]): boolean => errors.length === 0;

/** A lawful server's rules, by requirement. */
const rules: Readonly<Record<string, Rule>> = {
  "names.labels": ({ labels }) =>
    Object.entries(labels ?? {}).every(
      ([key, value]) => fits(qualifiedNameErrors(key)) && fits(labelValueErrors(value)),
    ),
  "names.annotations": ({ annotations }) =>
    Object.keys(annotations ?? {}).every((key) => fits(qualifiedNameErrors(key.toLowerCase()))),
  "names.annotations-size": ({ annotations }) =>
    Object.entries(annotations ?? {}).reduce((sum, [key, value]) => sum + Buffer.byteLength(key + value), 0) <= 262_144,
  "names.finalizers": ({ finalizers }) =>
    (finalizers ?? []).every((name) => name.includes("/") && fits(qualifiedNameErrors(name))),
  "names.owners": ({ ownerReferences: owners }) =>
    (owners ?? []).every((owner) => ["apiVersion", "kind", "name", "uid"].every((field) => owner[field] !== "")) &&
    (owners ?? []).every(({ kind }) => kind !== "Event") &&
    (owners ?? []).filter(({ controller }) => controller === true).length < 2,
};

/** Keeps objects by path, and what of a write is metadata alone. `wrong`: a rule by another one. */
function target(wrong: Readonly<Record<string, Rule>>, byVerb: string | undefined) {
  const objects = new Map<string, { metadata: Metadata }>();
  let version = 0;
  return ({ method, path: full, body, headers }: WireRequest): ScriptedAnswer => {
    const [path = "", query = ""] = decodeURIComponent(full).split("?");
    const given = body === undefined ? undefined : (JSON.parse(String(body)) as { metadata: Metadata });
    if (path === "/api/v1") {
      const resources = ["configmaps", "namespaces"].map((name) => ({
        name,
        namespaced: name === "configmaps",
        verbs: ["create", "get", "list", "watch", "update", "patch", "delete"],
      }));
      return { status: 200, json: { kind: "APIResourceList", resources } };
    }
    if (method === "GET" && /\/(configmaps|namespaces)$/.test(path)) {
      const items = [...objects].filter(
        ([at]) => at.startsWith(`${path}/`) && !at.slice(path.length + 1).includes("/"),
      );
      const kind = path.endsWith("/configmaps") ? "ConfigMapList" : "NamespaceList";
      const metadata = { resourceVersion: String(version) };
      return { status: 200, json: { kind, apiVersion: "v1", metadata, items: items.map(([, item]) => item) } };
    }
    if (method === "GET" || method === "DELETE" || given === undefined) {
      const found = objects.get(path);
      if (method === "DELETE") objects.delete(path);
      return found === undefined ? refusal(404, "NotFound") : { status: 200, json: found };
    }
    const existing = objects.get(path);
    if (Array.isArray(given) && existing !== undefined) {
      const { finalizers: _gone, ...metadata } = existing.metadata; // the one patch of this kind
      const patched = { ...existing, metadata: { ...metadata, resourceVersion: String(++version) } };
      objects.set(path, patched);
      return { status: 200, json: patched };
    }
    const judge = { ...rules, ...(byVerb === undefined || headers?.["content-type"]?.includes(byVerb) ? wrong : {}) };
    if (!path.endsWith("/namespaces") && !Object.values(judge).every((rule) => rule(given.metadata)))
      return refusal(422, "Invalid");
    const at = method === "POST" ? `${path}/${given.metadata.name}` : path;
    const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
    const creationTimestamp = "2026-01-01T00:00:00Z";
    const kept = {
      uid: at,
      creationTimestamp,
      resourceVersion: String(++version),
      ...(namespace === undefined ? {} : { namespace }),
    };
    const metadata = { ...objects.get(at)?.metadata, ...given.metadata, ...kept };
    const stored = { ...existing, ...given, metadata };
    if (!query.includes("dryRun=All")) objects.set(at, stored);
    return { status: method === "POST" ? 201 : 200, json: stored };
  };
}

async function judged(wrong: Readonly<Record<string, Rule>> = {}, byVerb?: string) {
  const report = await runSuite({
    transport: scriptedTransport(target(wrong, byVerb)),
    clock: jumpingClock(),
    profile: "svc",
    targetKind: "embedded",
    only: ["metadata-follows-its-grammar"],
    runs: 50,
  });
  return report.checks[0]?.failure?.requirement ?? report.checks[0]?.verdict;
}

describe("metadata-follows-its-grammar", () => {
  it("accepts a target that takes what the grammar allows", async () => {
    expect(await judged()).toMatchObject({ status: "passed" });
  });

  it.each(Object.keys(rules))("rejects a target that does not know of %s", async (requirement) => {
    expect(await judged({ [requirement]: () => true })).toBe(requirement);
  });

  it.each(Object.keys(rules).filter((name) => name !== "names.owners"))(
    "rejects a target that takes nothing of %s",
    async (requirement) => {
      const field = { "names.labels": "labels", "names.finalizers": "finalizers" }[requirement] ?? "annotations";
      const wrong = await judged({
        [requirement]: (metadata) =>
          metadata[field as keyof Metadata] === undefined ||
          Object.keys(metadata[field as keyof Metadata] as object).length === 0,
      });
      expect(wrong).toMatch(requirement === "names.annotations-size" ? "names.annotations" : requirement);
    },
  );

  it("rejects a target that forgets the rules in an apply", async () => {
    expect(await judged({ "names.finalizers": () => true }, "apply")).toBe("names.finalizers");
  });
});
