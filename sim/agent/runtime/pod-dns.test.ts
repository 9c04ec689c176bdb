import { describe, expect, it } from "vitest";
import { podOf } from "../pods/pod-types.ts";
import { type DnsFacts, parseResolverFile, podDns } from "./pod-dns.ts";

const host = parseResolverFile(
  "# a comment\nnameserver 192.168.0.1\nnameserver fe80::1\ndomain old\nsearch one.example. two.example\noptions ndots:2 rotate\n",
);
const pod = (spec: object) =>
  podOf({ metadata: { name: "p", namespace: "ns", uid: "1" }, spec: { containers: [], ...spec } as never });
const dns = (facts: Partial<DnsFacts>, spec: object = {}) =>
  podDns({ clusterDns: [], clusterDomain: "", hostDns: host, ...facts }, pod(spec));
const cluster = { clusterDns: ["10.0.0.10"], clusterDomain: "cluster.local" };

describe("the resolver of a pod", () => {
  it("is the machine's where the cluster has none, or the pod asks for it", () => {
    const machines = {
      servers: ["192.168.0.1", "fe80::1"],
      searches: ["one.example", "two.example"],
      options: ["ndots:2", "rotate"],
    };
    expect(dns({})).toEqual(machines);
    expect(dns(cluster, { dnsPolicy: "Default" })).toEqual(machines);
    expect(dns(cluster, { hostNetwork: true })).toEqual(machines);
  });

  it("is none where no file says what the machine's is", () => {
    expect(dns({ hostDns: undefined })).toEqual({ servers: ["127.0.0.1"], searches: ["."] });
  });

  it("is the cluster's, which searches what the machine does after its own domains", () => {
    expect(dns(cluster)).toEqual({
      servers: ["10.0.0.10"],
      searches: ["ns.svc.cluster.local", "svc.cluster.local", "cluster.local", "one.example", "two.example"],
      options: ["ndots:5"],
    });
    expect(dns(cluster, { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" }).servers).toEqual(["10.0.0.10"]);
  });

  it("is joined with what the pod says, three servers and 32 domains at most", () => {
    const own = {
      nameservers: ["1.1.1.1", "10.0.0.10", "2.2.2.2", "3.3.3.3"],
      searches: Array.from({ length: 40 }, (_, at) => `d${at}.example`),
      options: [{ name: "ndots", value: "1" }, { name: "edns0" }],
    };
    const joined = dns(cluster, { dnsConfig: own });
    expect(joined.servers).toEqual(["10.0.0.10", "1.1.1.1", "2.2.2.2"]);
    expect(joined.searches).toHaveLength(32);
    expect(joined.options).toEqual(["ndots:1", "edns0"]);
    expect(dns(cluster, { dnsPolicy: "None", dnsConfig: { nameservers: ["9.9.9.9"] } })).toEqual({
      servers: ["9.9.9.9"],
      searches: [],
    });
  });
});
