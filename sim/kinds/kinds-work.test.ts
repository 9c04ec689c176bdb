/** What judging long lists costs: counted in reads of what is judged, never in time. And what it tells. */
import { expect, it } from "vitest";
import { inTurns } from "../expressions/pace.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { copyJson } from "../objects/copy.ts";
import { counted, create, endpoint } from "../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../objects/validation.ts";

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

const container = { name: "c", image: "i" };
const podOf = (spec: object): JsonObject => ({ metadata: { name: "a" }, spec: { containers: [container], ...spec } });
const template = { spec: { restartPolicy: "Never", containers: [container] } };
const claimFor = (at: number) => ({ name: `v${at}`, persistentVolumeClaim: { claimName: `c${at}` } });
const madeClaim = (at: number) => ({ name: `w${at}`, ephemeral: { volumeClaimTemplate: { spec: {} } } });
const mount = (at: number) => ({ name: `v${at}`, mountPath: `/v${at}` });
const device = (at: number) => ({ name: `d${at}`, devicePath: `/d${at}` });
const spread = (at: number) => ({ maxSkew: 1, topologyKey: `k${at}`, whenUnsatisfiable: "DoNotSchedule" });
const affinity = (length: number) => ({
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      {
        topologyKey: "a",
        labelSelector: {},
        matchLabelKeys: times(length, (at) => `a${at}`),
        mismatchLabelKeys: times(length, (at) => `b${at}`),
      },
    ],
  },
});

const lists: readonly (readonly [name: string, resource: string, make: (length: number) => JsonObject])[] = [
  [
    "exit codes of a job",
    "batch/v1/jobs",
    (length) => {
      const onExitCodes = { operator: "In", values: times(length, (at) => at + 1) };
      return { metadata: { name: "a" }, spec: { template, podFailurePolicy: { rules: [{ onExitCodes }] } } };
    },
  ],
  ["families", "v1/services", (length) => ({ spec: { ipFamilies: times(length, (at) => `x${at}`) } })],
  ["networks", "v1/nodes", (length) => ({ spec: { podCIDRs: times(length, (at) => `10.0.${at}.0/24`) } })],
  [
    "usages of a certificate",
    "certificates.svc.io/v1/certificatesigningrequests",
    (length) => ({ spec: { usages: times(length, (at) => `u${at}`) } }),
  ],
  ["spreading", "v1/pods", (length) => podOf({ topologySpreadConstraints: times(length, spread) })],
  ["claims", "v1/pods", (length) => podOf({ volumes: [...times(length, claimFor), ...times(length, madeClaim)] })],
  [
    "mounts and devices",
    "v1/pods",
    (length) => {
      const more = { volumeMounts: times(length, mount), volumeDevices: times(length, device) };
      return podOf({ containers: [{ ...container, ...more }] });
    },
  ],
  ["keys of an affinity", "v1/pods", (length) => podOf({ affinity: affinity(length) })],
  ["scopes of a quota", "v1/resourcequotas", (length) => ({ spec: { scopes: times(length, (at) => `s${at}`) } })],
  [
    "tolerations",
    "v1/pods",
    (length) => podOf({ tolerations: times(length, (at) => ({ key: `k${at}`, operator: "Exists" })) }),
  ],
  ["gates", "v1/pods", (length) => podOf({ schedulingGates: times(length, (at) => ({ name: `g${at}` })) })],
];

it.each(lists)("%s are read a few times each, however many there are", (_, resource, make) => {
  const at = endpoint(resource);
  const readsOf = (length: number): number => {
    let reads = 0;
    const view = (object: JsonObject): JsonObject => counted(copyJson(object), () => reads++);
    const made = create(make(length), at);
    validateCreate(view(made), at.strategy);
    validateUpdate(view(made), view(made), at.strategy);
    return reads;
  };
  expect(readsOf(400) / readsOf(100)).toBeLessThan(5); // sixteen if each were read for each
});

