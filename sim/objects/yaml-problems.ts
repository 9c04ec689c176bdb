/** What is wrong with a text that should be YAML before any of it is read. Source: the published reader's texts. */

/** What no reader gets past: characters and directives; undefined when there is nothing. */
export function yamlTextProblem(text: string): string | undefined {
  if (unprintable.test(text)) return "control characters are not allowed";
  directivePattern.lastIndex = firstLineAt(text);
  const [, directive, version] = directivePattern.exec(text) ?? [];
  if (directive === undefined || directive === "TAG") return undefined;
  if (directive === "YAML") return version === "1.1" ? undefined : "found incompatible YAML document";
  return /^[\w-]+$/.test(directive) ? "found unknown directive name" : undefined;
}

const directivePattern = /%(\S*)(?:[ \t]+(\S*))?/y;
const emptyLine = /[ \t]*(?:#.*)?\n/y;

/** Where the first line begins that says something. Line by line: a pattern for all of them would need as much stack as there are. */
function firstLineAt(text: string): number {
  for (let at = 0; ; at = emptyLine.lastIndex) {
    emptyLine.lastIndex = at;
    if (!emptyLine.test(text)) return at;
  }
}

const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
