import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import { type ApiObject, type JsonObject, versionOf } from "../../client/types.ts";
import { mergePatch } from "../../model/merge-patch.ts";
import { brokenRules, judgeRuled, type RuledSpec, ruledSchema, type RuleName, rules } from "../../model/rule-law.ts";
import { type CustomDefinition, withDefinition } from "../../runner/custom-definition.ts";
import { defineCheck } from "../../runner/define-check.ts";

const verbs = ["post", "put", "merge", "json", "apply", "status"] as const;
const ruleNames = Object.keys(rules) as RuleName[];

interface Step {
  readonly verb: (typeof verbs)[number];
  readonly spec: RuledSpec;
  readonly dry: boolean;
}

const anyText = fc.constantFrom("x", "y", "bad");
const anyPart = fc.record({ name: fc.constantFrom("a", "b"), size: fc.integer({ min: 1, max: 3 }), kind: anyText });
const anySpec: fc.Arbitrary<RuledSpec> = fc.record(
  {
    low: fc.integer({ min: 0, max: 4 }),
    high: fc.integer({ min: 1, max: 4 }),
    fixed: fc.constantFrom("x", "x", "y"),
    count: fc.integer({ min: 0, max: 3 }),
    list: fc.array(anyText, { maxLength: 3 }),
    parts: fc.uniqueArray(anyPart, { maxLength: 2, selector: ({ name }) => name }),
    words: fc.dictionary(fc.constantFrom("x", "y"), anyText, { maxKeys: 1 }),
  },
  { requiredKeys: [] },
);

const lawful: RuledSpec = { fixed: "x", count: 1, parts: [{ name: "a", size: 1, kind: "x" }] };
const unlawful: readonly RuledSpec[] = [
  { ...lawful, fixed: "y" },
  { ...lawful, count: 0 },
  { ...lawful, parts: [{ name: "a", size: 1, kind: "y" }] },
  { ...lawful, list: ["bad"] },
  { ...lawful, low: 4, high: 2 },
];

/**
 * Property: a write of a custom resource is let in exactly when every rule of its schema holds, of the value and of its change,
 * whichever verb writes it, dry or not; a refusal says which rule was broken, and changes nothing.
 * Method: random sets of rules whose meaning the suite knows, and random values by every verb. One object is written by applies
 * of one manager alone, so that it is what was last applied.
 */
export const rulesJudgeEveryWrite = defineCheck<{
  readonly names: readonly RuleName[];
  readonly steps: readonly Step[];
}>({
  id: "rules-judge-every-write",
  area: "custom-resources",
  property: "Rules of a schema judge values and their changes alike for every verb.",
  requirements: ["custom-resources.rules"],
  features: ["namespaces"],
  cost: "slow",
  input: fc.record({
    names: fc.uniqueArray(fc.constantFrom(...ruleNames), { minLength: 2, maxLength: 6 }),
    steps: fc.array(
      fc.record({ verb: fc.constantFrom(...verbs), spec: anySpec, dry: fc.nat(3).map((draw) => draw === 3) }),
      {
        minLength: 3,
        maxLength: 8,
      },
    ),
  }),
  examples: [
    {
      names: ruleNames,
      steps: (["put", "apply", "merge", "json", "post"] as const).flatMap((verb) =>
        [lawful, ...unlawful].map((spec) => ({ verb, spec, dry: false })),
      ),
    },
  ],
  async run(attempt, { names, steps }) {
    const { extensionPrefix } = attempt.profile.dialect;
    const schema: JsonObject = {
      type: "object",
      properties: {
        spec: ruledSchema(names, extensionPrefix),
        status: { type: "object", properties: { word: { type: "string" } } },
      },
    };
    await withDefinition(
      attempt,
      schema,
      async (definition) => {
        const { widgets, widget } = definition;
        const stored = new Map<string, ApiObject>();
        stored.set("a", objectOf(await widgets.create(widget("a", { spec: {} }))));
        for (const [index, step] of steps.entries()) {
          const { verb, dry } = step;
          const name = verb === "post" ? `made-${index}` : verb === "apply" ? "applied" : "a";
          const before = stored.get(name);
          const old = before === undefined ? undefined : ((before["spec"] ?? {}) as RuledSpec);
          const now =
            verb === "status"
              ? (old ?? {})
              : verb === "merge"
                ? mergePatch(old as JsonObject, step.spec as JsonObject)
                : step.spec;
          const broken = brokenRules(names, now as RuledSpec, old);
          const answer = await send(definition, name, step, before);
          const what = `a ${dry ? "dry " : ""}${verb} of ${JSON.stringify(now)} after ${JSON.stringify(old ?? null)}`;
          const violation = judgeRuled(broken, answer.status, answer.text.slice(0, 2000));
          attempt.holds(
            "custom-resources.rules",
            violation && { ...violation, expected: `${violation.expected} in ${what}` },
          );
          const read = await widgets.get(name);
          if (broken.length === 0 && !dry) stored.set(name, objectOf(read));
          else {
            const [is, was] = [
              read.status === 404 ? "absent" : versionOf(objectOf(read)),
              before === undefined ? "absent" : versionOf(before),
            ];
            attempt.expect("custom-resources.rules", is === was, `${was}, as it was before ${what}`, is);
          }
        }
      },
      { version: { subresources: { status: {} } } },
    );
  },
});

function send(
  { widgets, widget }: CustomDefinition,
  name: string,
  { verb, spec: value, dry }: Step,
  before: ApiObject | undefined,
): Promise<Answer> {
  const spec = value as JsonObject;
  const query = dry ? { dryRun: "All" } : {};
  switch (verb) {
    case "post":
      return widgets.create(widget(name, { spec }), { query });
    case "put":
      return widgets.put(name, { ...before, spec } as JsonObject, { query });
    case "merge":
      return widgets.patch(name, "merge", { spec }, { query });
    case "json":
      return widgets.patch(name, "json", [{ op: "replace", path: "/spec", value: spec }], { query });
    case "apply":
      return widgets.patch(name, "apply", widget(name, { spec }), { query: { ...query, fieldManager: "applier" } });
    // What stands beside the status has no effect there, and breaks no rule.
    case "status":
      return widgets.patch(`${name}/status`, "merge", { spec, status: { word: "said" } }, { query });
  }
}
