import { expect, it } from "vitest";
import { TestBed } from "../../apiserver/test-bed.fixture.ts";
import { Cluster } from "../../cluster/cluster.ts";
import type { Payload } from "../../contract/http-message.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { misreadingNames } from "./misreader.ts";

/** 2^60 + 1, which no double holds. */
const wide = "1152921504606846977";
const template = `{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`;
const job = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"activeDeadlineSeconds":${wide},"template":${template}}}`;

it.each(misreadingNames)("%s breaks what it is for, and not the answer with an integer of 64 bits", (bug) => {
  const kernel = new Kernel({ seed: "1" });
  const client = kernel.process("client");
  const { made } = new Cluster({ kernel }).addServer("server", () => ({ bugs: [bug], anonymousAuth: true }));
  const answers: [number, string][] = [];
  const responder = {
    respond: (status: number, _headers: unknown, payload: Payload) =>
      void answers.push([status, new TextDecoder().decode(payload.bytes())]),
    open: () => undefined,
    frame: () => 0,
    close: () => undefined,
  };
  const path = "/apis/batch/v1/namespaces/default/jobs";
  const headers = { "content-type": "application/json" };
  for (const request of [
    { method: "POST", path, query: "", headers, body: new TextEncoder().encode(job) },
    { method: "GET", path: `${path}/j`, query: "", headers: {} },
  ]) {
    kernel.enter(client, () => made.start(request, responder));
    kernel.run(kernel.nowMicros() + 1_000_000);
  }
  expect(answers.map(([status]) => status)).not.toContain(500);
  expect(answers.at(-1)?.[1]).toContain(wide.slice(0, 15));
});

const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }];
const names = { plural: "widgets", kind: "Widget" };
const definition = {
  metadata: { name: "widgets.example.com" },
  spec: { group: "example.com", scope: "Namespaced", names, versions },
};

/** Neither is updated without a version. */
it.each(misreadingNames)("%s leaves controllers to say that a budget is seen and a definition served", (bug) => {
  const bed = new TestBed({ profile: kubernetesProfile, bugs: [bug] });
  bed.ask(`POST ${budgets}`, { body: { metadata: { name: "b" }, spec: { maxUnavailable: 1, selector: {} } } });
  bed.ask(`POST ${definitions}`, { body: definition });
  bed.advance(10);
  const status = (path: string, field: string): unknown => bed.ask(`GET ${path}`).at(`status.${field}`);
  expect(status(`${budgets}/b`, "observedGeneration")).toBe(1);
  expect(status(`${definitions}/widgets.example.com`, "conditions.1.status")).toBe("True");
});
