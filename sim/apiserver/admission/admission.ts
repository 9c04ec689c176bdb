/**
 * Admission: a list of steps that every write passes before it is validated and stored. A step may look at the
 * object, replace it, refuse the request, or take its time: a webhook parks the request until it has answered.
 * When the stored object changed meanwhile, the write is built again from the new one and admitted again.
 */
import { append } from "../../../wire/lists.ts";
import type { TurnBudget } from "../../expressions/pace.ts";
import type { Cancel } from "../../kernel/types.ts";
import type { User } from "../access/authenticate.ts";
import { ApiError, badRequest } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Span } from "../../contract/tracing.ts";
import type { ResourcePlace } from "../requests/route.ts";

export interface AdmissionReview {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly place: ResourcePlace;
  readonly namespace: string;
  /** Empty for a create whose name is still to be generated. */
  readonly name: string;
  readonly user: User;
  /** Undefined for a deletion. */
  readonly object: JsonObject | undefined;
  /** Undefined for a creation. */
  readonly oldObject: JsonObject | undefined;
  readonly dryRun: boolean;
  /** Fields of the request's CreateOptions, UpdateOptions or DeleteOptions, as far as it sets them. */
  readonly options: JsonObject;
  /** The request's. */
  readonly turn: RequestTurn;
  /** What the request was for, where it is shown as another version of the same resource. */
  readonly asked?: ResourcePlace;
  /** That its webhooks' spans are within; undefined where nobody traces. */
  readonly span?: Span | undefined;
}

export interface RequestTurn {
  /** What may still be evaluated in it. */
  readonly budget: TurnBudget;
  /** Work is done in steps, with others in between. Whoever makes the object large says so. */
  isLarge: boolean;
}

/** A refusal, which may come with warnings, or admitted: with `object` when the step changed it. */
export type AdmissionVerdict =
  | ApiError
  | { readonly refused: ApiError; readonly warnings: readonly string[] }
  | { readonly object?: JsonObject | undefined; readonly warnings?: readonly string[] };

export interface AdmissionStep {
  readonly name: string;
  /** A step with side effects refuses a dry run that reaches it. Document 1, Dry-run 3. */
  readonly sideEffects: boolean;
  handles(review: AdmissionReview): boolean;
  /** Calls `done` once, now or later; never after the returned cancel. */
  admit(review: AdmissionReview, done: (verdict: AdmissionVerdict) => void): Cancel;
}

export type AdmissionOutcome =
  | { readonly refused: ApiError; readonly warnings: readonly string[] }
  | { readonly object: JsonObject | undefined; readonly warnings: readonly string[] };

const noCancel: Cancel = () => {};

/** Whether any step has something to say of a write; when none has, it is admitted as it is. */
export function concerns(steps: readonly AdmissionStep[], review: AdmissionReview): boolean {
  for (const step of steps) if (step.handles(review)) return true;
  return false;
}

/**
 * Runs the steps in order. With steps that answer at once, `done` is called before this returns. `observed` hears of each
 * step that was asked, at the moment of its answer.
 */
export function admit(
  steps: readonly AdmissionStep[],
  review: AdmissionReview,
  done: (outcome: AdmissionOutcome) => void,
  observed?: (step: AdmissionStep, isRefused: boolean) => void,
): Cancel {
  let current = review;
  let cancelStep: Cancel = noCancel;
  const warnings: string[] = [];

  function run(from: number): void {
    for (let index = from; index < steps.length; index++) {
      const step = steps[index] as AdmissionStep;
      if (!step.handles(current)) continue;
      if (current.dryRun && step.sideEffects) {
        const message = `admission webhook ${JSON.stringify(step.name)} does not support dry run`;
        done({ refused: badRequest(message), warnings });
        return;
      }
      // A step that answers at once is taken in this loop, so that a long list does not grow the stack.
      let phase: "asking" | "answered" | "parked" = "asking";
      let refused: ApiError | undefined;
      cancelStep = step.admit(current, (verdict) => {
        if (verdict instanceof ApiError) refused = verdict;
        else {
          if ("refused" in verdict) refused = verdict.refused;
          else if (verdict.object !== undefined) current = { ...current, object: verdict.object };
          if (verdict.warnings !== undefined) append(warnings, verdict.warnings);
        }
        observed?.(step, refused !== undefined);
        if (phase === "asking") {
          phase = "answered";
          return;
        }
        if (refused !== undefined) done({ refused, warnings });
        else run(index + 1);
      });
      if (refused !== undefined) {
        done({ refused, warnings });
        return;
      }
      if ((phase as string) !== "answered") {
        phase = "parked";
        return;
      }
    }
    done({ object: current.object, warnings });
  }

  run(0);
  return () => cancelStep();
}
