import { expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { create, endpoint, update } from "../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../objects/validation.ts";

const texts = (path: string, body: JsonObject): readonly string[] => {
  const at = endpoint(path);
  return validateCreate(create({ metadata: { name: "a" }, ...body }, at), at.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );
};
const step = (path: string, body: JsonObject, changes: JsonObject): readonly string[] => {
  const at = endpoint(path);
  const live = create({ metadata: { name: "a" }, ...body }, at);
  return validateUpdate(update({ ...live, ...changes }, live, at), live, at.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );
};

const subset = (fields: JsonObject): JsonObject => ({ subsets: [{ addresses: [{ ip: "10.1.2.3" }], ...fields }] });
const slice = { addressType: "IPv4", endpoints: [{ addresses: ["10.1.2.3"] }], ports: [{ port: 80 }] };
const limits = (limit: JsonObject): JsonObject => ({ spec: { limits: [{ type: "Container", ...limit }] } });
const quantity = (milli: number, text: string): string =>
  `resource.Quantity{i:resource.int64Amount{value:${milli}, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${text}", Format:"DecimalSI"}`;
const scaled = { maxReplicas: 2, scaleTargetRef: { kind: "Deployment", name: "d" } };

const cases: readonly (readonly [path: string, body: JsonObject, causes: readonly string[]])[] = [
  ["v1/endpoints", subset({ ports: [{ port: 80 }] }), []],
  ["v1/endpoints", { subsets: [{}] }, ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]],
  [
    "v1/endpoints",
    subset({ ports: [{ port: 0 }, { name: "a", port: 1, protocol: "Z" }], addresses: [{ ip: "127.0.0.1" }] }),
    [
      'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      "subsets[0].ports[0].name: Required value",
      "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      'subsets[0].ports[1].protocol: Unsupported value: "Z": supported values: "SCTP", "TCP", "UDP"',
    ],
  ],
  ["discovery.svc.io/v1/endpointslices", slice, []],
  [
    "discovery.svc.io/v1/endpointslices",
    { ...slice, addressType: "", endpoints: [{ addresses: [] }] },
    ["addressType: Required value", "endpoints[0].addresses: Required value: must contain at least 1 address"],
  ],
  [
    "discovery.svc.io/v1/endpointslices",
    { ...slice, endpoints: [{ addresses: ["2001:db8::1"] }], ports: [{ port: 1 }, { port: 2 }] },
    [
      'endpoints[0].addresses[0]: Invalid value: "2001:db8::1": must be a valid IPv4 address',
      'ports[1].name: Duplicate value: ""',
    ],
  ],
  ["v1/limitranges", limits({ max: { cpu: "1" }, min: { cpu: "100m" } }), []],
  [
    "v1/limitranges",
    limits({ max: { cpu: "1" }, min: { cpu: "2" }, default: { cpu: "1" }, defaultRequest: { cpu: "1" } }),
    [
      `spec.limits[0].min[cpu]: Invalid value: ${quantity(2000, "2")}: min value 2 is greater than max value 1`,
      `spec.limits[0].defaultRequest[cpu]: Invalid value: ${quantity(1000, "1")}: min value 2 is greater than default request value 1`,
      `spec.limits[0].default[cpu]: Invalid value: ${quantity(2000, "2")}: min value 2 is greater than default value 1`,
    ],
  ],
  [
    "v1/limitranges",
    {
      spec: {
        limits: [
          { type: "Pod", default: { cpu: "1" } },
          { type: "Pod" },
          { type: "Z" },
          { type: "PersistentVolumeClaim" },
        ],
      },
    },
    [
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
      'spec.limits[1].type: Duplicate value: "Pod"',
      'spec.limits[2].type: Invalid value: "Z": must be a standard limit type or fully qualified',
      "spec.limits[3].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
    ],
  ],
  ["storage.svc.io/v1/storageclasses", { provisioner: "a.b/c" }, []],
  [
    "storage.svc.io/v1/storageclasses",
    { reclaimPolicy: "Recycle", volumeBindingMode: "Z" },
    [
      "provisioner: Required value",
      'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
      'volumeBindingMode: Unsupported value: "Z": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
  ],
  ["autoscaling/v1/horizontalpodautoscalers", { spec: scaled }, []],
  [
    "autoscaling/v1/horizontalpodautoscalers",
    { spec: { maxReplicas: 0, minReplicas: 2, scaleTargetRef: { kind: "A/B" } } },
    [
      "spec.maxReplicas: Invalid value: 0: must be greater than 0",
      "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
      `spec.scaleTargetRef.kind: Invalid value: "A/B": may not contain '/'`,
      "spec.scaleTargetRef.name: Required value",
    ],
  ],
  [
    "apps/v1/controllerrevisions",
    { revision: -1 },
    ["data: Required value: data is mandatory", "revision: Invalid value: -1: must be greater than or equal to 0"],
  ],
  ["node.svc.io/v1/runtimeclasses", { handler: "runc" }, []],
  [
    "node.svc.io/v1/runtimeclasses",
    { handler: "A" },
    [expect.stringContaining('handler: Invalid value: "A"') as unknown as string],
  ],
];

it.each(cases)("%s %j", (path, body, causes) => expect(texts(path, body)).toEqual(causes));

it("What is left out is filled in", () => {
  const made = (path: string, body: JsonObject): JsonObject =>
    create({ metadata: { name: "a" }, ...body }, endpoint(path));
  expect(made("v1/endpoints", subset({ ports: [{ port: 80 }] }))).toMatchObject({
    subsets: [{ ports: [{ protocol: "TCP" }] }],
  });
  expect(made("discovery.svc.io/v1/endpointslices", slice)).toMatchObject({ ports: [{ name: "", protocol: "TCP" }] });
  expect(made("v1/limitranges", limits({ max: { cpu: "2" }, min: { memory: "1" } }))).toMatchObject({
    spec: { limits: [{ default: { cpu: "2" }, defaultRequest: { cpu: "2", memory: "1" } }] },
  });
  expect(made("storage.svc.io/v1/storageclasses", { provisioner: "a" })).toMatchObject({
    reclaimPolicy: "Delete",
    volumeBindingMode: "Immediate",
  });
  expect(made("autoscaling/v1/horizontalpodautoscalers", { spec: scaled })).toMatchObject({
    spec: { minReplicas: 1, targetCPUUtilizationPercentage: 80 },
  });
});

it("What is settled stays", () => {
  expect(step("discovery.svc.io/v1/endpointslices", slice, { addressType: "IPv6", endpoints: [] })).toEqual([
    'addressType: Invalid value: "IPv6": field is immutable',
  ]);
  expect(
    step(
      "storage.svc.io/v1/storageclasses",
      { provisioner: "a" },
      { provisioner: "b", volumeBindingMode: "WaitForFirstConsumer" },
    ),
  ).toEqual([
    "provisioner: Forbidden: updates to provisioner are forbidden.",
    'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
  ]);
  expect(step("node.svc.io/v1/runtimeclasses", { handler: "a" }, { handler: "b" })).toEqual([
    'handler: Invalid value: "b": field is immutable',
  ]);
  expect(step("apps/v1/controllerrevisions", { data: { a: 1 }, revision: 1 }, { data: { a: 2 } })).toEqual([
    "data: Invalid value: runtime.RawExtension{}: field is immutable",
  ]);
  const attached = { spec: { attacher: "a", nodeName: "n", source: { persistentVolumeName: "v" } } };
  expect(step("storage.svc.io/v1/volumeattachments", attached, { spec: { ...attached.spec, nodeName: "m" } })).toEqual([
    "spec: Invalid value: storage.VolumeAttachmentSpec{}: field is immutable",
  ]);
});
