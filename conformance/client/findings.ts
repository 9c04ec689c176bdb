/** How a run of a check ends other than by holding. Thrown, so that a check reads as what it proves. */
import type { Exchange } from "./exchange.ts";

/** What a judge found wrong. Undefined means that the history is lawful. */
export interface Violation {
  readonly expected: string;
  readonly actual: string;
}

/** The target broke a promise. */
export class CheckFailure extends Error {
  override readonly name = "CheckFailure";
  readonly requirement: string;
  readonly violation: Violation;
  readonly exchange: Exchange | undefined;

  constructor(requirement: string, violation: Violation, exchange?: Exchange) {
    super(`${requirement}: expected ${violation.expected}; actual ${violation.actual}`);
    this.requirement = requirement;
    this.violation = { expected: shown(violation.expected), actual: shown(violation.actual) };
    this.exchange = exchange;
  }
}

/** `JSON.stringify` says that it makes a text, and makes none of what is not there. */
const shown = (text: string | undefined): string => text ?? "nothing";

/** Nothing can be said: no deadline is promised, an answer was lost, or the credentials do not reach. */
export class Inconclusive extends Error {
  override readonly name = "Inconclusive";
}

/**
 * The target has forgotten a version that a program still held. It may: the program is worth running again. `failure`:
 * what it comes to when that happens every time, for another version of the same age was still served.
 */
export class HistoryExpired extends Inconclusive {
  readonly failure: CheckFailure | undefined;

  constructor(message: string, failure?: CheckFailure) {
    super(message);
    this.failure = failure;
  }
}

/** The target does not claim the feature. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
  readonly feature: string;

  constructor(feature: string) {
    super(`the target does not claim ${feature}`);
    this.feature = feature;
  }
}

/** What the target may leave out did not come in this program. In others it may: only if in none, it is unsupported. */
export class Unseen extends Unsupported {}

/** The target lacks a part that it may lack. What was judged without it counts, and what needs it is unsupported. */
export class Unserved extends Unseen {}

/** It has refused a verb that its discovery does not name for the resource: programs that do without it may go on. */
export class UnservedVerb extends Unserved {
  constructor(verb: string, resource: string) {
    super(`${verb} of ${resource}`);
  }
}

/** A person asked to stop. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}
