import { expect, it } from "vitest";
import { deletesFew } from "./few-deletions.ts";

it.each([
  ["/api/v1/namespaces/a/configmaps/b", true],
  ["/api/v1/namespaces/a/pods/b?gracePeriodSeconds=0", true],
  ["/api/v1/nodes/a", true],
  ["/api/v1/namespaces/a", true],
  ["/apis/apps/v1/namespaces/a/deployments/b", true],
  ["/apis/example.com/v1/widgets/a", true],
  ["/api/v1/namespaces/a/configmaps?limit=100", true],
  ["/api/v1/namespaces/a/configmaps?labelSelector=a%3Db&limit=7", true],
  ["/api/v1/namespaces/a/configmaps", false],
  ["/apis/apps/v1/namespaces/a/deployments", false],
  ["/apis/example.com/v1/widgets?limit=101", false],
  ["/api/v1/nodes?limit=0", false],
  ["/api/v1/nodes?limit=1e1", false],
  ["/api/v1/namespaces", false],
  [`/api/v1/nodes/a?${"b".repeat(5000)}`, false],
  ["/", false],
])("%s", (url, isFew) => {
  expect(deletesFew(url)).toBe(isFew);
});
