/**
 * Asks a webhook whether a request may be made: only about requests that meet its conditions, and not again while an
 * answer is kept. Source: document 2, WebhookConfiguration, Authentication 4; the facts, section 7, match logic, and
 * section 1 (errors of authorizers).
 *
 * Simplification: a call that fails is not tried again, where the observed server tries up to five times.
 */
import type { Dialect } from "../../../../wire/dialect.ts";
import type { AuthorizerWebhookSettings } from "../../../configuration/authorization.ts";
import { reviewType } from "../../../configuration/expressions.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { callCostMax, type Expression } from "../../../expressions/expression.ts";
import { fromJson } from "../../../expressions/json-values.ts";
import type { Cancel, Clock } from "../../../kernel/types.ts";
import type { Span } from "../../../contract/tracing.ts";
import type { User } from "../authenticate.ts";
import type { Attributes, Decision } from "../authorize.ts";
import { reviewBody, reviewSpec, type ReviewStatus, reviewStatus } from "./access-review.ts";
import { DecisionCache } from "./decision-cache.ts";

/** Sends a review to where the connection says. Never calls `done` before it returns. */
export type ReviewCaller = (
  body: JsonObject,
  done: (answer: ReviewAnswer) => void,
  /** That say which trace it belongs to. */
  headers?: Readonly<Record<string, string>>,
) => Cancel;

export type ReviewAnswer = { readonly status: number; readonly body: unknown } | { readonly error: string };

/** What is counted under the authorizer's name. */
export interface WebhookCounts {
  /** A call has ended. */
  called(result: "success" | "error" | "timeout" | "canceled", micros: number): void;
  /** It was not asked, by a condition. */
  excluded(): void;
  /** No condition was false, and one could not be evaluated. */
  conditionFailed(): void;
  /** It could not be asked, and the next one decides. */
  failedOpen(): void;
}

export interface WebhookAuthorizerPorts {
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly call: ReviewCaller;
  readonly counts: WebhookCounts;
}

const noOpinion: Decision = { allowed: false, denied: false, reason: "" };
const nothing: Cancel = () => {};
/** All conditions of one request together. */
const conditionsCostMax = 2_500_000;

export class WebhookAuthorizer {
  private readonly settings: AuthorizerWebhookSettings;
  private readonly ports: WebhookAuthorizerPorts;
  private readonly cache: DecisionCache;
  private readonly userKeys = new WeakMap<User, string>();

  constructor(settings: AuthorizerWebhookSettings, ports: WebhookAuthorizerPorts) {
    this.settings = settings;
    this.ports = ports;
    this.cache = new DecisionCache(ports.clock);
  }

  /** `done` is called before this returns when nobody has to be asked. */
  decide(user: User, asked: Attributes, done: (decision: Decision) => void): Cancel {
    const { settings } = this;
    if (settings.conditions.length > 0) {
      const match = conditionsOf(settings.conditions, reviewSpec(user, asked));
      if (match !== "yes") {
        done(this.unasked(match));
        return nothing;
      }
    }
    const key = this.keyOf(user, asked);
    const known = this.cache.find(key);
    if (known !== undefined) {
      done(decisionOf(known));
      return nothing;
    }
    return this.ask(reviewSpec(user, asked), asked.span, (answer) => {
      if (!("error" in answer)) {
        const lifetime = answer.allowed ? settings.authorizedMicros : settings.unauthorizedMicros;
        this.cache.keep(key, answer, lifetime);
        done(decisionOf(answer));
      } else done(this.failed(answer.error));
    });
  }

  private unasked(match: "no" | { readonly error: string }): Decision {
    const { counts } = this.ports;
    if (match === "no") {
      counts.excluded();
      return noOpinion;
    }
    counts.conditionFailed();
    return this.failed(match.error);
  }

  private failed(error: string): Decision {
    const denied = this.settings.failurePolicy === "Deny";
    if (!denied) this.ports.counts.failedOpen();
    return { allowed: false, denied, reason: "", error };
  }

  private ask(
    spec: JsonObject,
    asker: Span | undefined,
    done: (answer: ReviewStatus | { readonly error: string }) => void,
  ): Cancel {
    const { clock, dialect, call, counts } = this.ports;
    const { reviewVersion, timeoutMicros } = this.settings;
    const span = asker?.child("authorization webhook", "client");
    const since = clock.nowMicros();
    let isOver = false;
    const end = (result: Parameters<WebhookCounts["called"]>[0]): boolean => {
      if (isOver) return false;
      isOver = true;
      late();
      counts.called(result, clock.nowMicros() - since);
      span?.end({}, result === "success" ? undefined : result);
      return true;
    };
    const late = clock.after(timeoutMicros, () => {
      if (!end("timeout")) return;
      stop();
      done({ error: `no answer within ${timeoutMicros / 1_000_000} s` });
    });
    const heard = (answer: ReviewAnswer): void => {
      const status = statusOf(answer, reviewVersion, dialect);
      if (end("error" in status ? "error" : "success")) done(status);
    };
    const stop = call(reviewBody(spec, reviewVersion, dialect), heard, span?.headers);
    return () => {
      if (end("canceled")) stop();
    };
  }

  /** Questions that are the same have the same key, and others have others: texts are quoted. */
  private keyOf(user: User, asked: Attributes): string {
    let key = this.userKeys.get(user);
    if (key === undefined) {
      const { name, uid, groups, extra = {} } = user;
      key = JSON.stringify([name, uid, groups, Object.entries(extra)]);
      this.userKeys.set(user, key);
    }
    if (asked.is === "path") return `${key}${JSON.stringify([asked.verb, asked.path])}`;
    const { verb, resource, version, subresource, namespace, name } = asked;
    return `${key}${JSON.stringify([verb, resource.group, version, resource.resource, subresource, namespace, name])}`;
  }
}

function statusOf(
  answer: ReviewAnswer,
  version: AuthorizerWebhookSettings["reviewVersion"],
  dialect: Dialect,
): ReviewStatus | { readonly error: string } {
  if ("error" in answer) return answer;
  if (answer.status < 200 || answer.status > 299) return { error: `the answer has the status ${answer.status}` };
  return reviewStatus(answer.body, version, dialect);
}

function decisionOf({ allowed, denied, reason }: ReviewStatus): Decision {
  if (allowed && denied) {
    const error = "webhook subject access review returned both allow and deny response";
    return { allowed: false, denied: true, reason, error };
  }
  return allowed ? { allowed, reason } : { allowed, denied, reason };
}

/** Whether a review meets all conditions: one that is false decides, whatever becomes of the others; an error counts only when none is. */
export function conditionsOf(
  conditions: readonly Expression[],
  spec: JsonObject,
): "yes" | "no" | { readonly error: string } {
  const values = { request: fromJson(spec, reviewType) };
  const errors: string[] = [];
  let budget = conditionsCostMax;
  for (const condition of conditions) {
    const outcome = condition.evaluate(values, Math.min(callCostMax, Math.max(0, budget)));
    budget -= outcome.cost;
    if ("value" in outcome && outcome.value === false) return "no";
    if ("value" in outcome && outcome.value === true) continue;
    errors.push(`${condition.source}: ${"error" in outcome ? outcome.error : "must evaluate to bool"}`);
  }
  if (errors.length === 0) return "yes";
  return { error: `match conditions cannot be evaluated: ${errors.join(", ")}` };
}
