/**
 * One object by name. Without a version the store answers: a consistent read. With one, the cache does, once
 * it is there; `0` is whatever it has.
 * Source: document 1, Get and list semantics, first row; the facts, section 3, last line.
 */
import type { Cancel } from "../../kernel/types.ts";
import type { KeyValue } from "../../store/types.ts";
import type { Source } from "../cache/source.ts";
import { type ApiError, notFound, tooLargeVersion } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { unreadableObject } from "../../contract/unreadable.ts";
import { keyOf } from "./selection.ts";
import type { GetRequest, GetSink, ReadContext, ReadTarget } from "./types.ts";
import { badCachedVersion, badVersion, parseVersion, VERSION_WAIT_MICROS } from "./versions.ts";

const nothing: Cancel = () => {};

export function startGet(context: ReadContext, target: ReadTarget, request: GetRequest, sink: GetSink): Cancel {
  const { resourceVersion } = request;
  const key = request.key ?? keyOf(target, request.namespace, request.name);
  if (resourceVersion === "" || !target.cached) {
    const problem = problemOf(context, key);
    if (problem !== undefined) {
      sink.failed(problem);
      return nothing;
    }
  }
  if (resourceVersion === "") {
    answer(context.store.get(key) as KeyValue | undefined, target, request, sink);
    return nothing;
  }
  const version = parseVersion(resourceVersion);
  if (version === undefined) {
    const { profile } = context;
    sink.failed(target.cached ? badCachedVersion(profile, resourceVersion) : badVersion(resourceVersion));
    return nothing;
  }
  const source = context.frontEnd.source(target.prefix, target.cached);
  return source.whenApplied(version, VERSION_WAIT_MICROS, (reached) => {
    if (reached) answer(source.get(key), target, request, sink);
    else sink.failed(tooLarge(source, version, resourceVersion));
  });
}

function problemOf({ store, unreadable, profile }: ReadContext, key: string): ApiError | undefined {
  if (!unreadable.has(key) || store.get(key) === undefined) return undefined;
  return unreadableObject(key, profile.featureGates);
}

/** A type without a cache has nothing to wait for, and names no time to come back. */
export function tooLarge(source: Source, version: number, text: string): ReturnType<typeof tooLargeVersion> {
  // Beyond 2^53 a number is only near what was asked.
  const asked = Number.isSafeInteger(version) ? String(version) : text.replace(/^0+/, "");
  return tooLargeVersion(asked, source.applied, source.cached ? 1 : 0);
}

function answer(held: KeyValue | undefined, target: ReadTarget, request: GetRequest, sink: GetSink): void {
  if (held === undefined) sink.failed(notFound(target.name, request.name));
  else sink.found(held.value as JsonObject);
}
