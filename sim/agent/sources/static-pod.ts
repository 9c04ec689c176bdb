/**
 * From a manifest to a static pod: decoded, defaulted and validated as the API server would, then given what makes it the
 * node's own. Source: the facts, Pod sources.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { findResource } from "../../../wire/resources.ts";
import { ApiError } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type Draft, metadataOf, ownMetadata, type Target } from "../../contract/objects.ts";
import { strategyOf } from "../../kinds/strategies.ts";
import { decodeObject } from "../../objects/decode.ts";
import { seal } from "../../objects/seal.ts";
import { validateCreate } from "../../objects/validation.ts";
import { parseYaml } from "../../objects/yaml-body.ts";
import { sortedJson } from "../../objects/sorted-json.ts";
import { md5Hex } from "./md5.ts";
import { plainNumbers } from "./plain-numbers.ts";

/** Where a manifest comes from: `file:` with a path, or `url:`. */
export interface ManifestOrigin {
  readonly source: "file" | "http";
  readonly place: string;
}

/** What is decided about static pods: each for itself, so that a wrong one can be put in its place (`sim/agent/planted/`). */
export interface StaticPodLaw {
  /** Of a manifest that names none. */
  readonly uidOf: (manifest: JsonObject, origin: ManifestOrigin, nodeName: string) => string;
  /** Whether it begins only when the other is gone. */
  readonly waitsFor: (pod: PodName, other: PodName) => boolean;
}

export interface PodName {
  readonly name: string;
  readonly namespace: string;
}

export const staticPodLaw: StaticPodLaw = {
  uidOf(manifest, { source, place }, nodeName) {
    const origin = source === "file" ? `host:${nodeName}file:${place}` : `url:${place}`;
    return md5Hex(encoder.encode(JSON.stringify(sortedJson(manifest)) + origin));
  },
  /** Two of one name never run side by side. */
  waitsFor: (pod, other) => pod.name === other.name && pod.namespace === other.namespace,
};

export type Manifest = { readonly pods: readonly JsonObject[] } | { readonly error: string };

const encoder = new TextEncoder();
const row = findResource("", "v1", "pods");

/** One pod; from a URL it may also be a list of them. The error says what is wrong with the first bad one. */
export function readManifest(
  content: Uint8Array,
  origin: ManifestOrigin,
  nodeName: string,
  dialect: Dialect,
  law: StaticPodLaw = staticPodLaw,
): Manifest {
  const text = new TextDecoder().decode(content);
  if (hasManyMarks(text)) return { error: `more than ${marksMax} lines, commas and brackets` };
  const read = parseYaml(text); // JSON is YAML, too
  if (!read.ok) return { error: read.error };
  const value = read.value as JsonObject | null;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { error: "it holds no object" };
  if (origin.source === "http" && value["kind"] === "PodList") {
    const pods: JsonObject[] = [];
    const items = value["items"] ?? [];
    if (!Array.isArray(items)) return { error: "its items are no list" };
    for (const item of items as readonly (JsonObject | null)[]) {
      const made = staticPod({ apiVersion: "v1", kind: "Pod", ...item }, origin, nodeName, dialect, law);
      if ("error" in made) return made;
      pods.push(made.pod);
    }
    return { pods };
  }
  if (value["kind"] !== "Pod" || value["apiVersion"] !== "v1") {
    return {
      error: `it holds a ${JSON.stringify(value["kind"] ?? "")} of ${JSON.stringify(value["apiVersion"] ?? "")}, not a v1 Pod`,
    };
  }
  const made = staticPod(value, origin, nodeName, dialect, law);
  return "error" in made ? made : { pods: [made.pod] };
}

/** A pod of a few megabytes has no more; the reader would take seconds for megabytes of nothing else. */
const marksMax = 200_000;

function hasManyMarks(text: string): boolean {
  if (text.length <= marksMax) return false;
  let count = 0;
  for (let at = 0; at < text.length && count <= marksMax; at++) if (marks.has(text.charCodeAt(at))) count++;
  return count > marksMax;
}

const marks = new Set([..."\n\r,[]{}?!&*"].map((mark) => mark.charCodeAt(0)));

function staticPod(
  value: JsonObject,
  origin: ManifestOrigin,
  nodeName: string,
  dialect: Dialect,
  law: StaticPodLaw,
): { readonly pod: JsonObject } | { readonly error: string } {
  const strategy = row === undefined ? undefined : strategyOf(row, dialect);
  if (strategy === undefined) return { error: "this dialect has no pods" };
  const target: Target = {
    kind: "Pod",
    group: "",
    version: "v1",
    type: strategy.type,
    dialect,
    defaults: strategy.rules.defaults,
  };
  let draft: Draft;
  try {
    draft = plainNumbers(decodeObject(value, "json", target, "Ignore").draft as JsonObject) as Draft;
  } catch (error) {
    if (error instanceof ApiError) return { error: error.message };
    throw error;
  }
  const metadata = ownMetadata(draft);
  if ((metadata.name ?? "") === "") return { error: "invalid pod: name is needed for the pod" };
  const { source } = origin;
  metadata.uid ||= law.uidOf(draft as JsonObject, origin, nodeName);
  metadata.name = `${metadata.name}-${nodeName.toLowerCase()}`;
  metadata.namespace ||= "default";
  const prefix = `${dialect.labelSuffix}/config`;
  metadata.annotations = {
    ...metadata.annotations,
    [`${prefix}.hash`]: metadata.uid,
    [`${prefix}.source`]: source,
  };
  const spec = { ...(draft["spec"] as JsonObject | undefined), nodeName } as Record<string, Json>;
  if (source === "file") {
    const tolerations = (spec["tolerations"] ?? []) as readonly Json[];
    spec["tolerations"] = [...tolerations, { operator: "Exists", effect: "NoExecute" }];
  }
  const bad = unsupported(spec);
  if (bad !== undefined) return { error: bad };
  draft["spec"] = spec;
  const [cause] = validateCreate(draft, strategy);
  if (cause !== undefined) return { error: `invalid pod: ${cause.field}: ${cause.message}` };
  draft["status"] = { phase: "Pending" };
  return { pod: seal(draft as JsonObject) };
}

function unsupported(spec: JsonObject): string | undefined {
  if (((spec["resourceClaims"] ?? []) as readonly Json[]).length > 0)
    return "static pods may not reference resource claims";
  for (const volume of (spec["volumes"] ?? []) as readonly JsonObject[]) {
    const sources = ((volume["projected"] as JsonObject | undefined)?.["sources"] ?? []) as readonly JsonObject[];
    if (sources.some((each) => each["clusterTrustBundle"] !== undefined)) {
      return "static pods may not reference cluster trust bundles";
    }
  }
  return undefined;
}

/** Of one source: the later of two pods of one name is dropped. */
export function withoutDoubles(pods: readonly JsonObject[], dropped: (pod: JsonObject) => void): readonly JsonObject[] {
  const names = new Set<string>();
  return pods.filter((pod) => {
    const { name, namespace } = metadataOf(pod);
    const isNew = !names.has(`${name}_${namespace}`);
    names.add(`${name}_${namespace}`);
    if (!isNew) dropped(pod);
    return isNew;
  });
}

/** Whether two manifests have the same bytes. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
