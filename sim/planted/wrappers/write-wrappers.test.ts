import { expect, it } from "vitest";
import { configMaps, TestBed } from "../../apiserver/test-bed.fixture.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import type { ServerBugName } from "../server-bugs.ts";

const quotas = "/api/v1/namespaces/default/resourcequotas";
const sets = "/apis/apps/v1/namespaces/default/replicasets";
const labels = { app: "a" };
const podSpec = { containers: [{ name: "c", image: "i" }] };
const set = {
  metadata: { name: "a" },
  spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
};
const long = "2001-01-01T00:00:00Z";

function applied(bed: TestBed, manager: string, data: object, query = ""): void {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data };
  const headers = { "content-type": "application/apply-patch+yaml" };
  bed.ask(`PATCH ${configMaps}/a?fieldManager=${manager}${query}`, { headers, body });
}

const versionOf = (bed: TestBed, path: string): unknown => bed.ask(`GET ${path}`).at("metadata.resourceVersion");

/** For each bug something that a client sees, with what is right. */
const symptoms: Partial<Record<ServerBugName, readonly [right: unknown, see: (bed: TestBed) => unknown]>> = {
  "idle-apply-renews-time": [
    true,
    (bed) => {
      applied(bed, "one", { k: "v" });
      const before = versionOf(bed, `${configMaps}/a`);
      bed.advance(2);
      applied(bed, "one", { k: "v" });
      return versionOf(bed, `${configMaps}/a`) === before;
    },
  ],
  "force-leaves-owners": [
    ["two"],
    (bed) => {
      applied(bed, "one", { k: "v" });
      applied(bed, "two", { k: "w" }, "&force=true");
      const owners = bed.ask(`GET ${configMaps}/a`).at("metadata.managedFields") as readonly { manager: string }[];
      return owners.map(({ manager }) => manager);
    },
  ],
  "deletiontimestamp-client-settable": [
    [undefined, 422],
    (bed) => {
      const claimed = { metadata: { name: "a", deletionTimestamp: long } };
      bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "b" } } });
      return [
        bed.ask(`POST ${configMaps}`, { body: claimed }).at("metadata.deletionTimestamp"),
        bed.merge(`${configMaps}/b`, { metadata: { deletionTimestamp: long } }).status,
      ];
    },
  ],
  "status-of-create-kept": [
    0,
    (bed) => {
      bed.ask(`POST ${sets}`, { body: { ...set, status: { replicas: 7 } } });
      return bed.ask(`GET ${sets}/a`).at("status.replicas");
    },
  ],
  "generation-wrong": [
    [1, 1],
    (bed) => {
      bed.ask(`POST ${sets}`, { body: set });
      return [
        bed.merge(`${sets}/a`, { metadata: { labels: { l: "x" } } }).at("metadata.generation"),
        bed.merge(`${sets}/a/status`, { status: { replicas: 3 } }).at("metadata.generation"),
      ];
    },
  ],
  "scale-raises-no-generation": [
    2,
    (bed) => {
      bed.ask(`POST ${sets}`, { body: set });
      bed.merge(`${sets}/a/scale`, { spec: { replicas: 3 } });
      return bed.ask(`GET ${sets}/a`).at("metadata.generation");
    },
  ],
  "finalizers-added-late": [
    422,
    (bed) => {
      bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a", finalizers: ["example.com/hold"] } } });
      bed.ask(`DELETE ${configMaps}/a`);
      return bed.merge(`${configMaps}/a`, { metadata: { finalizers: ["example.com/hold", "example.com/late"] } })
        .status;
    },
  ],
  "immutable-but-binary-data": [
    422,
    (bed) => {
      bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" }, immutable: true } });
      return bed.merge(`${configMaps}/a`, { binaryData: { k: "dg==" } }).status;
    },
  ],
  "scale-owns-nothing": [
    true,
    (bed) => {
      bed.ask(`POST ${sets}`, { body: set });
      bed.merge(`${sets}/a/scale?fieldManager=scaler`, { spec: { replicas: 3 } });
      return bed.ask(`GET ${sets}/a`).text.includes("scaler");
    },
  ],
  "quota-kept-by-collections": [
    "0",
    (bed) => {
      bed.ask(`POST ${quotas}`, { body: { metadata: { name: "q" }, spec: { hard: { "count/configmaps": "9" } } } });
      bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } });
      bed.ask(`DELETE ${configMaps}`);
      return bed.ask(`GET ${quotas}/q`).at("status.used.count/configmaps");
    },
  ],
  "unsafe-delete-takes-readable": [
    200,
    (bed) => {
      bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a", finalizers: ["example.com/hold"] } } });
      bed.ask(`DELETE ${configMaps}/a?ignoreStoreReadErrorWithClusterBreakingPotential=true`);
      return bed.ask(`GET ${configMaps}/a`).status;
    },
  ],
};

const options = { profile: kubernetesProfile, featureGates: { AllowUnsafeMalformedObjectDeletion: true } };

for (const [bug, [right, see]] of Object.entries(symptoms) as [ServerBugName, [unknown, (bed: TestBed) => unknown]][]) {
  it(`${bug} shows, and nothing does without it`, () => {
    expect(see(new TestBed(options))).toEqual(right);
    expect(see(new TestBed({ ...options, bugs: [bug] }))).not.toEqual(right);
  });
}

it("of two bugs in one step both show", () => {
  const bed = new TestBed({
    ...options,
    bugs: ["status-of-create-kept", "generate-name-collision", "generation-wrong"],
  });
  const body = { ...set, metadata: { generateName: "a-" }, status: { replicas: 7 } };
  const names = [1, 2, 3, 4].map(() => bed.ask(`POST ${sets}`, { body }).at("metadata.name"));
  expect(names.every((name) => /^a-[2-4]$/.test(String(name)))).toBe(true);
  const [name] = names;
  expect(bed.ask(`GET ${sets}/${name}`).at("status.replicas")).toBe(7);
  expect(bed.merge(`${sets}/${name}/status`, { status: { replicas: 3 } }).at("metadata.generation")).toBe(2);
});

it("a rare bug is on or off for all of a request", () => {
  const bed = new TestBed({ ...options, bugs: ["deletiontimestamp-client-settable"], bugRarity: 3 });
  const seen = Array.from({ length: 60 }, (_, at) => {
    const body = { metadata: { name: `a${at}`, deletionTimestamp: long } };
    return bed.ask(`POST ${configMaps}`, { body }).at("metadata.deletionTimestamp");
  });
  expect(new Set(seen)).toEqual(new Set([undefined, long]));
  expect(seen.filter((time) => time === long).length).toBeLessThan(40);
});
