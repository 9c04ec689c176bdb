import fc from "fast-check";
import { type AdmittedWrite, type Operation, writeVerbs } from "../model/webhook-law.ts";

const operations: readonly Operation[] = ["CREATE", "UPDATE", "DELETE"];
export const webhookTeams = ["red", "blue"] as const;

export const anyOperations: fc.Arbitrary<readonly Operation[]> = fc.uniqueArray(fc.constantFrom(...operations), {
  minLength: 1,
  maxLength: 3,
});

/** Writes of config maps and, now and then, of another type; an update may change the team. Names come from the place. */
export const anyAdmittedWrites = (maxLength: number): fc.Arbitrary<readonly AdmittedWrite[]> =>
  fc
    .array(
      fc.record({
        operation: fc.constantFrom(...operations),
        other: fc.nat(5).map((draw) => draw === 0),
        before: fc.constantFrom<string>(...webhookTeams),
        after: fc.constantFrom<string>(...webhookTeams),
        dryRun: fc.boolean(),
        verb: fc.constantFrom(undefined, ...writeVerbs),
      }),
      { minLength: 1, maxLength },
    )
    .map((drawn) =>
      drawn.map(({ operation, other, before, after, dryRun, verb }, index) => ({
        operation,
        resource: other ? "podtemplates" : "configmaps",
        name: `${operation.toLowerCase()}-${index}`,
        teams: operation === "CREATE" ? [after] : operation === "DELETE" ? [before] : [before, after],
        dryRun,
        ...(operation === "DELETE" || verb === undefined ? {} : { verb }),
      })),
    );
