/**
 * Amounts that are a count or a share, as rollouts and disruption budgets have them.
 * Source: the published validation of such amounts.
 */
import { goQuote } from "../../../wire/go-strings.ts";
import type { Json } from "../../contract/http-message.ts";
import type { Check, Place } from "../../objects/place.ts";

const percentForm = /^[0-9]+%$/;
const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Not below zero, and well-formed. */
export const amount: Check = (given: Json, at: Place) => {
  if (typeof given === "string" && !percentForm.test(given)) at.invalidText(goAmount(given), percentText);
  if (typeof given === "number" && given < 0) at.invalidText(String(given), "must be greater than or equal to 0");
};

/** A share of the whole is the whole at most. */
export const partOfWhole: Check = (given: Json, at: Place) => {
  if (typeof given !== "string" || !percentForm.test(given) || Number.parseInt(given, 10) <= 100) return;
  at.invalidText(goAmount(given), "must not be greater than 100%");
};

/** Nothing, as a count or as a share. */
export const isNothing = (amount: Json | undefined): boolean => Number.parseInt(String(amount ?? 0), 10) === 0;

/** As the real server prints it. */
export function goAmount(amount: Json | undefined): string {
  return typeof amount === "string"
    ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${goQuote(amount)}}`
    : `intstr.IntOrString{Type:0, IntVal:${String(amount ?? 0)}, StrVal:""}`;
}
