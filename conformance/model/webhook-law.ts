/**
 * Which webhooks a request concerns, and what comes of it: those whose rules name its operation and resource, and whose
 * object selector matches the object before or after. Source: document 1, Dry-run 3 and Generated values; the published API
 * of webhook configurations.
 */
import type { Violation } from "../client/findings.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE";

/** A webhook of config maps of one team. */
export interface ModelWebhook {
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly team: string;
  /** Its match condition leaves out this operation. */
  readonly unless?: Operation | undefined;
  /** What it does when it is asked. `broken`: nobody answers. */
  readonly does: "allow" | "deny" | "stamp" | "broken";
  readonly failurePolicy: "Fail" | "Ignore";
  /** It wants to be asked again when a later one has changed the object. */
  readonly again?: boolean;
}

/** One write. `teams`: of the object before and after, as far as there is one. */
export interface AdmittedWrite {
  readonly operation: Operation;
  readonly resource: string;
  readonly name: string;
  readonly teams: readonly string[];
  readonly dryRun: boolean;
  /** By which verb: a creation by POST or an apply, an update by any. Default: POST, and a merge patch. */
  readonly verb?: WriteVerb | undefined;
}

export const writeVerbs = ["put", "merge", "json", "strategic", "apply"] as const;
export type WriteVerb = (typeof writeVerbs)[number];

/** What a webhook was told, as far as it is judged. */
export interface ToldReview {
  readonly webhook: string;
  readonly operation: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly dryRun: boolean;
  /** Of the object, and of the object before; undefined when the review has none. */
  readonly team: string | undefined;
  readonly oldTeam: string | undefined;
}

export function concerns(webhook: ModelWebhook, { operation, resource, teams }: AdmittedWrite): boolean {
  const { operations, team, unless } = webhook;
  return resource === "configmaps" && operations.includes(operation) && operation !== unless && teams.includes(team);
}

/** The webhook that makes a write fail: the first, in the order asked, that denies or is broken under Fail. */
export function refusing(webhooks: readonly ModelWebhook[], write: AdmittedWrite): ModelWebhook | undefined {
  return webhooks.find(
    (webhook) =>
      concerns(webhook, write) &&
      (webhook.does === "deny" || (webhook.does === "broken" && webhook.failurePolicy === "Fail")),
  );
}

/** Who wants to be asked again is, when a webhook after it has changed the object. */
export function judgeReinvocation(
  webhooks: readonly ModelWebhook[],
  write: AdmittedWrite,
  told: readonly ToldReview[],
): Violation | undefined {
  if (write.operation === "DELETE" || refusing(webhooks, write) !== undefined) return undefined;
  const count = ({ name }: ModelWebhook): number => told.filter(({ webhook }) => webhook === name).length;
  const forgotten = webhooks.find((webhook, index) => {
    const isDue = webhook.again === true && webhook.does === "allow" && concerns(webhook, write);
    const isChanged = webhooks.slice(index + 1).some((later) => later.does === "stamp" && concerns(later, write));
    return isDue && isChanged && count(webhook) < 2;
  });
  if (forgotten === undefined) return undefined;
  return { expected: `${forgotten.name} asked again`, actual: `asked ${count(forgotten)} times` };
}

export const warningOf = ({ name }: Pick<ModelWebhook, "name">): string => `${name} warns of it`;

/** What a write that was let in is answered: the warning of each webhook that was asked, and of no other. */
export function judgeWebhookWarnings(
  webhooks: readonly ModelWebhook[],
  write: AdmittedWrite,
  warnings: readonly string[],
): Violation | undefined {
  const wrong = webhooks.find((webhook) => {
    const isDue = webhook.does !== "broken" && concerns(webhook, write);
    return isDue !== warnings.includes(warningOf(webhook));
  });
  if (wrong === undefined) return undefined;
  const expected = `${concerns(wrong, write) ? "a" : "no"} warning of ${wrong.name}`;
  return { expected, actual: warnings.join(" | ") || "no warnings" };
}

/** The reviews of one write: of what concerns it, once each unless an earlier one refused, and each saying what is asked. */
export function judgeReviews(
  webhooks: readonly ModelWebhook[],
  write: AdmittedWrite,
  namespace: string,
  told: readonly ToldReview[],
): Violation | undefined {
  const shown = `${write.dryRun ? "a dry " : ""}${write.operation} of ${write.resource} ${write.name}`;
  for (const review of told) {
    const webhook = webhooks.find(({ name }) => name === review.webhook);
    if (webhook === undefined || !concerns(webhook, write)) {
      return { expected: `${review.webhook} not asked about ${shown}`, actual: JSON.stringify(review) };
    }
    const expected: ToldReview = {
      webhook: webhook.name,
      operation: write.operation,
      resource: write.resource,
      namespace,
      name: write.name,
      dryRun: write.dryRun,
      team: write.operation === "DELETE" ? undefined : write.teams.at(-1),
      oldTeam: write.operation === "CREATE" ? undefined : write.teams[0],
    };
    const wrong = (Object.keys(expected) as (keyof ToldReview)[]).find((field) => review[field] !== expected[field]);
    if (wrong !== undefined) {
      return {
        expected: `${wrong} ${String(expected[wrong])} in the review of ${shown}`,
        actual: String(review[wrong]),
      };
    }
  }
  if (refusing(webhooks, write) !== undefined) return undefined; // whoever was asked later need not have been
  const missed = webhooks.find(
    (webhook) =>
      webhook.does !== "broken" && concerns(webhook, write) && !told.some((review) => review.webhook === webhook.name),
  );
  return (
    missed && {
      expected: `${missed.name} asked about ${shown}`,
      actual: `asked: ${told.map(({ webhook }) => webhook).join() || "nobody"}`,
    }
  );
}
