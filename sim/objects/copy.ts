/** Deep copies of objects, for those who may do with them what they like. */
import type { Json } from "../contract/http-message.ts";

/** `value` without its absent fields. Whole numbers beyond 2^53 stay the bigints that they are. */
export function copyJson<Value extends Json>(value: Value): Value {
  if (Array.isArray(value)) return (value as readonly Json[]).map(copyJson) as unknown as Value;
  if (typeof value !== "object" || value === null) return value;
  const present = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(present.map(([key, each]) => [key, copyJson(each as Json)])) as unknown as Value;
}
