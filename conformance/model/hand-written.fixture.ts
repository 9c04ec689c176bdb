/** Short ways to write histories by hand, for the tests of the judges. Keys are in the namespace `n`. */
import type { ApiList, ApiObject } from "../client/types.ts";
import type { LogEvent, Read, Write, WriteVerb } from "./history.ts";

/** `a@3` is the object n/a at version 3; `a@3#2` is its second incarnation. `fields` go into metadata. */
export function object(written: string, fields: Partial<ApiObject["metadata"]> = {}): ApiObject {
  const [, name = "", version = "", life = "1"] = /^([^@#]+)@?(\w*)#?(\w*)$/.exec(written) ?? [];
  const uid = `${name}-${life || "1"}`;
  const metadata = {
    name,
    namespace: "n",
    uid,
    resourceVersion: version,
    creationTimestamp: `t${life || "1"}`,
    ...fields,
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { version } };
}

/** `+a@1` is ADDED, `~a@2` MODIFIED, `-a@3` DELETED. */
export function event(written: string, fields: Partial<ApiObject["metadata"]> = {}): LogEvent {
  const type = ({ "+": "ADDED", "~": "MODIFIED", "-": "DELETED" } as const)[written[0] as "+" | "~" | "-"];
  const made = object(written.slice(1), fields);
  const { name, uid, resourceVersion } = made.metadata;
  return { type, key: `n/${name}`, uid: uid as string, version: resourceVersion as string, object: made };
}

export function log(...written: readonly string[]): LogEvent[] {
  return written.map((each) => event(each));
}

export function list(version: string, ...written: readonly string[]): ApiList {
  const items = written.map((each) => object(each));
  return { resourceVersion: version, continueToken: undefined, remainingItemCount: undefined, items };
}

/** A write from place `began` to place `ended`; `ended` undefined: its answer was lost. */
export function write(
  verb: WriteVerb,
  written: string,
  [began, ended]: readonly [number, number | undefined],
  fields: Partial<Write> = {},
): Write {
  const made = object(written);
  const lost = ended === undefined;
  const status = lost ? undefined : (fields.status ?? (verb === "create" ? 201 : 200));
  const shown = !lost && (status as number) < 300 && verb !== "delete" ? made : undefined;
  const uid = lost ? undefined : made.metadata.uid;
  return {
    verb,
    key: `n/${made.metadata.name}`,
    began,
    ended,
    demanded: undefined,
    object: shown,
    uid,
    ...fields,
    status,
  };
}

export function read(written: string, [began, ended]: readonly [number, number], absent = false): Read {
  const made = object(written);
  return { key: `n/${made.metadata.name}`, began, ended, object: absent ? undefined : made };
}
