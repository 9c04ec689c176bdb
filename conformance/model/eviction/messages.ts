/**
 * Laws of what the message of an eviction says. Source: the fact sheet of the 1.33 agent, on killing and status.
 */
import {
  amountOf,
  evictionSignals,
  type EvictionRules,
  type EvictionSignal,
} from "../../../wire/eviction-thresholds.ts";
import { largest } from "../../../wire/lists.ts";
import { compareQuantities, parseQuantity, type Quantity, quantityAt } from "../../../wire/quantity.ts";
import type { Violation } from "../../client/findings.ts";
import { actingOn, decidingOf, isActionable } from "./decisions.ts";
import { type EvictionHistory, judgeEach, type Judgement, type Victim, victimsOf } from "./history.ts";
import { describeReading, type Pressure, pressuresOf } from "./pressure.ts";

/**
 * The message names a resource, a configured threshold, what was available, and containers above their requests; and all
 * of it is what the agent was shown at a look at which the eviction may have been decided.
 */
export function judgeMessages(history: EvictionHistory): Judgement {
  const capacitiesOf = (signal: EvictionSignal) =>
    history.readings.map(({ signals }) => signals[signal]?.capacity).filter((capacity) => capacity !== undefined);
  const pressures = pressuresOf(history.rules, history.readings);
  return judgeEach(
    victimsOf(history),
    (victim) =>
      judgeMessage(victim.name, victim.eviction.message, history.rules, capacitiesOf) ??
      judgeShown(victim, decidingOf(history, pressures, victim).filter(isActionable)),
  );
}

/** Who went at no look that drives is another law's matter. */
function judgeShown(victim: Victim, deciding: readonly Pressure[]): Violation | undefined {
  if (deciding.length === 0) return undefined;
  const told = lowMessage.exec(victim.eviction.message) as RegExpExecArray;
  const wrongs = deciding.map((pressure) => wrongAt(victim, told, pressure));
  if (wrongs.includes(undefined)) return undefined;
  const looks = deciding.map(({ reading }) => describeReading(reading)).join("; ");
  return {
    expected: `the message of ${victim.name} ${[...new Set(wrongs)].join(", or ")}`,
    actual: `${JSON.stringify(victim.eviction.message)}; ${looks}`.slice(0, 900),
  };
}

/** What the message says that was not so at this look. */
function wrongAt({ name, requests }: Victim, told: RegExpExecArray, pressure: Pressure): string | undefined {
  const [, resource, quantityText, availableText, rest = ""] = told;
  const { driving, reading } = pressure;
  const acting = new Set<string>(actingOn(pressure).map(({ signal }) => evictionSignals[signal].resource));
  if (!acting.has(resource as string)) return `names what was acted on: ${[...acting].join(" or ")}`;
  const [quantity, available] = [read(quantityText ?? ""), read(availableText ?? "")];
  if (quantity === undefined || available === undefined) return "has quantities";
  const isOf = driving.some(({ signal, value }) => {
    const seen = reading.signals[signal];
    return (
      evictionSignals[signal].resource === resource &&
      seen !== undefined &&
      amountOf(value, seen.capacity) === unitsOf(quantity) &&
      seen.available === unitsOf(available)
    );
  });
  if (!isOf) return `tells a threshold that drove at ${reading.atMillis} ms, and what was available then`;
  const usage = reading.pods[name];
  if (resource !== "memory" && resource !== "ephemeral-storage") return undefined; // nobody is blamed, as far as is known
  const [used, request] =
    resource === "memory"
      ? [usage?.memoryBytes ?? 0, requests.memoryBytes]
      : [(usage?.layers.bytes ?? 0) + (usage?.volumes.bytes ?? 0), requests.diskBytes];
  const blamed = [...rest.matchAll(offender)].map(([, , usageText, requestText]) => {
    const [ofUsage, ofRequest] = [read(usageText as string), read(requestText as string)];
    return `${ofUsage && unitsOf(ofUsage)} of ${ofRequest && unitsOf(ofRequest)}`;
  });
  const expected = used > request ? [`${used} of ${request}`] : [];
  if (blamed.join() === expected.join()) return undefined;
  return used > request
    ? `blames the container that used ${used} and requests ${request}`
    : `blames no container: ${used} was used, and ${request} is requested`;
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
