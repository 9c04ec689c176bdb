import { describe, expect, it } from "vitest";
import { certificateMaker } from "../../http/certificates/certificate-maker.ts";
import { lifetimeSeconds, requestsPath, world } from "./keeper-world.fixture.ts";

describe("a client certificate", () => {
  it("is asked for as the node, approved by the cluster, and goes with its key", () => {
    const { bed, keep, made, requests } = world();
    keep();
    bed.advance(5);
    expect(made).toHaveLength(1);
    const { certificate, privateKey, notAfterUnixMillis } = (made[0] as (typeof made)[0]).held;
    expect(certificateMaker.read(certificate, privateKey)?.notAfterUnixMillis).toBe(notAfterUnixMillis);
    const [request] = requests();
    expect(request).toMatchObject({
      spec: {
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        usages: ["digital signature", "client auth"],
        username: "admin",
      },
      status: { conditions: [{ type: "Approved", reason: "AutoApproved" }] },
    });
  });

  it("is replaced between 70 and 90 percent of its lifetime, again and again", () => {
    const { bed, keep, made } = world();
    keep();
    bed.advance(10 * lifetimeSeconds);
    expect(made.length).toBeGreaterThanOrEqual(11);
    for (let at = 1; at < made.length; at++) {
      const { notBeforeUnixMillis: from, notAfterUnixMillis: to } = (made[at - 1] as (typeof made)[0]).held;
      const share = ((1_900_000_000_000 + (made[at] as (typeof made)[0]).atSeconds * 1000 - from) / (to - from)) * 100;
      expect(share).toBeGreaterThanOrEqual(70);
      expect(share).toBeLessThan(91);
    }
    expect(new Set(made.map(({ held }) => held.privateKey)).size).toBe(made.length);
  });

  it("that is held is kept until then", () => {
    const first = world();
    first.keep();
    first.bed.advance(5);
    const second = world();
    second.keep(first.made[0]?.held);
    second.bed.advance(lifetimeSeconds / 2);
    expect([second.made.length, second.requests().length]).toEqual([0, 0]);
    second.bed.advance(lifetimeSeconds / 2);
    expect(second.made).toHaveLength(1);
  });

  it("is not approved for whoever may not create requests of nodes", () => {
    const { bed, keep, made, requests } = world({ modes: ["RBAC"] });
    const rules = [{ apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: ["*"] }];
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const bind = (name: string, role: object[]): void => {
      bed.ask(`POST ${rbac}/clusterroles`, { as: "admin", body: { metadata: { name }, rules: role } });
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
      const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }];
      bed.ask(`POST ${rbac}/clusterrolebindings`, { as: "admin", body: { metadata: { name }, roleRef, subjects } });
    };
    bind("asks", rules);
    keep();
    bed.advance(120);
    expect([made.length, requests().length]).toEqual([0, 1]);
    bind("nodes", [{ ...rules[0], resources: ["certificatesigningrequests/nodeclient"], verbs: ["create"] }]);
    bed.advance(1200);
    expect(made).not.toEqual([]);
  });
});

describe("a serving certificate", () => {
  it("waits for a person, and names what the node is called", () => {
    const own = world({ purpose: "serving" });
    own.keep();
    own.bed.advance(300);
    expect(own.made).toEqual([]);
    own.decide("Approved");
    own.bed.advance(5);
    const { certificate } = (own.made[0] as (typeof own.made)[0]).held;
    expect(own.requests()[0]).toMatchObject({ spec: { signerName: "kubernetes.io/kubelet-serving" } });
    expect(certificate).toContain("BEGIN CERTIFICATE");
  });

  it("is asked for anew when the request is denied, later each time, and after a quarter of an hour", () => {
    const own = world({ purpose: "serving" });
    own.keep();
    own.bed.advance(1);
    own.decide("Denied");
    own.bed.advance(1);
    expect(own.warnings.at(-1)).toMatch(/^serving certificate: csr-\S+ is denied \(Test: by hand\); trying again\.$/);
    own.bed.advance(2);
    own.decide("Denied");
    own.bed.advance(3);
    expect(own.requests()).toHaveLength(2);
    own.bed.advance(2);
    expect(own.requests()).toHaveLength(3);
    own.bed.advance(16 * 60);
    expect(own.requests()).toHaveLength(4);
    expect(own.warnings.join("\n")).toContain("nobody has signed the request in time");
  });
});

it("a request that has been deleted, and a certificate for another key, are no end", () => {
  const own = world({ approves: false });
  own.keep();
  own.bed.advance(1);
  const { name } = (own.requests()[0] as { readonly metadata: { readonly name: string } }).metadata;
  own.bed.ask(`DELETE ${requestsPath}/${name}`, { as: "admin" });
  own.bed.advance(6);
  expect(own.warnings.join("\n")).toContain(`${name} has been deleted`);
  own.decide("Approved");
  own.bed.advance(5);
  expect(own.made).toHaveLength(1);

  const fooled = world({
    maker: {
      ...certificateMaker,
      read: (pem) =>
        certificateMaker.read(
          pem,
          certificateMaker.request({ commonName: "x", organizations: [], hosts: [] }).privateKey,
        ),
    },
  });
  fooled.keep();
  fooled.bed.advance(30);
  expect(fooled.made).toEqual([]);
  expect(fooled.warnings.join("\n")).toMatch(/is no certificate for its key; trying again/);
});
