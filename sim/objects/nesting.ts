/** Bounds on values whose size and depth a client chooses, measured without recursing beyond the bound. */

/** Whether lists and objects stand in one another more than `max` deep. */
export function isDeeperThan(max: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (max === 0) return true;
  return Object.values(value).some((child) => isDeeperThan(max - 1, child));
}

/** About how many bytes a value takes as JSON; stops counting above `max`. */
export function roughSize(value: unknown, max: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  let size = 2;
  for (const [key, child] of Object.entries(value)) {
    if (size > max) break;
    size += (Array.isArray(value) ? 1 : key.length + 4) + roughSize(child, max - size);
  }
  return size;
}
