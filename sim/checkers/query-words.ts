const none: ReadonlyMap<string, string> = new Map();
const escaped = /[+%]/;

/** The words of a query, decoded; a repeated one counts once, as the server takes it. */
export function queryOf(query: string): ReadonlyMap<string, string> {
  if (query === "") return none;
  const words = new Map<string, string>();
  for (const part of query.split("&")) {
    const [name = "", value = ""] = part.split("=", 2);
    if (!words.has(name)) words.set(name, escaped.test(value) ? decodeURIComponent(value.replaceAll("+", " ")) : value);
  }
  return words;
}
