/**
 * Types of every sort for programs that are about none of them: namespaced and of the cluster, in the core group and
 * in others, with status and without, cached and not. Nobody but their writer acts on them.
 */
import type { Dialect } from "../../wire/dialect.ts";
import { type ApiObject, isJsonObject, type Json, type JsonObject } from "../client/types.ts";
import { valueAt } from "../model/json-values.ts";

export interface TrialType {
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Of the group and version: `/api/v1`, `/apis/batch/v1`. */
  prefix(dialect: Dialect): string;
  /** What an object has besides its type and metadata; `value` is the one thing that programs change, in lower case. */
  desired(value: string, namespace: string | undefined): JsonObject;
  /** Where `value` is, as a JSON patch has it, and what is there. */
  readonly pointer: string;
  at(value: string): Json;
  /** A merge patch that changes `value` alone; undefined where only the whole can be replaced. */
  readonly mergeable: boolean;
  /** A status with a text in it; absent: the type has no status of its own. */
  readonly status?: (value: string) => JsonObject;
  readonly countsGeneration: boolean;
  /** A PUT has to name a version. */
  readonly needsVersion: boolean;
  /** Whether PUT makes what is not there, as well where most types do not allow it. */
  readonly putCreates: boolean;
  /** A custom resource, which a program defines for itself: its schema. `prefix` is then the definition's. */
  readonly custom?: { readonly schema: JsonObject; readonly version: JsonObject };
  /** A field of `spec` that selectors may name and that programs set to the team: absent, the type has none. */
  readonly selectable?: string;
  /** What it is called among types of one plural. Default: the plural. */
  readonly title?: string;
  /** It is forgotten after an hour. */
  readonly isShortLived?: true;
}

const usual = {
  namespaced: true,
  mergeable: true,
  countsGeneration: false,
  needsVersion: false,
  putCreates: false,
  at: (value: string): Json => value,
} as const;
const core = (): string => "/api/v1";
const inGroup =
  (group: string) =>
  ({ groupSuffix }: Dialect): string =>
    `/apis/${group.replace("SUFFIX", groupSuffix)}/v1`;

const container = { name: "main", image: "example.com/none:1" };
const rulesOf = (value: string): Json => [
  { apiGroups: [""], resources: ["configmaps"], resourceNames: [value], verbs: ["get"] },
];

export const trialTypes: readonly TrialType[] = [
  {
    ...usual,
    plural: "configmaps",
    kind: "ConfigMap",
    prefix: core,
    pointer: "/data/value",
    desired: (value) => ({ data: { value } }),
  },
  {
    ...usual,
    plural: "secrets",
    kind: "Secret",
    prefix: core,
    pointer: "/data/value",
    at: (value) => Buffer.from(value).toString("base64"),
    desired: (value) => ({ type: "Opaque", data: { value: Buffer.from(value).toString("base64") } }),
  },
  {
    ...usual,
    plural: "podtemplates",
    kind: "PodTemplate",
    prefix: core,
    pointer: "/template/metadata/annotations/value",
    desired: (value) => ({ template: { metadata: { annotations: { value } }, spec: { containers: [container] } } }),
  },
  {
    ...usual,
    plural: "events",
    kind: "Event",
    prefix: core,
    pointer: "/message",
    putCreates: true,
    isShortLived: true,
    desired: (message, namespace) => ({
      involvedObject: { apiVersion: "v1", kind: "Pod", namespace: namespace ?? "default", name: "p" },
      reason: "Tried",
      message,
      type: "Normal",
    }),
  },
  {
    ...usual,
    plural: "leases",
    kind: "Lease",
    prefix: inGroup("coordination.SUFFIX"),
    pointer: "/spec/holderIdentity",
    needsVersion: true,
    putCreates: true,
    desired: (holderIdentity) => ({ spec: { holderIdentity } }),
  },
  {
    ...usual,
    plural: "cronjobs",
    kind: "CronJob",
    prefix: inGroup("batch"),
    pointer: "/spec/jobTemplate/metadata/annotations/value",
    countsGeneration: true,
    desired: (value) => ({
      spec: {
        schedule: "0 0 1 1 *",
        suspend: true,
        jobTemplate: {
          metadata: { annotations: { value } },
          spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } },
        },
      },
    }),
    status: (value) => ({ lastScheduleTime: `2024-01-01T00:00:${value.length.toString().padStart(2, "0")}Z` }),
  },
  {
    ...usual,
    plural: "pods",
    kind: "Pod",
    prefix: core,
    pointer: "/spec/containers/0/image",
    mergeable: false,
    at: (value) => `example.com/none:${value}`,
    desired: (value) => ({
      spec: {
        schedulerName: "touchstone-nobody",
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        containers: [{ ...container, image: `example.com/none:${value}` }],
      },
    }),
    status: (message) => ({ message }),
  },
  {
    ...usual,
    plural: "roles",
    kind: "Role",
    prefix: inGroup("rbac.authorization.SUFFIX"),
    pointer: "/rules/0/resourceNames/0",
    mergeable: false,
    desired: (value) => ({ rules: rulesOf(value) }),
  },
  {
    ...usual,
    plural: "clusterroles",
    kind: "ClusterRole",
    namespaced: false,
    prefix: inGroup("rbac.authorization.SUFFIX"),
    pointer: "/rules/0/resourceNames/0",
    mergeable: false,
    desired: (value) => ({ rules: rulesOf(value) }),
  },
  {
    ...usual,
    plural: "priorityclasses",
    kind: "PriorityClass",
    namespaced: false,
    prefix: inGroup("scheduling.SUFFIX"),
    pointer: "/description",
    desired: (description) => ({ value: 1000, description }),
  },
];

const widget = {
  ...usual,
  plural: "widgets",
  kind: "Widget",
  prefix: () => "",
  pointer: "/spec/value",
  putCreates: true,
  countsGeneration: true,
  custom: {
    schema: {
      type: "object",
      properties: {
        spec: { type: "object", properties: { value: { type: "string" }, color: { type: "string" } } },
        status: { type: "object", properties: { text: { type: "string" } } },
      },
    },
    version: { subresources: { status: {} }, selectableFields: [{ jsonPath: ".spec.color" }] },
  },
  selectable: "color",
  needsVersion: true,
  desired: (value: string) => ({ spec: { value } }),
  status: (text: string) => ({ text }),
} as const;

/** Types of which each program has its own. */
export const customTrialTypes: readonly TrialType[] = [
  { ...widget, title: "custom" },
  { ...widget, title: "custom of the cluster", namespaced: false },
];

/** What is at a type's pointer. */
export function valueOf({ pointer }: Pick<TrialType, "pointer">, object: ApiObject): Json | undefined {
  return valueAt(
    object,
    ...pointer
      .slice(1)
      .split("/")
      .map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
  );
}

/** The status that `type` was given, as far as it can be read back. */
export function statusIn(object: ApiObject, fields: JsonObject): JsonObject {
  const { status } = object;
  if (!isJsonObject(status)) return {};
  return Object.fromEntries(Object.keys(fields).map((field) => [field, status[field]]));
}
