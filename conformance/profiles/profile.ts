/**
 * What the suite expects where the documents leave room, and where a known implementation is declared to do something
 * else. An expectation is a set of lawful answers; a deviation is a promise that this implementation is known to break,
 * with a reason and with what it does instead, so that it is never taken for a pass and never goes unnoticed when mended.
 */
import type { Dialect } from "../../wire/dialect.ts";

export interface Deviation {
  /** A slug that checks name. */
  readonly name: string;
  readonly requirement: string;
  readonly reason: string;
  /** What is seen instead of what is promised. */
  readonly instead: string;
  /** It shows only when something lags, so that its absence does not make it stale. Default false. */
  readonly sometimes?: boolean;
}

export interface SuiteProfile {
  readonly name: "svc" | "kubernetes";
  readonly dialect: Dialect;
  /** Statuses that refuse a combination of list options which the documents call invalid. */
  readonly invalidOptionStatuses: readonly number[];
  /** Statuses of a list whose version can be none. */
  readonly unparsableVersionStatuses: readonly number[];
  /** Statuses that refuse a patch of a type that is not served for the object. */
  readonly unservedPatchStatuses: readonly number[];
  /** Among types that Accept wants equally, any will do, or it is the first. */
  readonly acceptTies: "any" | "first";
  /** Whether types of events other than Normal and Warning, and series of fewer than two, are refused, or open. */
  readonly eventRules: "refused" | "open";
  /** Whether a service's name has to begin with a letter, or a server may as well let it begin with a digit. */
  readonly serviceNames: "letter-first" | "any-label";
  /**
   * What makes a server forget watch history: time alone, or also the number of later changes. With `changes`, waiting
   * is helped along by writes.
   */
  readonly forgets: "time" | "changes";
  /** A version from before all retained history, on every server of this kind; undefined when none is known. */
  readonly forgottenVersion: string | undefined;
  readonly deviations: readonly Deviation[];
}
