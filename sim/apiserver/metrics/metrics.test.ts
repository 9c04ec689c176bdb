import { describe, expect, it } from "vitest";
import { noControllers } from "../../control/controllers.ts";
import type { ApiServerOptions } from "../api-server.ts";
import { badRequest } from "../../contract/errors.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { configMaps, TestBed } from "../test-bed.fixture.ts";

const bedOf = (options: Partial<ApiServerOptions> = {}): TestBed =>
  new TestBed({ profile: kubernetesProfile, controllers: noControllers, ...options });

const scrape = (bed: TestBed): string => bed.ask("GET /metrics", { as: "admin" }).text;

/** The value of the one sample that has this name and these labels, among others. */
function sample(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const found = text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((part) => line.includes(part)));
  expect(found.length, `${name} ${wanted.join()}`).toBeLessThanOrEqual(1);
  return found[0] === undefined ? undefined : Number(found[0].slice(found[0].lastIndexOf(" ") + 1));
}

describe("metrics", () => {
  it("count requests by what was asked, the same in every run", () => {
    const play = (): string => {
      const bed = new TestBed({ profile: kubernetesProfile });
      for (const name of ["a", "b"]) bed.ask(`POST ${configMaps}`, { body: { metadata: { name } } });
      bed.ask(`POST ${configMaps}?dryRun=All`, { body: { metadata: { name: "c" } } });
      bed.ask(`POST ${configMaps}?dryRun=Some`, { body: { metadata: { name: "c" } } });
      bed.ask(`GET ${configMaps}/none`);
      bed.ask(`DELETE ${configMaps}`);
      bed.ask("GET /livez");
      const headers = { "content-type": "application/apply-patch+yaml" };
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "d" } };
      bed.ask(`PATCH ${configMaps}/d?fieldManager=m`, { headers, body });
      const answer = bed.ask("GET /metrics");
      expect(answer.contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
      return answer.text;
    };
    const text = play();
    const total = (labels: Readonly<Record<string, string>>): number | undefined =>
      sample(text, "apiserver_request_total", labels);
    const whole = 'group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 2\n';
    expect(text).toContain(`apiserver_request_total{code="201",component="apiserver",dry_run="",${whole}`);
    expect(total({ code: "201", dry_run: "All", scope: "resource", verb: "POST" })).toBe(1);
    expect(total({ code: "422", dry_run: "invalid" })).toBe(1);
    expect(total({ code: "404", dry_run: "", scope: "resource", verb: "GET", resource: "configmaps" })).toBe(1);
    expect(total({ code: "200", scope: "namespace", verb: "DELETE" })).toBe(1);
    expect(total({ code: "201", scope: "resource", verb: "APPLY" })).toBe(1);
    expect(total({ component: "", subresource: "/livez", verb: "GET", version: "" })).toBe(1);
    expect(play()).toBe(text);
  });

  it("tell how large answers and events were, what lists read, and what is stored", () => {
    const bed = bedOf();
    const watch = bed.ask(`GET ${configMaps}?watch=1`);
    for (const name of ["a", "b"]) bed.ask(`POST ${configMaps}`, { body: { metadata: { name } } });
    const read = bed.ask(`GET ${configMaps}/a`);
    bed.ask(`GET ${configMaps}?labelSelector=none`);
    bed.ask(`GET ${configMaps}?resourceVersion=${String(read.at("metadata.resourceVersion"))}&limit=1`);
    const text = scrape(bed);
    const ofGet = { resource: "configmaps", verb: "GET" };
    expect(sample(text, "apiserver_response_sizes_sum", ofGet)).toBe(read.text.length);
    expect(sample(text, "apiserver_response_sizes_bucket", { ...ofGet, le: "1000" })).toBe(1);
    expect(sample(text, "apiserver_longrunning_requests", { resource: "configmaps", verb: "WATCH" })).toBe(1);
    expect(sample(text, "apiserver_watch_events_total", { kind: "ConfigMap" })).toBe(2);
    expect(sample(text, "apiserver_watch_events_sizes_sum", { kind: "ConfigMap" })).toBe(watch.text.length);
    expect(sample(text, "apiserver_watch_cache_events_received_total", { resource: "configmaps" })).toBe(2);
    expect(sample(text, "apiserver_watch_cache_resource_version", { resource: "configmaps" })).toBe(bed.store.revision);
    expect(sample(text, "apiserver_storage_objects", { resource: "configmaps" })).toBe(3); // one is the server's own
    expect(sample(text, "apiserver_cache_list_fetched_objects_total", { resource_prefix: "/configmaps" })).toBe(2);
    expect(sample(text, "apiserver_cache_list_returned_objects_total", { resource_prefix: "/configmaps" })).toBe(0);
    expect(sample(text, "apiserver_storage_list_total", { resource: "configmaps" })).toBe(1);
    expect(sample(text, "apiserver_storage_list_returned_objects_total", { resource: "configmaps" })).toBe(1);
  });

  it("time requests by the server's clock, waits for others apart", () => {
    const costs = { seatMicros: () => 300_000, answerMicros: () => 0 };
    const limits = { readsMax: 1, queueMax: 1 };
    const bed = bedOf({ costs, limits });
    for (const _ of [1, 2, 3]) bed.ask(`GET ${configMaps}/none`);
    bed.advance(1);
    // The second waited for the seat of the first; for the third there was no place to wait.
    const scraping = bed.ask("GET /metrics", { as: "admin" });
    bed.advance(1);
    const { text } = scraping;
    const of = { resource: "configmaps", verb: "GET" };
    expect(sample(text, "apiserver_request_duration_seconds_sum", of)).toBeCloseTo(0.9, 6);
    expect(sample(text, "apiserver_request_duration_seconds_bucket", { ...of, le: "0.2" })).toBe(1);
    expect(sample(text, "apiserver_request_duration_seconds_bucket", { ...of, le: "0.4" })).toBe(2);
    expect(sample(text, "apiserver_request_duration_seconds_bucket", { ...of, le: "+Inf" })).toBe(3);
    expect(sample(text, "apiserver_request_sli_duration_seconds_sum", of)).toBeCloseTo(0.6, 6);
    expect(sample(text, "apiserver_request_terminations_total", { ...of, code: "429" })).toBe(1);
    const flow = { flow_schema: "global-default" };
    expect(sample(text, "apiserver_flowcontrol_rejected_requests_total", flow)).toBe(1);
    expect(sample(text, "apiserver_flowcontrol_dispatched_requests_total", flow)).toBe(2);
  });

  it("tell who has a seat and who waits for one", () => {
    const costs = { seatMicros: () => 300_000, answerMicros: () => 0 };
    const bed = bedOf({ costs, limits: { readsMax: 1, queueMax: 1 } });
    const scraping = bed.ask("GET /metrics", { as: "admin" }); // needs no seat, and tells of the moment when it is answered
    bed.advance(0.1);
    for (const _ of [1, 2]) bed.ask(`GET ${configMaps}/none`);
    bed.advance(1);
    const seats = (figure: string, kind: string): number | undefined =>
      sample(scraping.text, `apiserver_current_${figure}_requests`, { request_kind: kind });
    expect([seats("inflight", "readOnly"), seats("inqueue", "readOnly")]).toEqual([1, 1]);
    expect([seats("inflight", "mutating"), seats("inqueue", "mutating")]).toEqual([0, 0]);
  });

  it("count what controllers' queues have had to do", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    bed.advance(1);
    const queue = (figure: string): number | undefined =>
      sample(scrape(bed), `workqueue_${figure}`, { name: "namespace" });
    expect([queue("adds_total"), queue("depth"), queue("retries_total")]).toEqual([0, 0, 0]);
    const held = { metadata: { name: "a", finalizers: ["example.org/held"] } };
    bed.ask("POST /api/v1/namespaces", { as: "admin", body: { metadata: { name: "n" } } });
    bed.ask("POST /api/v1/namespaces/n/configmaps", { as: "admin", body: held });
    bed.ask("DELETE /api/v1/namespaces/n", { as: "admin" });
    expect([queue("adds_total"), queue("depth")]).toEqual([1, 1]);
    bed.advance(1.5);
    const retries = queue("retries_total") ?? 0;
    bed.advance(2);
    expect(queue("retries_total")).toBe(retries + 2); // once a second as long as something is left
    expect(queue("depth")).toBe(0);
    const took = (figure: string, more: object = {}): number | undefined =>
      sample(scrape(bed), `workqueue_${figure}`, { name: "namespace", ...more });
    const turns = took("queue_duration_seconds_count") ?? 0;
    expect([turns, took("work_duration_seconds_count")]).toEqual([queue("adds_total"), queue("adds_total")]);
    // Ten milliseconds, in which a client sees the state in between.
    expect(took("queue_duration_seconds_bucket", { le: "0.01" })).toBe(turns);
    expect(took("queue_duration_seconds_sum")).toBeGreaterThan(0.01);
    expect(took("work_duration_seconds_bucket", { le: "1" })).toBe(turns);
  });

  it("time the steps of admission that had something to say", () => {
    const bed = bedOf({
      admission: [
        {
          name: "slow",
          sideEffects: false,
          handles: ({ place }) => place.row.resource === "secrets",
          admit: ({ name }, done) => {
            const answer = name === "bad" ? badRequest("no") : {};
            return bed.process.clock.after(200_000, () => done(answer));
          },
        },
      ],
    });
    bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } });
    for (const name of ["good", "bad"])
      bed.ask("POST /api/v1/namespaces/default/secrets", { body: { metadata: { name } } });
    bed.ask("POST /api/v1/namespaces/default/pods", {
      body: { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } },
    });
    bed.advance(1);
    const took = (figure: string, labels: Record<string, string>): number | undefined =>
      sample(scrape(bed), `apiserver_admission_controller_admission_duration_seconds_${figure}`, {
        operation: "CREATE",
        ...labels,
      });
    expect(took("sum", { name: "slow", rejected: "true" })).toBeCloseTo(0.2, 6);
    expect(took("count", { name: "slow", rejected: "false" })).toBe(1);
    expect(took("sum", { name: "Priority", type: "admit" })).toBe(0);
  });

  it("tell how many changes a cache has room for, where that is what bounds it", () => {
    const capacity = (bed: TestBed): number | undefined => {
      bed.ask(`GET ${configMaps}?resourceVersion=0`, { as: "admin" });
      return sample(scrape(bed), "apiserver_watch_cache_capacity", { resource: "configmaps" });
    };
    const bed = new TestBed({ profile: kubernetesProfile });
    expect([capacity(bed), capacity(new TestBed())]).toEqual([100, undefined]);
    for (let at = 0; at < 101; at++)
      bed.ask(`POST ${configMaps}`, { as: "admin", body: { metadata: { generateName: "a" } } });
    expect(capacity(bed)).toBe(200);
  });

  it("count watches that were ended because nobody read them", () => {
    const bed = bedOf();
    const terminated = (): number | undefined =>
      sample(scrape(bed), "apiserver_terminated_watchers_total", { resource: "configmaps" });
    const watch = bed.server.start(
      {
        method: "GET",
        path: configMaps,
        query: "watch=1",
        headers: { authorization: "Bearer alice" },
        body: undefined,
      },
      { respond: () => {}, open: () => {}, frame: () => 2 ** 30, close: () => {} },
    );
    expect(terminated()).toBeUndefined();
    bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } });
    expect(terminated()).toBe(1);
    watch();
  });

  it("count calls of webhooks, and what became of them", () => {
    const bed = bedOf({
      webhooks: ({ url, body }, done) => {
        if (url.includes("gone")) done({ error: "nobody there" });
        else {
          const { uid } = body["request"] as { uid: string };
          const response = { uid, allowed: false, status: { code: 418 } };
          done({ status: 200, body: { ...body, response } });
        }
        return () => {};
      },
    });
    const configure = (name: string, failurePolicy: string): void => {
      const rules = [{ apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: ["configmaps"] }];
      const clientConfig = { url: `https://${name}.example.com/` };
      const own = { sideEffects: "None", admissionReviewVersions: ["v1"], failurePolicy, clientConfig, rules };
      const webhooks = [{ name: `${name}.example.com`, ...own }];
      const answer = bed.ask("POST /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
        as: "admin",
        body: { metadata: { name }, webhooks },
      });
      expect(answer.status, answer.text).toBe(201);
    };
    configure("gone", "Ignore");
    bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } });
    configure("denies", "Fail");
    expect(bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "b" } } }).status).toBe(418);
    const text = scrape(bed);
    const denies = { name: "denies.example.com", operation: "CREATE", type: "validating" };
    const of = (family: string, labels: Readonly<Record<string, string>>): number | undefined =>
      sample(text, `apiserver_admission_webhook_${family}`, labels);
    expect(of("request_total", { ...denies, code: "418", rejected: "true" })).toBe(1);
    expect(of("rejection_count", { ...denies, rejection_code: "418", error_type: "no_error" })).toBe(1);
    expect(of("fail_open_count", { name: "gone.example.com" })).toBe(2);
    expect(of("request_total", { name: "gone.example.com", code: "503", rejected: "false" })).toBe(2);
    expect(of("admission_duration_seconds_count", { name: "denies.example.com" })).toBe(1);
    expect(of("rejection_count", { name: "gone.example.com" })).toBeUndefined();
  });

  it("know a custom resource by its name, however often its definition changes", () => {
    const bed = bedOf();
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const names = { plural: "lamps", kind: "Lamp" };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const spec = { group: "example.com", scope: "Namespaced", names, versions };
    bed.ask(`POST ${definitions}`, { as: "admin", body: { metadata: { name: "lamps.example.com" }, spec } });
    bed.advance(6);
    const lamps = "/apis/example.com/v1/namespaces/default/lamps";
    expect(bed.ask(`GET ${lamps}`).status).toBe(200);
    bed.merge(`${definitions}/lamps.example.com`, { spec: { names: { shortNames: ["lp"] } } }, { as: "admin" });
    bed.advance(6);
    expect(bed.ask(`GET ${lamps}`).status).toBe(200);
    expect(sample(scrape(bed), "apiserver_request_total", { resource: "lamps", code: "200" })).toBe(2);
  });

  it("say which build this is, since when it runs, and what the process costs where there is one", () => {
    const text = scrape(
      bedOf({ processFigures: () => ({ cpuSeconds: 1.5, residentBytes: 123_456_789, exceptionCount: 0 }) }),
    );
    expect(sample(text, "kubernetes_build_info", { major: "1", minor: "33" })).toBe(1);
    expect(text).toContain("\nprocess_resident_memory_bytes 1.23456789e+08\n");
    expect(text).toContain("\nprocess_cpu_seconds_total 1.5\n");
    expect(sample(text, "process_start_time_seconds")).toBeGreaterThan(0);
    expect(scrape(bedOf())).not.toContain("process_cpu");
  });
});
