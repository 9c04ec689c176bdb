/** The suite as the authorization webhooks of its file: each user's questions are answered by the program that has made the user. */
import type { DocumentHost, Reply } from "../../wire/ports.ts";
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";
import { type AuthorizerName, authorizerNames } from "../model/access-files.ts";

/** A question that a webhook was asked. */
export interface Question {
  readonly authorizer: AuthorizerName;
  /** As it came: a SubjectAccessReview. */
  readonly review: JsonObject;
}

export type Answering = (question: Question) => Reply;

export class ReviewDesk {
  /** Questions about users whom nobody answers for. */
  strayCount = 0;
  private readonly answering = new Map<string, Answering>();
  private readonly stops: (() => void)[];

  constructor(host: DocumentHost) {
    this.stops = authorizerNames.map((authorizer) =>
      host.answer(`/${authorizer}`, (document) => this.reply(authorizer, document as Json)),
    );
  }

  /** Until the returned function is called. */
  answerFor(username: string, answer: Answering): () => void {
    this.answering.set(username, answer);
    return () => void this.answering.delete(username);
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private reply(authorizer: AuthorizerName, document: Json | undefined): Reply {
    if (!isJsonObject(document)) return { status: 400, body: undefined };
    const spec = specOf(document);
    const answer = this.answering.get(String(spec["user"]));
    if (answer !== undefined) return answer({ authorizer, review: document });
    this.strayCount += 1;
    return opinion(document, "none");
  }
}

export const specOf = ({ spec }: JsonObject): JsonObject => (isJsonObject(spec) ? spec : {});

export type Opinion = "allow" | "deny" | "none" | "both";

/** The review with what is said to it. */
export function opinion(review: JsonObject, says: Opinion): Reply {
  const allowed = says === "allow" || says === "both";
  const denied = says === "deny" || says === "both";
  return { status: 200, body: { ...review, status: { allowed, denied, reason: `touchstone says ${says}` } } };
}
