import fc from "fast-check";
import { servedTypes } from "../../client/discovery.ts";
import { type Collection, patchTypes } from "../../client/collection.ts";
import { Inconclusive } from "../../client/findings.ts";
import { shownAnswer } from "../../client/status-document.ts";
import type { Json, JsonObject } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

interface Form {
  /** Empty: the core group. `*` stands for the dialect's suffix. */
  readonly group: string;
  readonly kind: string;
  readonly parts: JsonObject;
  /** Fields that its published schema requires, by their paths. */
  readonly required: readonly string[];
}

const podSpec: JsonObject = {
  containers: [
    {
      name: "c",
      image: "example.com/c:1",
      ports: [{ containerPort: 80 }],
      env: [{ name: "A", value: "a" }],
      volumeMounts: [{ name: "v", mountPath: "/v" }],
    },
  ],
  volumes: [{ name: "v", emptyDir: {} }],
};
const inPods = [
  "containers",
  "containers.0.name",
  "containers.0.ports.0.containerPort",
  "containers.0.env.0.name",
  "containers.0.volumeMounts.0.name",
  "containers.0.volumeMounts.0.mountPath",
  "volumes.0.name",
];
const labels = { app: "a" };
const template: JsonObject = { metadata: { labels }, spec: podSpec };
const inTemplates = inPods.map((path) => `spec.template.spec.${path}`);
const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "1-2-3" }];

/** By plural, in version v1 of their groups. */
const forms = {
  configmaps: {
    group: "",
    kind: "ConfigMap",
    parts: { metadata: { ownerReferences } },
    required: ["apiVersion", "kind", "name", "uid"].map((name) => `metadata.ownerReferences.0.${name}`),
  },
  services: {
    group: "",
    kind: "Service",
    parts: { spec: { ports: [{ port: 80 }] } },
    required: ["spec.ports.0.port"],
  },
  podtemplates: {
    group: "",
    kind: "PodTemplate",
    parts: { template },
    required: inPods.map((path) => `template.spec.${path}`),
  },
  pods: { group: "", kind: "Pod", parts: { spec: podSpec }, required: inPods.map((path) => `spec.${path}`) },
  limitranges: {
    group: "",
    kind: "LimitRange",
    parts: { spec: { limits: [{ type: "Container", max: { cpu: "1" } }] } },
    required: ["spec.limits.0.type"],
  },
  deployments: {
    group: "apps",
    kind: "Deployment",
    parts: { spec: { selector: { matchLabels: labels }, template } },
    required: ["spec.selector", "spec.template", ...inTemplates],
  },
  roles: {
    group: "rbac.authorization.*",
    kind: "Role",
    parts: { rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }] },
    required: ["rules.0.verbs"],
  },
  rolebindings: {
    group: "rbac.authorization.*",
    kind: "RoleBinding",
    parts: {
      roleRef: { apiGroup: "rbac.authorization.*", kind: "Role", name: "r" },
      subjects: [{ kind: "ServiceAccount", name: "s", namespace: "default" }],
    },
    required: ["roleRef.kind", "roleRef.name", "subjects.0.kind", "subjects.0.name"],
  },
} as const satisfies Record<string, Form>;
type Plural = keyof typeof forms;

const cases = (Object.keys(forms) as Plural[]).flatMap((plural) =>
  forms[plural].required.map((path) => ({ plural, path })),
);
const verbs = ["post", "apply"] as const;
const levels = ["Ignore", "Warn", "Strict", undefined] as const;

/**
 * Property: an object of any built-in type without a field that its schema requires is refused, at every level; with it,
 * it is taken.
 * Method: complete objects, and the same with one field left out or null; all of it dry.
 */
export const requiredFieldsAreRequired = defineCheck({
  id: "required-fields-are-required",
  area: "field-validation",
  property: "What leaves out a required field is refused, whatever its type and the level.",
  requirements: ["field-validation.types"],
  features: ["namespaces"],
  input: fc.record({
    missing: fc.constantFrom(...cases),
    verb: fc.constantFrom(...verbs),
    level: fc.constantFrom(...levels),
    by: fc.constantFrom("absence", "null"),
  }),
  examples: (Object.keys(forms) as Plural[]).map((plural) => ({
    missing: { plural, path: forms[plural].required[0] },
    verb: "post" as const,
    level: undefined,
    by: "absence" as const,
  })),
  async run(attempt, { missing: { plural, path }, verb, level, by }) {
    const form: Form = forms[plural];
    const { groupSuffix } = attempt.profile.dialect;
    const group = form.group.replace("*", groupSuffix);
    const groupVersion = group === "" ? "v1" : `${group}/v1`;
    const served = await servedTypes(attempt.client);
    if (!served.some((type) => type.groupVersion === groupVersion && type.name === plural)) return;
    const prefix = group === "" ? "/api/v1" : `/apis/${groupVersion}`;
    const collection = await attempt.target.collection(plural, "", prefix);
    const parts = JSON.parse(
      JSON.stringify(form.parts).replaceAll("authorization.*", `authorization.${groupSuffix}`),
    ) as JsonObject;
    const metadata = { ...(parts["metadata"] as JsonObject | undefined), name: "a" };
    const whole: JsonObject = { apiVersion: groupVersion, kind: form.kind, ...parts, metadata };
    const taken = await send(collection, verb, whole, level);
    if (taken.status === 401 || taken.status === 403) {
      throw new Inconclusive(`the credentials do not allow to create ${plural}: ${shownAnswer(taken)}`);
    }
    judge(attempt, taken.status < 300, `a complete ${form.kind} taken`, shownAnswer(taken));
    const lacking = without(whole, path.split("."), by === "null");
    const refused = await send(collection, verb, lacking, level);
    const isRefused = refused.status === 400 || refused.status === 422;
    judge(
      attempt,
      isRefused,
      `a ${form.kind} refused, whose ${path} is ${by === "null" ? "null" : "absent"}`,
      shownAnswer(refused),
    );
  },
});

function judge(attempt: Attempt, holds: boolean, expected: string, actual: string): void {
  attempt.expect("field-validation.types", holds, expected, actual);
}

function send(collection: Collection, verb: (typeof verbs)[number], body: JsonObject, level: string | undefined) {
  const query = { dryRun: "All", fieldValidation: level };
  if (verb === "post") return collection.client.request("POST", collection.path, { body, query });
  const contentType = patchTypes.apply;
  const path = collection.pathOf("a");
  return collection.client.request("PATCH", path, { body, contentType, query: { ...query, fieldManager: "alpha" } });
}

/** A copy in which the field at the path is not, or is null. */
function without(value: JsonObject, path: readonly string[], asNull: boolean): JsonObject {
  const copy = structuredClone(value) as Record<string, Json>;
  let at = copy;
  for (const name of path.slice(0, -1)) at = at[name] as Record<string, Json>;
  const last = path.at(-1) as string;
  if (asNull) at[last] = null;
  else delete at[last];
  return copy;
}
