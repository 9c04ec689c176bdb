import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  maskTrailingDash,
  type NameErrors,
  noErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "./names.ts";

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const label1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const nameText =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

describe("names: texts", () => {
  it.each<[check: (text: string) => NameErrors, text: string, errors: readonly string[]]>([
    [dns1123SubdomainErrors, "Bad_Name!", [subdomainText]], // recorded
    [dns1123SubdomainErrors, "", [subdomainText]],
    [dns1123SubdomainErrors, "a..b", [subdomainText]],
    [dns1123SubdomainErrors, "a".repeat(253), []],
    [dns1123SubdomainErrors, "a".repeat(254), ["must be no more than 253 characters"]],
    [dns1123SubdomainErrors, "é".repeat(127), ["must be no more than 253 characters", subdomainText]], // bytes count
    [dns1123LabelErrors, "a-1", []],
    [dns1123LabelErrors, "a.b", ["must not contain dots"]],
    [dns1123LabelErrors, "A.b", [labelText]],
    [dns1123LabelErrors, `${"a".repeat(63)}-`, ["must be no more than 63 characters", labelText]],
    [dns1035LabelErrors, "a1", []],
    [dns1035LabelErrors, "1a", [label1035Text]],
    [dns1035LabelErrors, "a".repeat(64), ["must be no more than 63 characters"]],
    [qualifiedNameErrors, "bad key!", [nameText]], // recorded
    [qualifiedNameErrors, "example.com/My.Name_1", []],
    [qualifiedNameErrors, "", ["name part must be non-empty", nameText]],
    [qualifiedNameErrors, "/a", ["prefix part must be non-empty"]],
    [qualifiedNameErrors, "a/", ["name part must be non-empty", nameText]],
    [qualifiedNameErrors, "A/b", [`prefix part ${subdomainText}`]],
    [qualifiedNameErrors, `${"a".repeat(254)}/b`, ["prefix part must be no more than 253 characters"]],
    [qualifiedNameErrors, `a/${"b".repeat(64)}`, ["name part must be no more than 63 characters"]],
    [labelValueErrors, "", []],
    [labelValueErrors, "x".repeat(70), ["must be no more than 63 characters"]], // recorded
    [pathSegmentErrors, "a:b", []],
    [pathSegmentErrors, ".", ["may not be '.'"]],
    [pathSegmentErrors, "..", ["may not be '..'"]],
    [pathSegmentErrors, "a%/b", ["may not contain '/'", "may not contain '%'"]],
  ])("%o %j", (check, text, errors) => {
    expect(check(text)).toEqual(errors);
  });

  it("shares one empty answer", () => {
    for (const check of [dns1123LabelErrors, dns1123SubdomainErrors, dns1035LabelErrors, labelValueErrors]) {
      expect(check("a")).toBe(noErrors);
    }
    expect(qualifiedNameErrors("a.b/c")).toBe(noErrors);
  });

  it.each([
    ["pod-", "poa"],
    ["-", "-"],
    ["a-", "a"],
    ["x", "x"],
    ["a.-", "aa"], // the character before the dash goes too, so that even this prefix passes
  ])("masks the trailing dash of the prefix %s", (prefix, masked) => {
    expect(maskTrailingDash(prefix)).toBe(masked);
  });
});

describe("names: the scanners agree with the patterns their texts state", () => {
  const patterns: readonly [check: (text: string) => NameErrors, pattern: RegExp][] = [
    [dns1123LabelErrors, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/],
    [dns1123SubdomainErrors, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/],
    [dns1035LabelErrors, /^[a-z]([-a-z0-9]*[a-z0-9])?$/],
    [labelValueErrors, /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/],
    [
      qualifiedNameErrors,
      /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/,
    ],
  ];
  const text = fc.string({
    unit: fc.constantFrom("a", "z", "0", "9", "-", ".", "_", "A", "Z", "/", "!", "\n", "é"),
    maxLength: 12,
  });
  it.each(patterns)("%o", (check, pattern) => {
    fc.assert(
      fc.property(text, (value) => {
        expect(check(value).length === 0).toBe(pattern.test(value));
      }),
      { seed: 1, numRuns: 3000 },
    );
  });
});
