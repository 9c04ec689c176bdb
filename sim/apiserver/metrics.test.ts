import { describe, expect, it } from "vitest";
import { noControllers } from "../control/controllers.ts";
import { kubernetesProfile } from "./profile.ts";
import { configMaps, TestBed } from "./test-bed.ts";

describe("metrics", () => {
  it("count requests, open watches and stored objects, the same in every run", () => {
    const scrape = (): string => {
      const bed = new TestBed({ profile: kubernetesProfile });
      for (const name of ["a", "b"]) bed.ask(`POST ${configMaps}`, { body: { metadata: { name } } });
      bed.ask(`POST ${configMaps}?dryRun=All`, { body: { metadata: { name: "c" } } });
      bed.ask(`GET ${configMaps}/none`);
      bed.ask(`GET ${configMaps}?watch=1`);
      const answer = bed.ask("GET /metrics");
      expect(answer.contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
      return answer.text;
    };
    const text = scrape();
    const total = (code: number, dryRun: string, scope: string, verb: string, count: number): string =>
      `apiserver_request_total{code="${code}",component="apiserver",dry_run="${dryRun}",group="",` +
      `resource="configmaps",scope="${scope}",subresource="",verb="${verb}",version="v1"} ${count}\n`;
    expect(text).toContain(total(201, "", "namespace", "POST", 2));
    expect(text).toContain(total(201, "All", "namespace", "POST", 1));
    expect(text).toContain(total(404, "", "resource", "GET", 1));
    expect(text).toMatch(/apiserver_longrunning_requests\{.*verb="WATCH".*\} 1\n/);
    expect(text).toContain('apiserver_storage_objects{resource="configmaps"} 2\n');
    expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 1\n');
    expect(scrape()).toBe(text);
  });

  it("time requests by the server's clock", () => {
    const costs = { seatMicros: () => 300_000, answerMicros: () => 0 };
    const bed = new TestBed({
      profile: kubernetesProfile,
      costs,
      controllers: noControllers,
    });
    bed.ask(`GET ${configMaps}/none`);
    bed.advance(1);
    const answer = bed.ask("GET /metrics");
    bed.advance(1);
    const sample = (name: string): string | undefined =>
      answer.text.split("\n").find((line) => line.startsWith(name) && line.includes('resource="configmaps"'));
    expect(sample("apiserver_request_duration_seconds_sum")).toMatch(/ 0\.3$/);
    const buckets = answer.text
      .split("\n")
      .filter((line) => line.includes("_bucket{") && line.includes('"configmaps"'));
    expect(buckets.find((line) => line.includes('le="0.2"'))).toMatch(/ 0$/);
    expect(buckets.find((line) => line.includes('le="0.4"'))).toMatch(/ 1$/);
    expect(buckets.at(-1)).toMatch(/le="\+Inf"\} 1$/);
  });
});
