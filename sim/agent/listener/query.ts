/** Parameters of a request's query, decoded; one that cannot be decoded is left out. */
export interface QueryValues {
  first(name: string): string | undefined;
  all(name: string): readonly string[];
  /** Set, and to nothing that means no. */
  flag(name: string): boolean;
}

export function readQuery(text: string): QueryValues {
  const values = new Map<string, string[]>();
  for (const pair of text.split("&")) {
    const at = pair.indexOf("=");
    const [name, value] = [decoded(at < 0 ? pair : pair.slice(0, at)), decoded(at < 0 ? "" : pair.slice(at + 1))];
    if (name === undefined || value === undefined || pair === "") continue;
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return {
    first: (name) => values.get(name)?.[0],
    all: (name) => values.get(name) ?? [],
    flag: (name) => !["0", "false", undefined].includes(values.get(name)?.[0]?.toLowerCase()),
  };
}

export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", "%20"));
  } catch {
    return undefined;
  }
}
