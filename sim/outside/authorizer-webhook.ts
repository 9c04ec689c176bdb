/** An authorization webhook on virtual time, which can be slow, wrong or down. Source: the published review API. */
import type { ReviewAnswer, ReviewCaller } from "../apiserver/access/webhooks/webhook-authorizer.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros, Process } from "../kernel/types.ts";

export interface AuthorizerBehaviour {
  /** From a call to its answer. */
  readonly delayMicros: Micros;
  /** `down`: nobody answers. `refused`: nobody listens. `garbled`: no review. `both`: yes and no. `broken`: 500. */
  readonly mood: "well" | "down" | "refused" | "garbled" | "both" | "broken";
}

/** What it says to the `spec` of a review. */
export type Opinion = (spec: JsonObject) => "allow" | "deny" | "none";

export class AuthorizerWebhook {
  behaviour: AuthorizerBehaviour = { delayMicros: 1_000, mood: "well" };
  opinion: Opinion;
  /** Reviews that have come in, in order. */
  readonly reviews: JsonObject[] = [];
  private readonly process: Process;

  constructor(process: Process, opinion: Opinion) {
    this.process = process;
    this.opinion = opinion;
  }

  readonly call: ReviewCaller = (body, done) => this.callFrom(this.process)(body, done);

  /** As a server in another process calls it: what is under way ends with that. */
  callFrom(caller: Process): ReviewCaller {
    return (body, done) => {
      this.reviews.push(body);
      const { delayMicros, mood } = this.behaviour;
      caller.trace("webhook.asked", this.process.name);
      if (mood === "down") return () => {};
      return caller.clock.after(delayMicros, () => done(this.answer(body)));
    };
  }

  private answer(body: JsonObject): ReviewAnswer {
    const { mood } = this.behaviour;
    if (mood === "refused") return { error: "connect: connection refused" };
    if (mood === "broken") return { status: 500, body: undefined };
    if (mood === "garbled") return { status: 200, body: { kind: "SubjectAccessReview" } };
    const opinion = this.opinion(body["spec"] as JsonObject);
    const allowed = mood === "both" || opinion === "allow";
    const denied = mood === "both" || opinion === "deny";
    return { status: 200, body: { ...body, status: { allowed, denied, reason: opinion } } };
  }
}
