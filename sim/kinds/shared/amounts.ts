/**
 * Amounts that are a count or a share, as rollouts and disruption budgets have them.
 * Source: the published validation of such amounts.
 */
import { goQuote } from "../../../wire/go-strings.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json } from "../../contract/http-message.ts";
import { invalidText } from "../../objects/causes.ts";

const percentForm = /^[0-9]+%$/;
const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Not below zero, and well-formed. */
export function amountCauses(amount: Json | undefined, path: string, causes: Cause[]): void {
  if (typeof amount === "string" && !percentForm.test(amount)) {
    causes.push(invalidText(path, goAmount(amount), percentText));
  }
  if (typeof amount === "number" && amount < 0) {
    causes.push(invalidText(path, String(amount), "must be greater than or equal to 0"));
  }
}

/** A share of the whole is the whole at most. */
export function wholeCauses(amount: Json | undefined, path: string, causes: Cause[]): void {
  if (typeof amount !== "string" || !percentForm.test(amount) || Number.parseInt(amount, 10) <= 100) return;
  causes.push(invalidText(path, goAmount(amount), "must not be greater than 100%"));
}

/** Nothing, as a count or as a share. */
export const isNothing = (amount: Json | undefined): boolean => Number.parseInt(String(amount ?? 0), 10) === 0;

/** As the real server prints it. */
export function goAmount(amount: Json | undefined): string {
  return typeof amount === "string"
    ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${goQuote(amount)}}`
    : `intstr.IntOrString{Type:0, IntVal:${String(amount ?? 0)}, StrVal:""}`;
}
