/** Deep freezing: what turns a draft into a value that everybody may share. */

/** Freezes `value` and all below it; stops at what is frozen already, for that was sealed as a whole. Returns it. */
export function seal<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) sealObject(value);
  return value;
}

function sealObject(value: object): void {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const child: unknown = value[at];
      if (typeof child === "object" && child !== null && !Object.isFrozen(child)) sealObject(child);
    }
  } else {
    for (const key in value) {
      const child: unknown = (value as Record<string, unknown>)[key];
      if (typeof child === "object" && child !== null && !Object.isFrozen(child)) sealObject(child);
    }
  }
  Object.freeze(value);
}
