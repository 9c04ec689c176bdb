import { expect, it } from "vitest";
import { kubernetesProfile, profiles } from "../contract/profile.ts";
import { TestBed } from "../apiserver/test-bed.fixture.ts";

const deployments = "/apis/apps/v1/namespaces/default/deployments";
const headers = { "content-type": "application/json" };
const spec = {
  selector: { matchLabels: { a: "b" } },
  template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
};

it.each([
  [kubernetesProfile, null],
  [profiles["kubernetes-1.36"], undefined],
])("Templates have no time, and what writes nothing new changes nothing: 1.%#", (profile, time) => {
  const bed = new TestBed({ profile });
  const made = bed.ask(`POST ${deployments}`, { headers, body: { metadata: { name: "d" }, spec } });
  expect([made.status, made.at("spec.template.metadata.creationTimestamp")]).toEqual([201, time]);
  const again = bed.ask(`PUT ${deployments}/d`, { headers, body: { metadata: { name: "d" }, spec } });
  const patched = bed.merge(`${deployments}/d`, { spec: { template: { metadata: { creationTimestamp: null } } } });
  for (const answer of [again, patched]) {
    expect(answer.at("metadata.resourceVersion")).toBe(made.at("metadata.resourceVersion"));
    expect(answer.at("metadata.generation")).toBe(1);
  }
});
