/** Priority levels: how many requests may run, and which wait. Source: the published defaults, validation and columns. */
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";
import { forbiddenField, invalidValue, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { KindRow } from "../kind-row.ts";
import { fill } from "../shared/fields.ts";
import { ageColumn, at, column, nameColumn, none, printer, textAt } from "../shared/printer.ts";

const queuesMax = 10_000_000;
const entropyBitsMax = 60;

const levelRules: KindRules = {
  defaults(draft) {
    const spec = ownChild(draft, "spec");
    if (isObject(spec["exempt"])) shareDefaults(ownChild(spec, "exempt"), 0);
    if (!isObject(spec["limited"])) return;
    const limited = ownChild(spec, "limited");
    shareDefaults(limited, 30);
    const response = isObject(limited["limitResponse"]) ? ownChild(limited, "limitResponse") : undefined;
    if (response === undefined || !isObject(response["queuing"])) return;
    const queuing = ownChild(response, "queuing");
    fill(queuing, "handSize", 8);
    fill(queuing, "queues", 64);
    fill(queuing, "queueLengthLimit", 50);
  },
  validate(level, causes) {
    const { type = "", limited, exempt } = (level["spec"] ?? {}) as JsonObject;
    if (type !== "Exempt" && type !== "Limited") {
      causes.push(unsupportedValue("spec.type", type, ["Exempt", "Limited"]));
    } else if (type === "Exempt") {
      if (limited !== undefined) causes.push(forbiddenField("spec.limited", "must be nil if the type is not Limited"));
      if (isObject(exempt)) shareCauses(exempt, "spec.exempt", causes);
    } else {
      if (exempt !== undefined) causes.push(forbiddenField("spec.exempt", "must be nil if the type is Limited"));
      if (isObject(limited)) limitedCauses(limited, causes);
      else causes.push(requiredValue("spec.limited", "must not be empty when type is Limited"));
    }
  },
};

/** Zero is a share like others here, and so is not filled in. */
function shareDefaults(holder: Draft, shares: number): void {
  holder["nominalConcurrencyShares"] ??= shares;
  holder["lendablePercent"] ??= 0;
}

function shareCauses(holder: JsonObject, path: string, causes: Cause[]): void {
  const shares = (holder["nominalConcurrencyShares"] ?? 0) as number;
  if (shares < 0) {
    causes.push(invalidValue(`${path}.nominalConcurrencyShares`, shares, "must be a non-negative integer"));
  }
  const lent = (holder["lendablePercent"] ?? 0) as number;
  if (lent < 0 || lent > 100) {
    causes.push(invalidValue(`${path}.lendablePercent`, lent, "must be between 0 and 100, inclusive"));
  }
}

function limitedCauses(limited: JsonObject, causes: Cause[]): void {
  const path = "spec.limited";
  shareCauses(limited, path, causes);
  const borrowed = (limited["borrowingLimitPercent"] ?? 0) as number;
  if (borrowed < 0) {
    causes.push(
      invalidValue(`${path}.borrowingLimitPercent`, borrowed, "if specified, must be a non-negative integer"),
    );
  }
  responseCauses((limited["limitResponse"] ?? {}) as JsonObject, `${path}.limitResponse`, causes);
}

function responseCauses({ type = "", queuing }: JsonObject, path: string, causes: Cause[]): void {
  const here = `${path}.queuing`;
  if (type === "Reject") {
    if (queuing !== undefined) {
      causes.push(forbiddenField(here, "must be nil if limited.limitResponse.type is not Limited"));
    }
  } else if (type !== "Queue") causes.push(unsupportedValue(`${path}.type`, type, ["Queue", "Reject"]));
  else if (isObject(queuing)) queuingCauses(queuing, here, causes);
  else causes.push(requiredValue(here, "must not be empty if limited.limitResponse.type is Limited"));
}

function queuingCauses(queuing: JsonObject, path: string, causes: Cause[]): void {
  const amount = (field: string): number => (queuing[field] ?? 0) as number;
  const [length, queues, hand] = [amount("queueLengthLimit"), amount("queues"), amount("handSize")];
  if (length <= 0) causes.push(invalidValue(`${path}.queueLengthLimit`, length, "must be positive"));
  if (queues <= 0) causes.push(invalidValue(`${path}.queues`, queues, "must be positive"));
  else if (queues > queuesMax) {
    causes.push(invalidValue(`${path}.queues`, queues, `must not be greater than ${queuesMax}`));
  }
  const here = `${path}.handSize`;
  if (hand <= 0) causes.push(invalidValue(here, hand, "must be positive"));
  else if (hand > queues) causes.push(invalidValue(here, hand, `should not be greater than queues (${queues})`));
  else if (queues > 0 && !isDealt(queues, hand)) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${entropyBitsMax}`;
    causes.push(invalidValue(here, hand, detail));
  }
}

/** Whether a hash of 60 bits is enough to choose a hand of queues: queues × (queues - 1) × … hands. */
function isDealt(queues: number, hand: number): boolean {
  const most = 1n << BigInt(entropyBitsMax);
  let hands = 1n;
  for (let dealt = 0; dealt < hand && hands <= most; dealt++) hands *= BigInt(queues - dealt);
  return hands <= most;
}

const orNone = (value: Json | undefined): string => (value === undefined ? none : String(value as number));

export const priorityLevelKind: KindRow = {
  resource: "flowcontrol.apiserver.svc.io/prioritylevelconfigurations",
  usesGeneration: true,
  rules: levelRules,
  columns: printer(
    nameColumn,
    column("Type", "Whether its requests may have to wait.", (it) => textAt(it, "spec.type")),
    column("NominalConcurrencyShares", "Its part of the requests that run.", (it) =>
      orNone(at(it, "spec.limited.nominalConcurrencyShares")),
    ),
    ...(["queues", "handSize", "queueLengthLimit"] as const).map((field) =>
      column(`${field[0]?.toUpperCase()}${field.slice(1)}`, "How its requests wait.", (it) =>
        orNone(at(it, `spec.limited.limitResponse.queuing.${field}`)),
      ),
    ),
    ageColumn,
  ),
};
