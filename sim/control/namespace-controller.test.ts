import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../contract/profile.ts";
import { type Answer, TestBed } from "../apiserver/test-bed.fixture.ts";

const namespaces = "/api/v1/namespaces";
const merge = { "content-type": "application/merge-patch+json" };

/** A namespace `n` that is to go. */
class Cluster {
  readonly bed = new TestBed({ profile: kubernetesProfile });

  constructor() {
    this.bed.advance(1);
    this.ask(`POST ${namespaces}`, { metadata: { name: "n" } });
  }

  ask(request: string, body?: unknown, headers: Record<string, string> = {}): Answer {
    return this.bed.ask(request, { as: "admin", body, headers });
  }

  make(resource: string, metadata: object, more: object = {}): void {
    const made = this.ask(`POST ${namespaces}/n/${resource}`, { metadata, ...more });
    if (made.status !== 201) throw new Error(made.text);
  }

  condition(type: string): unknown {
    const conditions = this.ask(`GET ${namespaces}/n`).at("status.conditions") as { type: string; message: string }[];
    return conditions.find((each) => each.type === type)?.message;
  }

  status(path: string): number {
    return this.ask(`GET ${namespaces}/${path}`).status;
  }
}

describe("a namespace that is deleted", () => {
  it("goes with what is in it, and says before that all has gone", () => {
    const cluster = new Cluster();
    cluster.make("configmaps", { name: "a" });
    const watch = cluster.ask(`GET ${namespaces}?watch=1&fieldSelector=metadata.name%3Dn`);
    cluster.ask(`DELETE ${namespaces}/n`);
    cluster.bed.advance(5);
    expect(cluster.status("n")).toBe(404);
    const last = watch.events.at(-1)?.object["status"] as { conditions: { status: string }[] };
    expect(last.conditions.map(({ status }) => status)).toEqual(["False", "False", "False", "False", "False"]);
  });

  it("says what it waits for, and goes when that has gone", () => {
    const cluster = new Cluster();
    cluster.make("configmaps", { name: "a", finalizers: ["example.org/held"] });
    cluster.make("secrets", { name: "b" });
    cluster.ask(`DELETE ${namespaces}/n`);
    cluster.bed.advance(3);
    expect(cluster.status("n/secrets/b")).toBe(404);
    expect(cluster.condition("NamespaceContentRemaining")).toBe(
      "Some resources are remaining: configmaps. has 1 resource instances",
    );
    expect(cluster.condition("NamespaceFinalizersRemaining")).toBe(
      "Some content in the namespace has finalizers remaining: example.org/held in 1 resource instances",
    );
    const { resourceVersion } = cluster.ask(`GET ${namespaces}/n`).at("metadata") as { resourceVersion: string };
    cluster.bed.advance(10);
    expect(cluster.ask(`GET ${namespaces}/n`).at("metadata.resourceVersion")).toBe(resourceVersion);
    cluster.ask(`PATCH ${namespaces}/n/configmaps/a`, { metadata: { finalizers: null } }, merge);
    cluster.bed.advance(3);
    expect(cluster.status("n")).toBe(404);
  });

  it("waits for its pods before anything else goes", () => {
    const cluster = new Cluster();
    const containers = [{ name: "c", image: "i" }];
    cluster.make("pods", { name: "p" }, { spec: { nodeName: "node", terminationGracePeriodSeconds: 30, containers } });
    cluster.make("configmaps", { name: "a" });
    cluster.ask(`DELETE ${namespaces}/n`);
    cluster.bed.advance(5);
    expect([cluster.status("n/pods/p"), cluster.status("n/configmaps/a")]).toEqual([200, 200]);
    expect(cluster.condition("NamespaceContentRemaining")).toBe(
      "Some resources are remaining: pods. has 1 resource instances",
    );
    cluster.ask(`DELETE ${namespaces}/n/pods/p?gracePeriodSeconds=0`);
    cluster.bed.advance(5);
    expect([cluster.status("n/configmaps/a"), cluster.status("n")]).toEqual([404, 404]);
  });
});
