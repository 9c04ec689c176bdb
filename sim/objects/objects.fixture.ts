/** What the tests of this folder share: targets, a stream of draws, and the whole way of a write. */
import { type Dialect, svcDialect } from "../../wire/dialect.ts";
import { findResource, splitGroupVersion } from "../../wire/resources.ts";
import type { Prng } from "../kernel/types.ts";
import { ApiError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { type BodyFormat, type Decoded, decodeObject } from "./decode.ts";
import { decodePatched, type Patch } from "./decode-patch.ts";
import { trackManagedFields } from "./managed-fields.ts";
import { seal } from "./seal.ts";
import type { Strategy } from "./strategy.ts";
import { strategyOf } from "../kinds/strategies.ts";
import {
  finishMetadata,
  prepareForCreate,
  prepareForUpdate,
  wipeSystemFields,
  withResourceVersion,
} from "./system-fields.ts";
import { type FieldValidation, ownMetadata, type Target } from "../contract/objects.ts";
import { apiVersionInDialect } from "../../wire/dialect.ts";

export interface Endpoint {
  readonly target: Target;
  readonly strategy: Strategy;
}

/** `v1/configmaps`, `apps/v1/deployments`. */
export function endpoint(path: string, dialect: Dialect = svcDialect): Endpoint {
  const slash = path.lastIndexOf("/");
  const [group, version] = splitGroupVersion(path.slice(0, slash));
  const row = findResource(group, version, path.slice(slash + 1));
  const strategy = row === undefined ? undefined : strategyOf(row, dialect);
  if (row?.type === undefined || strategy === undefined) throw new Error(`no resource ${path}`);
  return {
    target: { kind: row.kind, group, version, type: row.type, dialect, defaults: strategy?.rules.defaults },
    strategy,
  };
}

/** A stream that is good enough for a test, and the same each time. */
export function testPrng(seed = 1): Prng {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return {
    uint32: next,
    intInclusive: (min, max) => min + ((next() >>> 8) % (max - min + 1)),
    chance: (numerator, denominator) => next() % denominator < numerator,
    stream: (name) => testPrng(seed + name.length),
  };
}

const encoder = new TextEncoder();

export function decodeText(
  text: string,
  { target }: Endpoint,
  level: FieldValidation = "Warn",
  format: BodyFormat = "json",
): Decoded {
  return decodeObject(encoder.encode(text), format, target, level);
}

export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** The error that `attempt` throws; fails when it throws none. */
export function errorOf(attempt: () => unknown): ApiError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

export interface WriteOptions {
  readonly manager?: string;
  readonly now?: string;
  readonly subresource?: string;
  readonly version?: string;
}

const firstTime = "2026-01-01T00:00:00Z";

export function create(body: JsonObject, { target, strategy }: Endpoint, options: WriteOptions = {}): JsonObject {
  const { now = firstTime, version = "1" } = options;
  const { draft } = decodeObject(body, "json", target, "Strict");
  wipeSystemFields(draft);
  if (strategy.namespaced) ownMetadata(draft).namespace ??= "ns";
  trackManagedFields(draft, undefined, strategy, tracking(target, options));
  prepareForCreate(draft, strategy, { now, prng: testPrng() });
  finishMetadata(draft, version);
  return seal(draft as JsonObject);
}

export function update(body: JsonObject, live: JsonObject, at: Endpoint, options: WriteOptions = {}): JsonObject {
  return finish(decodeObject(body, "json", at.target, "Strict"), live, at, options);
}

export function patch(change: Patch, live: JsonObject, at: Endpoint, options: WriteOptions = {}): JsonObject {
  return finish(decodePatched(change, live, at.target, { level: "Warn", strictStatus: 422 }), live, at, options);
}

function finish({ draft }: Decoded, live: JsonObject, at: Endpoint, options: WriteOptions): JsonObject {
  const { subresource = "", version = "2" } = options;
  trackManagedFields(draft, live, at.strategy, tracking(at.target, options));
  prepareForUpdate(draft, live, at.strategy, subresource);
  return seal(withResourceVersion(draft, version));
}

function tracking(target: Target, { manager = "unknown", now = firstTime, subresource = "" }: WriteOptions) {
  const groupVersion = target.group === "" ? target.version : `${target.group}/${target.version}`;
  return { manager, now, subresource, apiVersion: apiVersionInDialect(target.dialect, groupVersion) };
}

/** `value` with all below it; `seen` is told of everything that is read. */
export function counted<Value>(value: Value, seen: () => void): Value {
  if (typeof value !== "object" || value === null) return value;
  const get = (target: object, key: string | symbol): unknown => {
    seen();
    const inner: unknown = Reflect.get(target, key);
    return typeof inner === "function" ? inner : counted(inner, seen);
  };
  return new Proxy(value, { get }) as Value;
}