it("ends of containers are looked up by name", () => {
  const at = endpoint("v1/pods");
  const readsOf = (length: number): number => {
    let reads = 0;
    const view = (state: object): JsonObject => {
      const containerStatuses = times(length, (index) => ({ name: `c${index}`, state }));
      const pod = { ...create(podOf({ restartPolicy: "Never" }), at), status: { containerStatuses } };
      return counted(copyJson(pod as unknown as JsonObject), () => reads++);
    };
    const causes = validateUpdate(view({ running: {} }), view({ terminated: {} }), at.strategy, "status");
    expect(causes).toHaveLength(length);
    return reads;
  };
  expect(readsOf(400) / readsOf(100)).toBeLessThan(5);
});

const manyClaims = {
  resourceClaims: times(2_000, (at) => ({ name: `known-${at}`, resourceClaimName: "x" })),
  containers: [{ ...container, resources: { claims: times(1_000, (at) => ({ name: `other-${at}` })) } }],
};

it.each([
  ["v1/resourcequotas", { metadata: { name: "a" }, spec: { scopes: times(2_000, (at) => `scope-${at}`) } }],
  [
    "v1/resourcequotas",
    {
      metadata: { name: "a" },
      spec: {
        hard: Object.fromEntries(times(500, (at) => [`hugepages-${at}Mi`, "1"])),
        scopes: times(500, (at) => `scope-${at}`),
      },
    },
  ],
  ["v1/pods", podOf(manyClaims)],
])("%s: of what is wrong as much is told as there is room for", (resource, body) => {
  const at = endpoint(resource);
  const causes = validateCreate(create(body as JsonObject, at), at.strategy);
  const characters = causes.reduce((sum, { message, field = "" }) => sum + message.length + field.length, 0);
  expect(causes.length).toBeGreaterThan(10);
  expect(characters).toBeLessThan(4_200_000);
});

const amounts = (count: number): JsonObject =>
  Object.fromEntries(times(count, (at) => [`example.com/r${at}`, at % 1_000 === 0 ? "1500m" : "1"]));
const keyed = (count: number): JsonObject =>
  Object.fromEntries(times(count, (at) => [at % 1_000 === 0 ? `no key ${at}` : `k${at}`, "YQ=="]));
const address = (at: number): string => `11.0.${at % 250}.${at % 500}`;

it.each([
  ["amounts", "v1/pods", podOf({ containers: [{ ...container, resources: { limits: amounts(40_000) } }] })],
  ["spreading", "v1/pods", podOf({ topologySpreadConstraints: times(25_000, (at) => spread(at % 24_000)) })],
  ["keys of data", "v1/configmaps", { metadata: { name: "a" }, data: keyed(30_000), binaryData: keyed(30_000) }],
  ["keys of a secret", "v1/secrets", { metadata: { name: "a" }, data: keyed(30_000) }],
  ["labels", "v1/configmaps", { metadata: { name: "a", labels: keyed(30_000) } }],
  ["annotations", "v1/configmaps", { metadata: { name: "a", annotations: keyed(20_000) } }],
  [
    "labels of a template",
    "apps/v1/deployments",
    { metadata: { name: "a" }, spec: { template: { metadata: { labels: keyed(30_000) } } } },
  ],
  ["addresses", "v1/services", { spec: { externalIPs: times(40_000, address) } }],
  [
    "ranges in a text",
    "v1/services",
    {
      metadata: {
        annotations: { "service.beta.kubernetes.io/load-balancer-source-ranges": times(20_000, address).join() },
      },
      spec: { type: "LoadBalancer" },
    },
  ],
] as const)("many %s are judged in turns as at once", (_, resource, sent) => {
  const at = endpoint(resource);
  const made = create(copyJson(sent as unknown as JsonObject), at);
  const turns = inTurns(() => validateCreate(made, at.strategy));
  let turnCount = 1;
  let step = turns.next();
  for (; step.done !== true; step = turns.next()) turnCount++;
  expect(turnCount).toBeGreaterThanOrEqual(2);
  expect(step.value?.length).toBeGreaterThan(10);
  expect(step.value).toEqual(validateCreate(made, at.strategy));
});
