/**
 * Laws of what an evicted pod's status says. Source: the fact sheet of the 1.33 agent, on killing and status.
 */
import { largest } from "../../../wire/lists.ts";
import {
  amountOf,
  evictionSignals,
  type EvictionRules,
  type EvictionSignal,
} from "../../../wire/eviction-thresholds.ts";
import { compareQuantities, parseQuantity, type Quantity, quantityAt } from "../../../wire/quantity.ts";
import type { Violation } from "../../client/findings.ts";
import { type EvictionHistory, type EvictionShown, judgeEach, type Judgement, victimsOf } from "./history.ts";

/** Phase, reason and the condition DisruptionTarget. */
export function judgeStatuses(history: EvictionHistory): Judgement {
  return judgeEach(victimsOf(history), ({ name, eviction }) => judgeStatus(name, eviction));
}

export function judgeStatus(name: string, { phase, reason, disruptionTarget }: EvictionShown): Violation | undefined {
  const target = disruptionTarget === undefined ? "none" : `${disruptionTarget.status} ${disruptionTarget.reason}`;
  if (phase === "Failed" && reason === "Evicted" && target === "True TerminationByKubelet") return undefined;
  return {
    expected: `${name} is Failed, Evicted, with the condition DisruptionTarget True TerminationByKubelet`,
    actual: `${phase}, ${reason}, condition ${target}`,
  };
}

/** The message names a resource, a configured threshold, what was available, and containers above their requests. */
export function judgeMessages(history: EvictionHistory): Judgement {
  const capacitiesOf = (signal: EvictionSignal) =>
    history.readings.map(({ signals }) => signals[signal]?.capacity).filter((capacity) => capacity !== undefined);
  return judgeEach(victimsOf(history), ({ name, eviction }) =>
    judgeMessage(name, eviction.message, history.rules, capacitiesOf),
  );
}

/** The message of an eviction for what the node lacks. Evictions for a pod's own limits, and rejections, begin otherwise. */
export function isLowMessage(message: string): boolean {
  return message.startsWith("The node was low on resource: ");
}

/** `capacitiesOf` gives what a percentage may be of; none: the percentage cannot be compared, and any quantity will do. */
export function judgeMessage(
  name: string,
  message: string,
  rules: EvictionRules,
  capacitiesOf: (signal: EvictionSignal) => readonly number[],
): Violation | undefined {
  const wrong = (expected: string) => ({
    expected: `the message of ${name} ${expected}`,
    actual: JSON.stringify(message),
  });
  const [whole, resource, quantityText, availableText, rest] = lowMessage.exec(message) ?? [];
  if (whole === undefined) return wrong("says which resource was low, by which threshold, and how much was available");
  const thresholds = rules.thresholds.filter(({ signal }) => evictionSignals[signal].resource === resource);
  if (thresholds.length === 0) return wrong(`names a resource with a threshold, not ${resource}`);
  if (quantityText !== undefined && availableText !== undefined) {
    const [quantity, available] = [read(quantityText), read(availableText)];
    if (quantity === undefined || available === undefined) return wrong("has quantities");
    const fitting = thresholds.filter(({ signal, value }) => {
      const capacities = "amount" in value ? [0] : capacitiesOf(signal);
      return capacities.length === 0 || capacities.some((capacity) => amountOf(value, capacity) === unitsOf(quantity));
    });
    if (fitting.length === 0) return wrong(`names a threshold that is configured, not ${quantityText}`);
    const isLow = fitting.some(({ signal, minimumReclaim }) => {
      const capacities = "amount" in minimumReclaim ? [0] : capacitiesOf(signal);
      const reclaims = capacities.map((capacity) => amountOf(minimumReclaim, capacity));
      return reclaims.length === 0 || unitsOf(available) < unitsOf(quantity) + largest(reclaims, 0);
    });
    if (!isLow) return wrong(`has less available than the threshold and its minimum reclaim, not ${availableText}`);
  }
  for (const [, container, usageText, requestText, of] of (rest ?? "").matchAll(offender)) {
    if (of !== resource) return wrong(`tells the consumption of ${resource} by ${container}`);
    const [usage, request] = [read(usageText as string), read(requestText as string)];
    if (usage === undefined || request === undefined) return wrong(`has quantities for ${container}`);
    if (compareQuantities(usage, request) <= 0)
      return wrong(`only lists containers above their requests, not ${container}`);
  }
  return undefined;
}

/** Failed and Succeeded are for ever: no eviction of what has ended, and no second life. */
export function judgeEnds(history: EvictionHistory): Judgement {
  const judgement = judgeEach(history.pods, ({ name, statuses }) => {
    const end = statuses.findIndex(({ phase }) => phase === "Failed" || phase === "Succeeded");
    const after = end < 0 ? [] : statuses.slice(end + 1);
    const { phase, reason } = statuses[end] ?? { phase: "", reason: "" };
    if (after.every((status) => status.phase === phase && status.reason === reason)) return undefined;
    return {
      expected: `${name} stays ${phase} ${reason}`.trim(),
      actual: after.map((status) => `${status.phase} ${status.reason}`.trim()).join(", "),
    };
  });
  return { ...judgement, judged: judgement.violation !== undefined || victimsOf(history).length > 0 };
}

const oneOffender = String.raw`Container (\S+) was using (\S+), request is (\S+), has larger consumption of ([a-z-]+)\. `;
const offender = new RegExp(oneOffender, "g");
const lowMessage = new RegExp(
  String.raw`^The node was low on resource: ([a-z-]+)\. (?:Threshold quantity: (\S+), available: (\S+)\. )?((?:${oneOffender.replaceAll("(", "(?:")})*)$`,
);

function read(text: string): Quantity | undefined {
  const quantity = parseQuantity(text);
  return "error" in quantity ? undefined : quantity;
}

function unitsOf(quantity: Quantity): number {
  return Number(quantityAt(quantity, 0));
}
