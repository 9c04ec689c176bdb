import { describe, expect, it } from "vitest";
import { kindOfRequest, RequestCosts } from "./request-costs.ts";

const kind = (method: string, url: string): string => kindOfRequest({ method, url });

describe("which requests take long", () => {
  it("knows requests of a kind by what they ask for, whatever namespace and name they give", () => {
    expect(kind("GET", "/api/v1/namespaces/a/configmaps")).toBe("GET configmaps");
    expect(kind("GET", "/api/v1/namespaces/b/configmaps")).toBe("GET configmaps");
    expect(kind("GET", "/api/v1/configmaps?resourceVersion=0")).toBe("GET configmaps");
    expect(kind("GET", "/apis/apps/v1/namespaces/a/deployments/x")).toBe("GET deployments/…");
    expect(kind("GET", "/api/v1/namespaces/a/pods/x/log?follow=true")).toBe("GET pods/…/log");
    expect(kind("GET", "/api/v1/namespaces/a")).toBe("GET namespaces/…");
    expect(kind("GET", "/healthz")).toBe("GET healthz");
  });

  it("keeps apart what costs differently: pages, watches and selections", () => {
    const kinds = ["", "?limit=5", "?watch=1", "?labelSelector=a%3Db"].map((query) =>
      kind("GET", `/api/v1/pods${query}`),
    );
    expect(new Set(kinds).size).toBe(4);
    expect(kind("PUT", "/api/v1/pods")).not.toBe(kind("GET", "/api/v1/pods"));
  });

  it("never takes a probe for long, whatever it had to wait for", () => {
    const costs = new RequestCosts();
    for (const url of ["/healthz", "/readyz?verbose", "/livez/ping"]) {
      for (let times = 0; times < 3; times++) costs.took({ method: "GET", url }, 5_000);
      expect(costs.isLong({ method: "GET", url })).toBe(false);
    }
  });

  it("believes two in a row, and forgets them after one that was short", () => {
    const costs = new RequestCosts();
    const list = { method: "GET", url: "/api/v1/pods" };
    costs.took(list, 5_000);
    expect(costs.isLong(list)).toBe(false);
    costs.took(list, 5_000);
    expect(costs.isLong(list)).toBe(true);
    expect(costs.isLong({ method: "GET", url: "/healthz" })).toBe(false);
    costs.took(list, 500);
    expect(costs.isLong(list)).toBe(false);
  });

  it("remembers a bounded number of kinds, the latest of them", () => {
    const costs = new RequestCosts();
    for (let at = 0; at < 2_000; at++)
      for (let times = 0; times < 2; times++) costs.took({ method: "GET", url: `/apis/g/v1/of${at}` }, 2_000);
    expect(costs.isLong({ method: "GET", url: "/apis/g/v1/of1999" })).toBe(true);
    expect(costs.isLong({ method: "GET", url: "/apis/g/v1/of0" })).toBe(false);
  });

  it("takes what is no path of an API, and paths of any length", () => {
    for (const url of ["", "/", "//", "?", "/api", "/apis/", `/${"a/".repeat(50_000)}`, `/${"b".repeat(100_000)}`])
      expect(kind("GET", url).length).toBeLessThan(300);
    expect(kindOfRequest({})).toBe(" ");
  });
});
