/** Deep copies of objects, for those who may do with them what they like. */
import type { Json } from "../contract/http-message.ts";
import { setKey } from "./walker.ts";

/** `value` without its absent fields. Whole numbers beyond 2^53 stay the bigints that they are. */
export function copyJson<Value extends Json>(value: Value): Value {
  if (Array.isArray(value)) return (value as readonly Json[]).map(copyJson) as unknown as Value;
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, Json> = {};
  for (const [key, each] of Object.entries(value) as [string, Json | undefined][]) {
    if (each !== undefined) setKey(copy, key, copyJson(each));
  }
  return copy as unknown as Value;
}
