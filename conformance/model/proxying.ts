/** What comes of a request that is sent through `proxy`: it reaches what its path names, or nothing. */
import type { Json } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";

export interface Proxied {
  /** The resource that the path names. */
  readonly name: string;
  /** Whether the suite answers for that resource. */
  readonly isOurs: boolean;
  readonly sent: Json;
  readonly status: number;
  readonly answered: Json | undefined;
  /** What has arrived at the suite because of it. */
  readonly arrived: readonly unknown[];
}

/** What the suite answers to what has reached it. */
export const answerTo = (document: unknown): Json => ({ reached: document as Json });

export function judgeProxied({ name, isOurs, sent, status, answered, arrived }: Proxied): Violation | undefined {
  const actual = `${status} ${JSON.stringify(answered)}, after ${JSON.stringify(arrived)} had arrived`;
  if (!isOurs) {
    if (status >= 400 && arrived.length === 0) return undefined;
    return { expected: `an error for ${name}, behind which nobody is, and nothing at anybody else`, actual };
  }
  const isThrough = same(arrived, [sent]) && status === 200 && same(answered, answerTo(sent));
  return isThrough ? undefined : { expected: `${JSON.stringify(sent)} at ${name}, and its answer`, actual };
}

const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);
