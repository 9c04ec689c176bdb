/**
 * Credentials of registries out of secrets that a pod names. Source: the published agent's rules: which of the entries fit an
 * image, the most particular first, and what is told of a secret that is not there.
 */
import { decodeBase64 } from "../../../wire/base64.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import type { Pod } from "../pods/pod-types.ts";
import type { Task } from "../task.ts";
import { getObject } from "../client/api-task.ts";
import { bytesOf, type EnvironmentContext } from "./environment.ts";
import { imageMatches } from "./image-names.ts";

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

export interface PullSecrets {
  /** By the registry, or the part of one, that each is for. */
  readonly entries: readonly (readonly [place: string, credentials: RegistryCredentials])[];
  /** Secrets that could not be read. */
  readonly missing: readonly string[];
}

export const noPullSecrets: PullSecrets = { entries: [], missing: [] };

export function* pullSecrets(context: EnvironmentContext, pod: Pod): Task<PullSecrets> {
  const entries: (readonly [string, RegistryCredentials])[] = [];
  const missing: string[] = [];
  for (const { name = "" } of pod.spec.imagePullSecrets ?? []) {
    if (name === "") continue;
    const found = yield* getObject(context.api, "secret", pod.metadata.namespace, name);
    if ("error" in found) missing.push(name);
    else for (const entry of entriesOf(found.object)) entries.push(entry);
  }
  return { entries, missing };
}

/** Those that fit the image, the most particular first. */
export function credentialsFor(image: string, { entries }: PullSecrets): readonly RegistryCredentials[] {
  return entries
    .filter(([place]) => fits(place, image))
    .sort(([one], [other]) => (one < other ? 1 : one > other ? -1 : 0))
    .map(([, credentials]) => credentials);
}

const defaultRegistry = "index.docker.io";

/** An image without a registry is the default one's. */
function fits(place: string, image: string): boolean {
  const [first = "", ...rest] = image.split("/");
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost") && first !== "docker.io";
  if (!hasRegistry) return place === defaultRegistry || place === "docker.io";
  return imageMatches(place, image);
}

/** What no entry can be read of has none. */
function entriesOf(secret: JsonObject): readonly (readonly [string, RegistryCredentials])[] {
  const data = bytesOf("secret", secret);
  const [file, isWhole] =
    secret["type"] === "kubernetes.io/dockercfg" ? [".dockercfg", true] : [".dockerconfigjson", false];
  const bytes = data.get(file);
  if (bytes === undefined) return [];
  let read: unknown;
  try {
    read = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return [];
  }
  const auths = isWhole ? read : isObject(read as JsonObject) ? (read as JsonObject)["auths"] : undefined;
  if (!isObject(auths as JsonObject)) return [];
  return Object.entries(auths as JsonObject).flatMap(([place, auth]) => {
    const credentials = credentialsOf(auth);
    return credentials === undefined ? [] : [[placeOf(place), credentials] as const];
  });
}

function credentialsOf(auth: unknown): RegistryCredentials | undefined {
  if (!isObject(auth as JsonObject)) return undefined;
  const { username, password, auth: both } = auth as JsonObject;
  if (typeof both === "string" && both !== "") {
    const bytes = decodeBase64(both);
    const text = typeof bytes === "number" ? "" : new TextDecoder().decode(bytes);
    const colon = text.indexOf(":");
    return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
  }
  if (typeof username !== "string" || typeof password !== "string") return undefined;
  return { username, password };
}

/** Without the scheme, and without the path that says which version of the interface it is. */
function placeOf(text: string): string {
  const plain = text.replace(/^https?:\/\//, "");
  return plain.replace(/\/v[12]\/?$/, "").replace(/\/$/, "");
}
