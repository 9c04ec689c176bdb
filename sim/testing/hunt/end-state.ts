/**
 * What a run leaves behind, without what differs from run to run by itself (uids, versions, times, generated names), and
 * where two runs differ. A controller's work should come to the same end whatever went wrong on the way.
 */
import type { JsonObject } from "../../contract/http-message.ts";

/** What counts of an object; `undefined`: nothing. */
export type Counted = (object: JsonObject) => unknown;

const kindsThatPass = new Set(["Event", "Lease"]);
const metadataThatDiffers = ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink"];
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

/** The objects by name, each as JSON. Objects with generated names go by their prefix, several under one name in order of their content. */
export function endState(
  stored: ReadonlyMap<string, JsonObject>,
  counted: Counted,
): ReadonlyMap<string, readonly string[]> {
  const result = new Map<string, string[]>();
  for (const object of stored.values()) {
    const { name = "", namespace = "", generateName } = metadataOf(object);
    if (kindsThatPass.has(String(object["kind"]))) continue;
    const value = counted(object);
    if (value === undefined) continue;
    const key = `${String(object["kind"])} ${namespace === "" ? "" : `${namespace}/`}${generateName === undefined ? name : `${generateName}*`}`;
    const texts = result.get(key) ?? [];
    texts.push(JSON.stringify(plain(value, generateName === undefined ? [] : [name])) ?? "");
    result.set(key, texts);
  }
  for (const texts of result.values()) texts.sort();
  return result;
}

/** Undefined when both are the same. */
export function endDifference(
  wanted: ReadonlyMap<string, readonly string[]>,
  found: ReadonlyMap<string, readonly string[]>,
): { readonly expected: string; readonly actual: string } | undefined {
  for (const key of [...new Set([...wanted.keys(), ...found.keys()])].sort()) {
    const [want, have] = [wanted.get(key) ?? [], found.get(key) ?? []];
    if (want.length !== have.length) return { expected: counted(key, want.length), actual: counted(key, have.length) };
    const at = want.findIndex((text, index) => text !== have[index]);
    if (at >= 0) return { expected: `${key} is ${short(want[at])}`, actual: `it is ${short(have[at])}` };
  }
  return undefined;
}

const counted = (key: string, count: number): string =>
  count === 1 ? `there is ${key}` : `there are ${count} of ${key}`;
const charactersMax = 600;
const short = (text = ""): string => (text.length > charactersMax ? `${text.slice(0, charactersMax)} …` : text);

interface Meta {
  readonly name?: string;
  readonly namespace?: string;
  readonly generateName?: string;
}
const metadataOf = (object: JsonObject): Meta => (object["metadata"] ?? {}) as Meta;

/** Objects come through the API, whose parser bounds how deep they are. */
function plain(value: unknown, drawnNames: readonly string[], key = ""): unknown {
  if (typeof value === "string") {
    if (drawnNames.includes(value)) return "<generated>";
    return time.test(value) ? "<time>" : value.replace(uuid, "<uid>");
  }
  if (Array.isArray(value)) return value.map((item) => plain(item, drawnNames));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => key !== "metadata" || !metadataThatDiffers.includes(name));
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, plain(inner, drawnNames, name)]));
}
