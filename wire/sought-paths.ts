/** Paths that are looked for on the way through a document, each with how much of it has been found. */

export interface Sought {
  readonly path: string;
  /** So much of it is behind. */
  readonly length: number;
}

export const nothingSought: readonly Sought[] = [];

/** Those that go on with `name`: `a`, `.b`, `[0]`. */
export function stepInto(sought: readonly Sought[], name: string): readonly Sought[] {
  if (sought.length === 0) return sought;
  return sought
    .filter(({ path, length }) => path.startsWith(name, length))
    .map(({ path, length }) => ({ path, length: length + name.length }));
}
