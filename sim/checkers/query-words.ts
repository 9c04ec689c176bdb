/** The words of a query, decoded; a repeated one counts once, as the server takes it. */
export function queryOf(query: string): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  if (query === "") return words;
  for (const part of query.split("&")) {
    const [name = "", value = ""] = part.split("=", 2);
    if (!words.has(name)) words.set(name, decodeURIComponent(value.replaceAll("+", " ")));
  }
  return words;
}
