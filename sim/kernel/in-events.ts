/** Long work in several events, so that others have their turn in between. */
import type { Cancel, Clock } from "./types.ts";

/**
 * Carries out work that stops now and then, and goes on with each part in an event of its own, at this instant. Calls `done` once
 * with what it comes to, or throws, as a function: before this returns if the work never stops; never after the returned cancel.
 */
export function inEvents<Result>(
  clock: Clock,
  work: Generator<void, Result>,
  done: (outcome: () => Result) => void,
): Cancel {
  let cancel: Cancel = () => {};
  const goOn = (): void => {
    let outcome: () => Result;
    try {
      const { done: isOver, value } = work.next();
      if (isOver !== true) {
        cancel = clock.after(0, goOn);
        return;
      }
      outcome = () => value;
    } catch (error) {
      outcome = () => {
        throw error;
      };
    }
    done(outcome);
  };
  goOn();
  return () => cancel();
}
