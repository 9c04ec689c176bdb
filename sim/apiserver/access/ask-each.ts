/** Many questions about one user, some at a time: a request may ask for as many as its head has room for. */
import type { Cancel, Clock } from "../../kernel/types.ts";
import type { User } from "./authenticate.ts";
import type { Attributes, Authorizer, Decision } from "./authorize.ts";

export interface AskingPorts {
  readonly clock: Clock;
  readonly authorize: Authorizer;
  /** What decisions have taken so far, of this server's own. */
  readonly labour: { readonly count: number };
}

/** What one turn may take, and each question besides what its decision takes. */
const labourPerTurn = 500_000;
const questionLabour = 50;

export interface Refused {
  readonly asked: Attributes;
  readonly decision: Decision & { readonly allowed: false };
}

/** Calls `done` once with the first refusal, or with undefined if all is allowed; never after the returned cancel. */
export function askEach(
  { clock, authorize, labour }: AskingPorts,
  user: User,
  questions: Iterator<Attributes, void>,
  done: (refused: Refused | undefined) => void,
): Cancel {
  let cancel: Cancel = () => {};
  // Those that are answered at once are taken in this loop, so that a long list does not grow the stack.
  const goOn = (): void => {
    const begun = labour.count;
    for (let count = 1; ; count++) {
      const { done: isOver, value: asked } = questions.next();
      if (isOver === true) {
        done(undefined);
        return;
      }
      let atOnce: Decision | undefined;
      let isWaiting = false;
      cancel = authorize(user, asked, (decision) => {
        if (!isWaiting) atOnce = decision;
        else if (decision.allowed) goOn();
        else done({ asked, decision });
      });
      if (atOnce === undefined) {
        isWaiting = true;
        return;
      }
      if (!atOnce.allowed) {
        done({ asked, decision: atOnce });
        return;
      }
      if (labour.count - begun + count * questionLabour > labourPerTurn) {
        cancel = clock.after(0, goOn);
        return;
      }
    }
  };
  goOn();
  return () => cancel();
}
