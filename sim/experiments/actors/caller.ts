/** Asks the same again and again, with a token of an issuer or with none, and counts how it is answered. */
import type { ClientOf } from "../../../scenarios/schema.ts";
import { ApiClient } from "../../client/api-client.ts";
import type { Micros } from "../../kernel/types.ts";
import type { Actor, ActorParts } from "./actor.ts";

const deadlineMicros: Micros = 60_000_000;

export class Caller implements Actor {
  /** Of the last answer; 0 for none. */
  lastStatus = 0;
  /** By status, or by the failure that left the outcome unknown. */
  private readonly answers = new Map<string, number>();
  private readonly parts: ActorParts;
  private readonly options: ClientOf<"caller">;
  private token = "";
  private tokenMicros: Micros = -Infinity;

  constructor(parts: ActorParts, options: ClientOf<"caller">) {
    this.parts = parts;
    this.options = options;
  }

  start(): void {
    const { every, until = Infinity } = this.options;
    const { clock } = this.parts.process;
    clock.after(every, () => {
      if (clock.nowMicros() >= until) return;
      this.ask();
      this.start();
    });
  }

  pending(): undefined {
    return undefined;
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.answers);
  }

  private ask(): void {
    const { process, handler } = this.parts;
    const [method = "GET", target = "/"] = this.options.request.split(" ");
    const [path = "/", query = ""] = target.split("?", 2);
    new ApiClient(process, handler, this.tokenNow()).call({ method, path, query }, deadlineMicros, (answer) => {
      const outcome = answer.ok ? String(answer.status) : answer.failure;
      if (answer.ok) this.lastStatus = answer.status;
      process.trace("caller.answer", method, outcome);
      this.answers.set(outcome, (this.answers.get(outcome) ?? 0) + 1);
    });
  }

  /** Empty: no credentials. */
  private tokenNow(): string {
    const { token } = this.options;
    if (token === undefined) return "";
    const { process, tokenOf } = this.parts;
    const now = process.clock.nowMicros();
    const isDue = this.token === "" || now - this.tokenMicros >= (token.renew ?? Infinity);
    if (isDue) {
      this.token = tokenOf(token.issuer, token.claims, token.lasts);
      this.tokenMicros = now;
    }
    return this.token;
  }
}
