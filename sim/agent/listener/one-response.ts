/** The answer to one request, which knows whether it has begun: an exception may come at any moment of it. */
import type { CallFailure } from "../../kernel/types.ts";
import type { Payload, Responder, ResponseHeaders } from "../../contract/http-message.ts";
import { kept } from "../piece.ts";
import { answerText } from "./answers.ts";

export class OneResponse implements Responder {
  private readonly inner: Responder;
  private state: "waiting" | "open" | "over" = "waiting";
  readonly whenTaken?: NonNullable<Responder["whenTaken"]>;
  readonly tunnel?: NonNullable<Responder["tunnel"]>;

  constructor(inner: Responder) {
    this.inner = inner;
    if (inner.whenTaken !== undefined) this.whenTaken = (resume) => inner.whenTaken?.(resume);
    if (inner.tunnel !== undefined) {
      const tunnel = inner.tunnel.bind(inner);
      this.tunnel = (to, done) => {
        this.state = "over"; // it is the other side's answer, unless nobody was reached
        return tunnel(
          to,
          kept((outcome) => {
            if ("error" in outcome) this.state = "waiting";
            done(outcome);
          }),
        );
      };
    }
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    this.inner.respond(status, headers, payload);
    this.state = "over";
  }

  open(status: number, headers: ResponseHeaders): void {
    this.inner.open(status, headers);
    this.state = "open";
  }

  frame(payload: Payload): number {
    return this.inner.frame(payload);
  }

  close(): void {
    this.state = "over";
    this.inner.close();
  }

  failed(failure: CallFailure): void {
    this.inner.failed?.(failure);
  }

  /** An exception has ended the request. */
  broke(id: string): void {
    const { state } = this;
    this.state = "over";
    if (state === "open") this.inner.close();
    else if (state === "waiting")
      answerText(this.inner, 500, `an exception in the agent ended this request; its log has it as request ${id}\n`);
  }
}
