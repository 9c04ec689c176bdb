/**
 * The grammars of names: DNS-1123 label and subdomain, DNS-1035 label, qualified names (label keys, finalizers),
 * label values and path segments. Each gives the server's full error texts; an accepted text costs one scan and
 * no allocation. Lengths are in UTF-8 bytes.
 * Source: document 1, resource names; the texts as recorded from a 1.33 server.
 */
import { append } from "./lists.ts";
import { utf8Length } from "./go-strings.ts";

/** What is wrong with a text, in the server's order; empty when nothing is. */
export type NameErrors = readonly string[];

export const noErrors: NameErrors = Object.freeze([]);

const dns1123LabelLengthMax = 63;
const dns1123SubdomainLengthMax = 253;
const qualifiedNameLengthMax = 63; // of the part after the slash
const labelValueLengthMax = 63;

const dns1123LabelPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const dns1123SubdomainPattern = `${dns1123LabelPattern}(\\.${dns1123LabelPattern})*`;
const dns1035LabelPattern = "[a-z]([-a-z0-9]*[a-z0-9])?";
const qualifiedNamePattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const dns1123LabelText = regexError(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  dns1123LabelPattern,
  ["my-name", "123-abc"],
);
const dns1123SubdomainText = regexError(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  dns1123SubdomainPattern,
  ["example.com"],
);
const dns1035LabelText = regexError(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  dns1035LabelPattern,
  ["my-name", "abc-123"],
);
const qualifiedNameText = regexError(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  qualifiedNamePattern,
  ["MyName", "my.name", "123-abc"],
);
const labelValueText = regexError(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  `(${qualifiedNamePattern})?`,
  ["MyValue", "my_value", "12345"],
);

const httpPathText = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

const lowerAlphanumeric = 1;
const upper = 2;
const alphanumeric = lowerAlphanumeric | upper;
const classes = new Uint8Array(128);
for (const char of "abcdefghijklmnopqrstuvwxyz0123456789") classes[char.charCodeAt(0)] = lowerAlphanumeric;
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZ") classes[char.charCodeAt(0)] = upper;
const dash = 45;
const dot = 46;
const underscore = 95;

/** Names of namespaces, services' ports, containers. */
export function dns1123LabelErrors(text: string): NameErrors {
  const fits = matchesDns(text, false);
  if (fits && text.length <= dns1123LabelLengthMax) return noErrors;
  const errors = tooLong(text, dns1123LabelLengthMax);
  if (!fits) errors.push(matchesDns(text, true) ? "must not contain dots" : dns1123LabelText);
  return errors;
}

/** Names of most objects. */
export function dns1123SubdomainErrors(text: string): NameErrors {
  const fits = matchesDns(text, true);
  if (fits && text.length <= dns1123SubdomainLengthMax) return noErrors;
  const errors = tooLong(text, dns1123SubdomainLengthMax);
  if (!fits) errors.push(dns1123SubdomainText);
  return errors;
}

/** Names of services. */
export function dns1035LabelErrors(text: string): NameErrors {
  const first = text.charCodeAt(0);
  const fits = first >= 97 && first <= 122 && matchesDns(text, false);
  if (fits && text.length <= dns1123LabelLengthMax) return noErrors;
  const errors = tooLong(text, dns1123LabelLengthMax);
  if (!fits) errors.push(dns1035LabelText);
  return errors;
}

/** Label and annotation keys, finalizers: a name of at most 63 bytes, with an optional subdomain and a slash before it. */
export function qualifiedNameErrors(text: string): NameErrors {
  const slash = text.indexOf("/");
  const name = slash < 0 ? text : text.slice(slash + 1);
  if (name.includes("/")) {
    return [
      `a qualified name ${qualifiedNameText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const prefixErrors = slash < 0 ? noErrors : prefixPartErrors(text.slice(0, slash));
  const fits = name !== "" && matchesQualified(name);
  if (fits && name.length <= qualifiedNameLengthMax && prefixErrors === noErrors) return noErrors;
  const errors = [...prefixErrors];
  if (name === "") errors.push("name part must be non-empty");
  else
    append(
      errors,
      tooLong(name, qualifiedNameLengthMax).map((text) => `name part ${text}`),
    );
  if (!fits) errors.push(`name part ${qualifiedNameText}`);
  return errors;
}

function prefixPartErrors(prefix: string): NameErrors {
  if (prefix === "") return ["prefix part must be non-empty"];
  const errors = dns1123SubdomainErrors(prefix);
  return errors === noErrors ? noErrors : errors.map((text) => `prefix part ${text}`);
}

/** Label values: empty, or like the name part of a qualified name. */
export function labelValueErrors(text: string): NameErrors {
  const fits = text === "" || matchesQualified(text);
  if (fits && text.length <= labelValueLengthMax) return noErrors;
  const errors = tooLong(text, labelValueLengthMax);
  if (!fits) errors.push(labelValueText);
  return errors;
}

/** Names that only have to fit into a path, such as those of roles. */
export function pathSegmentErrors(text: string): NameErrors {
  if (text === "." || text === "..") return [`may not be '${text}'`];
  if (!text.includes("/") && !text.includes("%")) return noErrors;
  return ["/", "%"].filter((char) => text.includes(char)).map((char) => `may not contain '${char}'`);
}

/** `example.com/path`: what is wrong, and with which part of it. */
export function domainPrefixedPathErrors(text: string): readonly { readonly value: string; readonly why: string }[] {
  const slash = text.indexOf("/");
  const domain = text.slice(0, Math.max(0, slash));
  const path = text.slice(slash + 1);
  if (domain === "" || path === "") {
    return [{ value: text, why: 'must be a domain-prefixed path (such as "acme.io/foo")' }];
  }
  const errors = dns1123SubdomainErrors(domain).map((why) => ({ value: domain, why }));
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path)) errors.push({ value: path, why: httpPathText });
  return errors;
}

/** A generateName is judged as a name whose last dash is already covered by the random suffix. */
export function maskTrailingDash(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -2)}a` : prefix;
}

/** Segments of `[a-z0-9-]` that neither begin nor end with a dash; dots part segments when allowed. */
function matchesDns(text: string, dots: boolean): boolean {
  let previous = dot;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (classes[char] === lowerAlphanumeric) previous = 0;
    else if (char === dash && previous !== dot) previous = dash;
    else if (char === dot && dots && previous === 0) previous = dot;
    else return false;
  }
  return previous === 0 && text !== "";
}

/** `[-A-Za-z0-9_.]+` with an alphanumeric at both ends; not empty. */
function matchesQualified(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (((classes[char] ?? 0) & alphanumeric) !== 0) continue;
    if (at === 0 || at === text.length - 1 || (char !== dash && char !== dot && char !== underscore)) return false;
  }
  return true;
}

function tooLong(text: string, max: number): string[] {
  return text.length * 3 > max && utf8Length(text) > max ? [`must be no more than ${max} characters`] : [];
}

function regexError(text: string, pattern: string, examples: readonly string[]): string {
  const quoted = examples.map((example) => `'${example}', `).join(" or ");
  return `${text} (e.g. ${quoted}regex used for validation is '${pattern}')`;
}
