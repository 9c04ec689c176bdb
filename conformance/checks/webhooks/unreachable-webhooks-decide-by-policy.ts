import fc from "fast-check";
import { anyAdmittedWrites, anyOperations, webhookTeams } from "../../arbitraries/admitted-writes.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf, succeeded } from "../../client/collection.ts";
import { messageOf, shownAnswer } from "../../client/status-document.ts";
import { Inconclusive } from "../../client/findings.ts";
import { concerns, type ModelWebhook, refusing } from "../../model/webhook-law.ts";
import { furnish, hasHappened, send } from "../../runner/admitted-writes.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";
import { configurationPath, configure, unreachable, webhookOf } from "../../runner/webhook-configuration.ts";

const patienceMillis = 30_000;
const mark: ModelWebhook = {
  name: "mark",
  operations: ["CREATE"],
  team: "mark",
  does: "broken",
  failurePolicy: "Fail",
};

/**
 * Property: a webhook that nobody can reach fails the writes that it concerns under Fail, dry runs too, and is passed over
 * under Ignore; what it does not concern goes on as if it were not there; and so does everything once it is deleted.
 * Method: addresses where nobody listens need no listener, so that any target can be judged. A webhook beside them, for
 * objects of its own, shows when the configuration has taken effect.
 */
export const unreachableWebhooksDecideByPolicy = defineCheck({
  id: "unreachable-webhooks-decide-by-policy",
  area: "webhooks",
  property: "A webhook that does not answer decides by its failure policy, for what it concerns and nothing else.",
  requirements: ["webhooks.failure-policy", "webhooks.rules", "webhooks.configured"],
  features: ["webhooks", "configmaps", "podtemplates", "namespaces"],
  cost: "slow",
  input: fc.record({
    kind: fc.constantFrom("validating", "mutating"),
    webhooks: fc.array(
      fc.record({
        operations: anyOperations,
        team: fc.constantFrom<string>(...webhookTeams),
        failurePolicy: fc.constantFrom("Fail", "Ignore"),
        sideEffects: fc.constantFrom("None", "NoneOnDryRun"),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    writes: anyAdmittedWrites(4),
  }),
  async run(attempt, { kind, webhooks: drawn, writes }) {
    const webhooks = [
      ...drawn.map((each, index): ModelWebhook & { sideEffects: string } => ({
        ...each,
        name: `w${index}`,
        does: "broken",
      })),
      { ...mark, sideEffects: "None" },
    ];
    await furnish(attempt, writes);
    const path = await configurationPath(attempt, kind);
    const configured = webhooks.map(({ name, operations, team, failurePolicy, sideEffects }) =>
      webhookOf(attempt, name, {
        clientConfig: unreachable,
        rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: [...operations] }],
        objectSelector: { matchLabels: { team } },
        failurePolicy,
        sideEffects,
      }),
    );
    objectOf(await configure(attempt, kind, await Promise.all(configured)), "webhooks.configured");
    await awaitMark(attempt, (answer) => answer.status === 500, "takes effect");
    for (const write of writes) {
      const refuser = refusing(webhooks, write);
      const answer = await send(attempt, write);
      const isConcerned = webhooks.some((webhook) => concerns(webhook, write));
      const requirement = isConcerned ? "webhooks.failure-policy" : "webhooks.rules";
      const shown = `${write.dryRun ? "a dry " : ""}${write.operation} of ${write.resource} of team ${write.teams.join(" and ")}`;
      const kept = refuser === undefined ? answer.status < 300 : isFailedCall(answer, webhooks);
      const expected = refuser === undefined ? "let through" : `500, for ${refuser.name} cannot be called`;
      attempt.expect(requirement, kept, `${shown} ${expected}`, shownAnswer(answer));
      const happened = await hasHappened(attempt, write);
      const should = refuser === undefined && !write.dryRun;
      attempt.expect(
        requirement,
        happened === should,
        `${shown} ${should ? "" : "not "}done`,
        happened ? "done" : "not done",
      );
    }
    for (const requirement of ["webhooks.failure-policy", "webhooks.rules"]) attempt.holds(requirement, undefined);
    succeeded(await attempt.client.request("DELETE", path), "webhooks.configured");
    await awaitMark(attempt, (answer) => answer.status < 300, "is gone");
    attempt.holds("webhooks.configured", undefined);
  },
});

function isFailedCall(answer: Answer, webhooks: readonly ModelWebhook[]): boolean {
  return answer.status === 500 && webhooks.some(({ name }) => messageOf(answer).includes(`"${name}.`));
}

/** No time is promised in which a configuration takes effect. */
async function awaitMark(attempt: Attempt, is: (answer: Answer) => boolean, what: string): Promise<void> {
  const configMaps = await attempt.target.collection("configmaps");
  let markCount = 0;
  const seen = await pollUntil(attempt, attempt.clock.nowMillis() + patienceMillis, async () => {
    // Of several front-ends each has to hear of it.
    for (let count = 0; count < seenCountMin; count += 1) {
      if (count > 0) await attempt.client.pause(100);
      markCount += 1; // each is made: whether dry runs fail is what is judged
      const answer = await configMaps.create(configMap(`mark-${markCount}`, { labels: { team: "mark" } }));
      if (!is(answer)) return undefined;
    }
    return true;
  });
  if (seen === undefined) throw new Inconclusive(`no sign within ${patienceMillis} ms that the configuration ${what}`);
}

const seenCountMin = 3;
