/** Planted bugs of how a pod's specification is read: around what sources tell, which says something else then. */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import type { AgentBugName } from "../../planted/agent-bugs.ts";
import type { WrapperBugs } from "../../planted/planting.ts";
import type { SourceHearer } from "../pods/pod-manager.ts";

type Reading = (pod: JsonObject) => JsonObject;

export const specBugs = {
  "restarts-what-succeeded": misread(ofSpec((spec) => ({ ...spec, restartPolicy: "Always" }))),
  "ready-without-its-gates": misread(ofSpec(without("readinessGates"))),
  "deadline-unheeded": misread(ofSpec(without("activeDeadlineSeconds"))),
  "one-success-is-enough": misread(ofProbes((probe) => ({ ...probe, successThreshold: 1 }))),
  "one-failure-short": misread(
    ofProbes((probe) => ({ ...probe, failureThreshold: oneLess(probe["failureThreshold"]) })),
  ),
  "initial-delay-unheeded": misread(ofProbes(without("initialDelaySeconds"))),
  "probe-grace-unheeded": misread(ofProbes(without("terminationGracePeriodSeconds"))),
  "startup-not-awaited": misread(ofContainers(without("startupProbe"))),
  "readiness-restarts": misread(
    ofContainers((container) => {
      const { readinessProbe } = container;
      return readinessProbe === undefined ? container : { livenessProbe: readinessProbe, ...container };
    }),
  ),
  "pre-stop-unheeded": misread(ofContainers(within("lifecycle", without("preStop")))),
  "post-start-unheeded": misread(ofContainers(within("lifecycle", without("postStart")))),
  "asked-grace-unheeded": misread((pod) => {
    const { metadata, spec } = pod as Readonly<Record<string, JsonObject>>;
    const own = spec?.["terminationGracePeriodSeconds"];
    if (metadata?.["deletionGracePeriodSeconds"] === undefined || own === undefined) return pod;
    return { ...pod, metadata: { ...metadata, deletionGracePeriodSeconds: own } };
  }),
  "unknown-reference-is-empty": misread(
    ofContainers((container) => {
      const known = new Set<string>();
      return {
        ...container,
        ...listed(container, "env", (variable) => {
          const value = String(variable["value"] ?? "").replaceAll(/(\$\$)|\$\(([^)]+)\)/g, (all, escape, name) =>
            escape !== undefined || known.has(name as string) ? all : "",
          );
          known.add(String(variable["name"]));
          return variable["value"] === undefined ? variable : { ...variable, value };
        }),
      };
    }),
  ),
  "variables-by-name": misread(
    ofContainers((container) => {
      const env = container["env"] as readonly JsonObject[] | undefined;
      return env === undefined ? container : { ...container, env: env.toSorted(byName) };
    }),
  ),
  "escapes-stay": misread(ofVariables(within("value", (text) => String(text).replaceAll("$$", () => "$$$$")))),
  "arguments-as-they-are": misread(
    ofContainers((container) => {
      const args = container["args"] as readonly string[] | undefined;
      return args === undefined ? container : { ...container, args: args.map((text) => text.replaceAll("$", "$$$$")) };
    }),
  ),
  "prefix-unheeded": misread(ofContainers((each) => ({ ...each, ...listed(each, "envFrom", without("prefix")) }))),
  "first-source-wins": misread(
    ofContainers((container) => {
      const sources = container["envFrom"] as readonly JsonObject[] | undefined;
      return sources === undefined ? container : { ...container, envFrom: sources.toReversed() };
    }),
  ),
  "optional-is-required": misread(
    ofContainers((each) => ({
      ...each,
      ...listed(each, "envFrom", ofReferences),
      ...listed(each, "env", within("valueFrom", ofReferences)),
    })),
  ),
  "divisor-unheeded": misread(ofVariables(within("valueFrom", within("resourceFieldRef", without("divisor"))))),
  "items-unheeded": misread(
    ofSpec((spec) => ({ ...spec, ...listed(spec, "volumes", within("configMap", without("items"))) })),
  ),
} as const satisfies WrapperBugs<AgentBugName, SourceHearer>;

const byName = (left: JsonObject, right: JsonObject): number => (String(left["name"]) < String(right["name"]) ? -1 : 1);

const oneLess = (threshold: Json | undefined): number => Math.max(1, Number(threshold ?? 3) - 1);

function misread(reading: Reading) {
  return (inner: SourceHearer, shows: () => boolean): SourceHearer => {
    const told = (object: JsonObject): JsonObject => (shows() ? reading(object) : object);
    return {
      replace: (source, objects) => inner.replace(source, objects.map(told)),
      changed: (source, object) => inner.changed(source, told(object)),
      gone: (uid) => inner.gone(uid),
      get isSure() {
        return inner.isSure;
      },
    };
  };
}

type Change<Value extends Json = JsonObject> = (value: Value) => Json;

function ofSpec(change: (spec: JsonObject) => JsonObject): Reading {
  return (pod) => ({ ...pod, spec: change(pod["spec"] as JsonObject) });
}

function ofContainers(change: (container: JsonObject) => JsonObject): Reading {
  return ofSpec((spec) => ({
    ...spec,
    ...listed(spec, "initContainers", change),
    ...listed(spec, "containers", change),
  }));
}

function ofProbes(change: (probe: JsonObject) => JsonObject): Reading {
  return ofContainers((container) =>
    ["startupProbe", "readinessProbe", "livenessProbe"].reduce(
      (changed, kind) => within(kind, change)(changed),
      container,
    ),
  );
}

function ofVariables(change: (variable: JsonObject) => JsonObject): Reading {
  return ofContainers((container) => ({ ...container, ...listed(container, "env", change) }));
}

function ofReferences(source: JsonObject): JsonObject {
  return ["configMapRef", "secretRef", "configMapKeyRef", "secretKeyRef"].reduce(
    (changed, kind) => within(kind, without("optional"))(changed),
    source,
  );
}

/** What stands under the name is changed, where there is something. */
function within(name: string, change: Change<never>): (object: JsonObject) => JsonObject {
  return (object) => {
    const value = object[name];
    return value === undefined ? object : { ...object, [name]: change(value as never) };
  };
}

function without(name: string): (object: JsonObject) => JsonObject {
  return ({ [name]: _gone, ...rest }) => rest as JsonObject;
}

function listed(object: JsonObject, name: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const items = object[name] as readonly JsonObject[] | undefined;
  return items === undefined ? {} : { [name]: items.map(change) };
}
