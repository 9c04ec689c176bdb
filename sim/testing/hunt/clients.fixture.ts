/** Small clients, each with one of the mistakes that clients make, and one without: what a hunt must tell apart. */
import protobuf from "protobufjs/minimal.js";
import type { Cluster } from "../cluster.ts";
import type { Machine } from "../program.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

export interface Habits {
  /** What it watches from, when it has listed at this version. */
  readonly from?: (version: string) => string;
  /** Whether it lists anew after 410. Default true. */
  readonly relists?: boolean;
  /** How it lists. Default: JSON, the present. */
  readonly list?: (machine: Machine, known: string) => Promise<string | undefined>;
}

/** Lists, watches, counts in an object of its own how many ConfigMaps it knows of, and lists again when it must. */
export async function follow(
  machine: Machine,
  { from = same, relists = true, list = listJson }: Habits,
): Promise<void> {
  let version = "";
  for (;;) {
    try {
      if (version === "") version = (await list(machine, "")) ?? "";
      if (version === "") throw new Error("the list was rejected");
      version = from(version);
      const watched = await watch(machine, version);
      if (watched !== "expired") version = watched;
      else if (relists) version = "";
    } catch {
      // The connection broke, or the answer was no good: once more from the beginning, after a while.
      version = "";
    }
    await pause(500);
  }
}

const same = (version: string): string => version;
const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis));

async function listJson({ fetch, url }: Machine): Promise<string> {
  const response = await fetch(url + configMaps);
  if (!response.ok) throw new Error(`list: ${response.status}`);
  const { metadata } = (await response.json()) as { metadata: { resourceVersion: string } };
  return metadata.resourceVersion;
}

async function watch({ fetch, url }: Machine, from: string): Promise<string> {
  const response = await fetch(`${url}${configMaps}?watch=1&resourceVersion=${from}`);
  if (response.status === 410) return "expired";
  if (!response.ok) throw new Error(`watch: ${response.status}`);
  let [version, rest] = [from, ""];
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() as string;
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as {
          type: string;
          object: { metadata: { resourceVersion: string } };
        };
        if (type === "ERROR") return "expired";
        version = object.metadata.resourceVersion;
      }
    }
  } catch {
    return version;
  }
  return version;
}

/** Lists a version exactly, as it was when it last listed, and looks at what it gets, or does not. */
export const listExactly =
  (verifies: boolean) =>
  async (machine: Machine): Promise<string | undefined> => {
    const wanted = await listJson(machine);
    await pause(1500); // meanwhile the present moves on
    const { fetch, url } = machine;
    const response = await fetch(`${url}${configMaps}?resourceVersion=${wanted}&resourceVersionMatch=Exact`);
    if (!response.ok) return undefined;
    const { metadata } = (await response.json()) as { metadata: { resourceVersion: string } };
    return verifies && metadata.resourceVersion !== wanted ? undefined : metadata.resourceVersion;
  };

/** Lists in protobuf, and looks at the first four bytes, or skips them. */
export const listProtobuf =
  (looks: boolean) =>
  async ({ fetch, url }: Machine): Promise<string | undefined> => {
    const response = await fetch(url + configMaps, { headers: { accept: "application/vnd.kubernetes.protobuf" } });
    if (!response.ok) return undefined;
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (looks && new TextDecoder().decode(bytes.subarray(0, 4)) !== "k8s\0") return undefined;
    // Unknown.raw (2) → ConfigMapList.metadata (1) → ListMeta.resourceVersion (2)
    const text = [2, 1, 2].reduce<Uint8Array>((inside, number) => field(inside, number), bytes.subarray(4));
    return new TextDecoder().decode(text);
  };

function field(bytes: Uint8Array, number: number): Uint8Array {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === number) return reader.bytes();
    reader.skipType(tag & 7);
  }
  throw new Error(`no field ${number}`);
}

/** A ConfigMap a second, for six seconds, and one of them is changed. */
export async function createSome(cluster: Cluster): Promise<void> {
  for (const name of ["a", "b", "c", "d", "e", "f"]) {
    await cluster.create([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name } }]);
    await cluster.advance("1s");
  }
}
