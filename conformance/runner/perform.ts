/** Runs random programs against a collection and records what every writer saw. */
import { configMap } from "../arbitraries/config-maps.ts";
import type { WriteStep } from "../model/write-step.ts";
import type { Answer } from "../client/exchange.ts";
import { LostAnswer } from "../client/client.ts";
import type { Collection } from "../client/collection.ts";
import { isApiObject, isJsonObject, type JsonObject } from "../client/types.ts";
import type { Read, Write, WriteVerb } from "../model/history.ts";

export interface Performance {
  readonly writes: Write[];
  readonly reads: Read[];
}

/** What the writers know together: the versions of each name, newest last. */
export class Memory {
  private readonly versions = new Map<string, string[]>();
  private valueCount = 0;

  /** A value that no other write has. */
  nextValue(): string {
    this.valueCount += 1;
    return `v${this.valueCount}`;
  }

  note(name: string, version: string | undefined): void {
    if (version === undefined) return;
    const known = this.versions.get(name);
    if (known === undefined) this.versions.set(name, [version]);
    else if (known.at(-1) !== version) known.push(version);
  }

  version(name: string, base: "current" | "stale"): string | undefined {
    return this.versions.get(name)?.at(base === "current" ? -1 : -2);
  }
}

/** All writers at once, each writer's steps in order. */
export async function performAll(
  collection: Collection,
  writers: readonly (readonly WriteStep[])[],
  memory: Memory = new Memory(),
): Promise<Performance> {
  const performance: Performance = { writes: [], reads: [] };
  await Promise.all(
    writers.map(async (steps) => {
      for (const step of steps) await perform(collection, step, memory, performance);
    }),
  );
  return performance;
}

export async function perform(
  collection: Collection,
  step: WriteStep,
  memory: Memory,
  into: Performance,
): Promise<Answer | LostAnswer> {
  const { name } = step;
  const options = { cutAfterSending: step.cut };
  const value = memory.nextValue();
  const base = "base" in step && step.base !== "none" ? memory.version(name, step.base) : undefined;
  switch (step.do) {
    case "create": {
      const sent = configMap(name, { team: step.team, data: { value } });
      return note(into, memory, collection, name, "create", undefined, await collection.tryCreate(sent, options));
    }
    case "put": {
      const sent = configMap(name, { team: step.team, data: { value }, resourceVersion: base });
      return note(into, memory, collection, name, "put", base, await collection.tryPut(name, sent, options));
    }
    case "merge-patch": {
      const version = base === undefined ? {} : { resourceVersion: base };
      const labels = { team: step.team === "none" ? null : step.team };
      const patch: JsonObject = { metadata: { ...version, labels }, data: { value } };
      return note(
        into,
        memory,
        collection,
        name,
        "patch",
        base,
        await collection.tryPatch(name, "merge", patch, options),
      );
    }
    case "json-patch": {
      const patch = [{ op: "add", path: "/data", value: { value } }];
      return note(
        into,
        memory,
        collection,
        name,
        "patch",
        undefined,
        await collection.tryPatch(name, "json", patch, options),
      );
    }
    case "delete":
      return note(
        into,
        memory,
        collection,
        name,
        "delete",
        undefined,
        await collection.tryDelete(name, undefined, options),
      );
    case "get": {
      const answer = await collection.get(name);
      const object = answer.status === 200 && isApiObject(answer.json) ? answer.json : undefined;
      const { began, ended } = answer.exchange;
      if (answer.status === 200 || answer.status === 404) {
        into.reads.push({ key: keyIn(collection, name), began, ended: ended as number, object });
      }
      memory.note(name, object?.metadata.resourceVersion);
      return answer;
    }
  }
}

function note(
  into: Performance,
  memory: Memory,
  collection: Collection,
  name: string,
  verb: WriteVerb,
  demanded: string | undefined,
  result: Answer | LostAnswer,
): Answer | LostAnswer {
  const write = writeOf(verb, keyIn(collection, name), demanded, result);
  into.writes.push(write);
  memory.note(name, write.object?.metadata.resourceVersion);
  return result;
}

/** A write as its writer saw it. */
function writeOf(verb: WriteVerb, key: string, demanded: string | undefined, result: Answer | LostAnswer): Write {
  const { began, ended } = result.exchange;
  if (result instanceof LostAnswer) {
    return { verb, key, began, ended: undefined, status: undefined, demanded, object: undefined, uid: undefined };
  }
  const object = result.status < 300 && isApiObject(result.json) ? result.json : undefined;
  return { verb, key, began, ended, status: result.status, demanded, object, uid: uidOf(result) };
}

function uidOf({ json }: Answer): string | undefined {
  if (isApiObject(json)) return json.metadata.uid;
  const details = isJsonObject(json) ? json["details"] : undefined;
  const uid = isJsonObject(details) ? details["uid"] : undefined;
  return typeof uid === "string" ? uid : undefined;
}

/** `namespace/name` of an object of a namespaced collection. */
function keyIn(collection: Collection, name: string): string {
  const namespace = /\/namespaces\/([^/]+)\//.exec(collection.path)?.[1];
  return namespace === undefined ? name : `${namespace}/${name}`;
}
