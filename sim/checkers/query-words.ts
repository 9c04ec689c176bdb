const none: ReadonlyMap<string, string> = new Map();
const escaped = /[+%]/;

/** Clients ask with the same few queries again and again. */
const known = new Map<string, ReadonlyMap<string, string>>();
const knownMax = 1024;

/** The words of a query, decoded; a repeated one counts once, as the server takes it. */
export function queryOf(query: string): ReadonlyMap<string, string> {
  if (query === "") return none;
  let words = known.get(query);
  if (words === undefined) {
    words = wordsIn(query);
    if (known.size >= knownMax) known.clear();
    known.set(query, words);
  }
  return words;
}

function wordsIn(query: string): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const part of query.split("&")) {
    const [name = "", value = ""] = part.split("=", 2);
    if (!words.has(name)) words.set(name, escaped.test(value) ? decodeURIComponent(value.replaceAll("+", " ")) : value);
  }
  return words;
}
