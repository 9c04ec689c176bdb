/** What is wrong with a text that should be YAML before any of it is read. Source: the published reader's texts. */

/** What no reader gets past: characters and directives; undefined when there is nothing. */
export function yamlTextProblem(text: string): string | undefined {
  if (unprintable.test(text)) return "control characters are not allowed";
  const [, directive, version] = /^(?:[ \t]*(?:#.*)?\n)*%(\S*)(?:[ \t]+(\S*))?/.exec(text) ?? [];
  if (directive === undefined || directive === "TAG") return undefined;
  if (directive === "YAML") return version === "1.1" ? undefined : "found incompatible YAML document";
  return /^[\w-]+$/.test(directive) ? "found unknown directive name" : undefined;
}

const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
