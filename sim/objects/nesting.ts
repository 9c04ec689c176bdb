/** Bounds on values whose depth a client chooses. */

/** Whether lists and objects stand in one another more than `max` deep. Any depth. */
export function isDeeperThan(max: number, value: unknown): boolean {
  let level: object[] = isContainer(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === max) return true;
    const next: object[] = [];
    for (const container of level) {
      if (Array.isArray(container)) {
        for (const child of container as readonly unknown[]) if (isContainer(child)) next.push(child);
      } else {
        for (const key in container) {
          const child: unknown = (container as Readonly<Record<string, unknown>>)[key];
          if (isContainer(child)) next.push(child);
        }
      }
    }
    level = next;
  }
  return false;
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;
