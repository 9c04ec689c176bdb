import { expect, it } from "vitest";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { TestBed } from "../test-bed.fixture.ts";

const bed = new TestBed({ profile: kubernetesProfile });
const text = (request: string): string => bed.ask(request).text;
const paths = bed.ask("GET /").at("paths") as readonly string[];

it.each(["healthz", "livez", "readyz"])(
  "/%s tells of each check by its path, and of all of them at once",
  (endpoint) => {
    const checks = paths
      .filter((path) => path.startsWith(`/${endpoint}/`))
      .map((path) => path.slice(endpoint.length + 2));
    expect(checks.length).toBeGreaterThan(30);
    for (const check of checks) expect(text(`GET /${endpoint}/${check}`)).toBe("ok");
    const lines = text(`GET /${endpoint}?verbose`).split("\n");
    expect(lines.slice(-2)).toEqual([`${endpoint} check passed`, ""]);
    expect(lines.slice(0, -2).sort()).toEqual(checks.map((check) => `[+]${check} ok`).sort());
  },
);

it("an excluded check is not made, and one that nobody knows is warned of", () => {
  const told = text("GET /livez?verbose&exclude=b&exclude=etcd&exclude=a&exclude=a");
  expect(told).toContain("\n[+]etcd excluded: ok\n");
  expect(told).toContain('\nwarn: some health checks cannot be excluded: no matches for "a","b"\n');
});

it("a path that is no check has nothing", () => {
  for (const path of ["/readyz/etcd", "/livez/none", "/livez/ping/more", "/livez/", "/metrics/", "/metrics/none"]) {
    expect([path, bed.ask(`GET ${path}`).status]).toEqual([path, 404]);
  }
});

it("the steps of the start are named in the dialect", () => {
  expect(paths).toContain("/livez/poststarthook/kube-apiserver-autoregistration");
  const svc = new TestBed({ profile: svcProfile }).ask("GET /").at("paths");
  expect(svc).toContain("/livez/poststarthook/svc-apiserver-autoregistration");
});

it("checks are counted", () => {
  const counting = new TestBed({ profile: kubernetesProfile });
  counting.ask("GET /livez");
  counting.ask("GET /livez/ping");
  const told = counting.ask("GET /metrics/slis").text;
  expect(told).toContain('\nkubernetes_healthcheck{name="ping",type="livez"} 1\n');
  expect(told).toContain('\nkubernetes_healthchecks_total{name="ping",status="success",type="livez"} 2\n');
  expect(told).not.toContain("readyz");
});
