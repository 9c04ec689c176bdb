import { expect, it } from "vitest";
import { collectionProblem, type CollectionVerb } from "./collection-paths.ts";
import { kubernetesDialect, svcDialect } from "./dialect.ts";
import { resourceRows } from "./resources.ts";

const problem = (path: string, verb: CollectionVerb = "list", ownGroups: readonly string[] = []) =>
  collectionProblem(path, verb, kubernetesDialect, ownGroups);

it("every collection that can be listed is served, in a namespace and in all of them", () => {
  for (const { groupVersion, resource, namespaced, verbs } of resourceRows) {
    const root = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
    const paths = [`${root}/${resource}`, ...(namespaced ? [`${root}/namespaces/default/${resource}`] : [])];
    for (const path of paths)
      expect([path, collectionProblem(path, "list", svcDialect, []) === undefined]).toEqual([
        path,
        verbs.includes("list"),
      ]);
  }
});

it.each([
  ["/api/v1/podz", "the server serves no podz under /api/v1; did you mean pods?"],
  ["/api/v1/namespaces/default/podz", "the server serves no podz under /api/v1; did you mean pods?"],
  ["/api/v2/pods", "the server serves nothing under /api/v2; did you mean /api/v1?"],
  [
    "/apis/app/v1/deployments",
    "the server serves nothing under /apis/app/v1; did you mean /apis/apps/v1, /apis/batch/v1?",
  ],
  ["/apis/policy.svc.io/v1/x", "the server serves nothing under /apis/policy.svc.io/v1; did you mean /apis/policy/v1?"],
  ["/api/v1/namespaces/default/nodes", "nodes are in no namespace: write /api/v1/nodes"],
  ["/api/v1/bindings", "the server lets nobody list bindings"],
  [
    "/api/v1/nodes/node-1",
    "expected the path of a collection such as /api/v1/pods, and not that of one object or of a part of one",
  ],
])("%s is told", (path, message) => {
  expect(problem(path)).toBe(message);
});

it("groups are as the dialect spells them, and those of the user are the user's", () => {
  expect(problem("/apis/coordination.k8s.io/v1/leases", "watch")).toBeUndefined();
  expect(problem("/apis/coordination.svc.io/v1/leases")).toContain("serves nothing");
  expect(collectionProblem("/apis/coordination.svc.io/v1/leases", "patch", svcDialect, [])).toBeUndefined();
  expect(problem("/apis/example.com/v1/widgets")).toContain("serves nothing");
  expect(problem("/apis/example.com/v1/widgets", "list", ["example.com"])).toBeUndefined();
});
