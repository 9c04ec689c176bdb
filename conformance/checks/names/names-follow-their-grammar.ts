import fc from "fast-check";
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import { isJsonObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

const longest = `${"a".repeat(126)}.${"b".repeat(126)}`; // 253
const piece = fc.constantFrom("a", "0", "z9", "-", ".", "A", "_", " ", "é", "a.b", "a-b", "%2F");
const anyName = fc.oneof(
  fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")),
  fc.nat({ max: 4 }).map((more) => longest + "c".repeat(more)),
);

/**
 * Property: a config map takes exactly the names that are DNS subdomains of up to 253 characters.
 * Method: random names near the borders of the grammar; what is taken is read back by its name, what is refused is in no list.
 */
export const namesFollowTheirGrammar = defineCheck({
  id: "names-follow-their-grammar",
  area: "names",
  property: "A name is taken when its grammar allows it, and refused when not.",
  requirements: ["names.syntax", "names.length"],
  features: ["configmaps"],
  input: anyName,
  examples: ["a", "a_b", longest, `${longest}c`],
  async run(attempt, name) {
    const configMaps = await attempt.target.collection("configmaps");
    const requirement = name.length > longest.length || name === longest ? "names.length" : "names.syntax";
    const allowed = dns1123SubdomainErrors(name).length === 0;
    const answer = await configMaps.create(configMap(name));
    const shown = `${answer.status} ${isJsonObject(answer.json) ? String(answer.json["reason"] ?? "") : ""}`.trim();
    const said = `${JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)} of ${name.length} characters`;
    const expected = allowed ? "201" : "422 Invalid";
    attempt.expect(
      requirement,
      allowed ? answer.status < 300 : shown === expected,
      `${expected} for the name ${said}`,
      shown,
    );
    const list = await configMaps.readList();
    const found = attempt.target.own(configMaps, list.items).some((item) => item.metadata.name === name);
    attempt.expect(requirement, found === allowed, `${allowed ? "" : "no "}object ${said} in the list`, String(found));
  },
});
