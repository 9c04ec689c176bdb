/**
 * What a controller does about one item, as a generator that yields requests and gets their answers: it reads from top
 * to bottom, and no promise decides an order.
 */
import type { ClientRequest } from "../../client/api-client.ts";
import type { ControlAnswer, ControlClient } from "../../client/control-client.ts";

/** Yields requests that are sent together; gets their answers, in the order of the requests. */
export type Steps<Result> = Generator<readonly ClientRequest[], Result, readonly ControlAnswer[]>;

/** One request. */
export function* call(request: ClientRequest): Steps<ControlAnswer> {
  return (yield [request])[0] as ControlAnswer;
}

/** Several at once. */
export function* callAll(requests: readonly ClientRequest[]): Steps<readonly ControlAnswer[]> {
  return requests.length === 0 ? [] : yield requests;
}

export const isGood = ({ status }: ControlAnswer): boolean => status >= 200 && status < 300;

/** Runs to the end; `done` is called once, within this call when all answers are, unless the process dies before. */
export function runSteps<Result>(client: ControlClient, steps: Steps<Result>, done: (result: Result) => void): void {
  // An answer within the call is taken by the loop, so that a thousand requests do not make a thousand frames.
  let isLooping = false;
  let ready: readonly ControlAnswer[] | undefined = [];
  const proceed = (): void => {
    if (isLooping) return;
    isLooping = true;
    while (ready !== undefined) {
      const answers = ready;
      ready = undefined;
      const next = steps.next(answers);
      if (next.done === true) {
        done(next.value);
        return;
      }
      const requests = next.value;
      const heard: ControlAnswer[] = [];
      let open = requests.length;
      if (open === 0) ready = heard;
      for (const [at, request] of requests.entries()) {
        client.call(request, (answer) => {
          heard[at] = answer;
          if (--open > 0) return;
          ready = heard;
          proceed();
        });
      }
    }
    isLooping = false;
  };
  proceed();
}
