/**
 * Judgements that ask the authorizer on the way: they are written as if each answer came at once. Where one has to be
 * waited for, the judgement is broken off, and made again from its beginning once the answer is there. So are those that
 * evaluate much.
 */
import type { Cancel, Clock } from "../../kernel/types.ts";
import { Pace, type TurnBudget } from "../../expressions/pace.ts";
import type { User } from "./authenticate.ts";
import type { Attributes, Authorizer, Decision } from "./authorize.ts";

/** May they? To be called within a judgement alone. */
export type Ask = (user: User, attributes: Attributes) => Decision;

/** How a judgement by expressions goes on in other turns. */
export interface Pacing {
  readonly clock: Clock;
  readonly budget: TurnBudget;
}

/** Breaks off a judgement; nobody else may catch it. */
const awaited = new Error("an answer is awaited");

/**
 * Calls `done` once with what `judge` returns, or throws, as a function: before this returns unless an answer takes its
 * time or, with a `pacing`, much is evaluated; never after the returned cancel. `judge` must ask and evaluate the same in the
 * same order when it is called again, whatever has been written meanwhile, and must do nothing else.
 */
export function judged<Judgement>(
  authorize: Authorizer,
  judge: (ask: Ask) => Judgement,
  done: (judgement: () => Judgement) => void,
  pacing?: Pacing,
): Cancel {
  const asked = { count: 0 };
  const pace = pacing && new Pace(pacing.budget, asked);
  const later = ({ clock, budget }: Pacing): void => {
    cancel = clock.after(0, () => {
      budget.refill();
      attempt();
    });
  };
  /** In the order of asking. */
  const answers: Decision[] = [];
  let cancel: Cancel = () => {};
  const attempt = (): void => {
    asked.count = 0;
    const ask: Ask = (user, attributes) => {
      const known = answers[asked.count++];
      if (known !== undefined) return known;
      let isWaiting = false;
      cancel = authorize(user, attributes, (decision) => {
        answers.push(decision);
        if (isWaiting) attempt();
      });
      const answer = answers[asked.count - 1];
      if (answer !== undefined) return answer;
      isWaiting = true;
      throw awaited;
    };
    let judgement: () => Judgement;
    try {
      const made = pace === undefined ? { result: judge(ask) } : pace.turn(() => judge(ask));
      if (made === undefined) {
        if (pacing !== undefined) later(pacing);
        return;
      }
      judgement = () => made.result;
    } catch (error) {
      if (error === awaited) return;
      judgement = () => {
        throw error;
      };
    }
    done(judgement);
  };
  attempt();
  return () => cancel();
}
