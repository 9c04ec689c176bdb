/** Configurations to apply, and the request that applies them. */
import type { Answer, TestBed } from "../test-bed.fixture.ts";

export const deployments = "/apis/apps/v1/namespaces/default/deployments";

interface ApplyOptions {
  readonly manager?: string;
  readonly query?: string;
  readonly type?: string;
}

export function apply(bed: TestBed, path: string, body: unknown, options: ApplyOptions = {}): Answer {
  const { manager = "alpha", query = "", type = "application/apply-patch+yaml" } = options;
  return bed.ask(`PATCH ${path}?fieldManager=${manager}${query}`, { headers: { "content-type": type }, body });
}

export const map = (data: Readonly<Record<string, unknown>>, more: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...more },
  data,
});

export const deployment = (spec: object) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d" },
  spec,
});
export const template = (...containers: readonly object[]) => ({
  selector: { matchLabels: { a: "b" } },
  template: { metadata: { labels: { a: "b" } }, spec: { containers } },
});
