/** A caller about whom the suite's authorization webhooks are asked. */
import type { Reply } from "../../wire/ports.ts";
import type { Answer } from "../client/exchange.ts";
import { Unsupported } from "../client/findings.ts";
import { type AuthorizerName, gatedAccount } from "../model/access-files.ts";
import type { Attempt } from "./attempt.ts";
import { type Opinion, opinion, type Question } from "./review-desk.ts";
import { createSecondUser, type SecondUser } from "./service-account.ts";

export class GatedUser {
  readonly user: SecondUser;
  /** What the webhooks have been asked about it, in order, and when by the suite's clock. */
  readonly questions: (Question & { readonly atMillis: number })[] = [];
  /** How a webhook answers from now on. Default: it has no opinion. */
  answers: Partial<Record<AuthorizerName, Opinion | ((question: Question) => Reply)>> = {};
  private readonly attempt: Attempt;

  constructor(attempt: Attempt, user: SecondUser) {
    this.attempt = attempt;
    this.user = user;
  }

  /** Reads a config map that is not there: 404 says that it may. */
  async read(name: string): Promise<Answer> {
    const path = `/api/v1/namespaces/${this.user.namespace}/configmaps/${name}`;
    return this.attempt.client.request("GET", path, { as: this.user.as });
  }

  reply(question: Question): Reply {
    this.questions.push({ ...question, atMillis: this.attempt.clock.nowMillis() });
    const says = this.answers[question.authorizer] ?? "none";
    return typeof says === "function" ? says(question) : opinion(question.review, says);
  }
}

export async function gatedUser(attempt: Attempt): Promise<GatedUser> {
  const { reviews } = attempt.access;
  if (reviews === undefined) throw new Unsupported("authorizer-webhooks");
  const gated = new GatedUser(attempt, await createSecondUser(attempt, gatedAccount));
  const stop = reviews.answerFor(gated.user.username, (question) => gated.reply(question));
  attempt.target.onCleanUp(async () => stop());
  return gated;
}

/** What an answer to `read` says of the right to do it; a refusal may also be that nobody could decide. */
export const mayRead = ({ status }: Answer): boolean => status === 404;
export const isRefused = ({ status }: Answer): boolean => status === 403 || status === 500;
