/** Priority levels: how many requests may run, and which wait. Source: the published defaults, validation and columns. */
import type { Json } from "../../contract/http-message.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { KindRow } from "../kind-row.ts";
import { fill } from "../shared/fields.ts";
import { ageColumn, at, column, nameColumn, none, printer, textAt } from "../shared/printer.ts";
import {
  atLeast,
  between,
  struct,
  always,
  firstOf,
  atMost,
  oneOf,
  caseOf,
  present,
  forbidden,
  fieldRules,
} from "../../objects/rules.ts";

const queuesMax = 10_000_000;
const entropyBitsMax = 60;

const shares = {
  nominalConcurrencyShares: atLeast(0, "must be a non-negative integer"),
  lendablePercent: between(0, 100),
};

const positive = atLeast(1, "must be positive");

const queuing = struct(
  {
    queueLengthLimit: always(positive),
    queues: always(firstOf(positive, atMost(queuesMax, `must not be greater than ${queuesMax}`))),
    handSize: always(positive),
  },
  ({ queues = 0, handSize = 0 }: Readonly<Record<string, number>>, at) => {
    const hand = at.of("handSize");
    if (handSize <= 0) return;
    if (handSize > queues) hand.invalid(handSize, `should not be greater than queues (${queues})`);
    else if (!isDealt(queues, handSize)) {
      const detail = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${entropyBitsMax}`;
      hand.invalid(handSize, detail);
    }
  },
);

const limited = struct(shares, {
  borrowingLimitPercent: atLeast(0, "if specified, must be a non-negative integer"),
  limitResponse: always(
    struct(
      { type: always(oneOf(["Queue", "Reject"])) },
      caseOf("type", {
        Queue: { queuing: present(queuing, "must not be empty if limited.limitResponse.type is Limited") },
        Reject: { queuing: forbidden("must be nil if limited.limitResponse.type is not Limited") },
      }),
    ),
  ),
});

const levelRules: KindRules = {
  defaults(draft) {
    const spec = ownChild(draft, "spec");
    if (isObject(spec["exempt"])) shareDefaults(ownChild(spec, "exempt"), 0);
    if (!isObject(spec["limited"])) return;
    const own = ownChild(spec, "limited");
    shareDefaults(own, 30);
    const response = isObject(own["limitResponse"]) ? ownChild(own, "limitResponse") : undefined;
    if (response === undefined || !isObject(response["queuing"])) return;
    const queues = ownChild(response, "queuing");
    fill(queues, "handSize", 8);
    fill(queues, "queues", 64);
    fill(queues, "queueLengthLimit", 50);
  },
  validate: fieldRules({
    spec: always(
      struct(
        { type: always(oneOf(["Exempt", "Limited"])) },
        caseOf("type", {
          Exempt: { limited: forbidden("must be nil if the type is not Limited"), exempt: struct(shares) },
          Limited: {
            exempt: forbidden("must be nil if the type is Limited"),
            limited: present(limited, "must not be empty when type is Limited"),
          },
        }),
      ),
    ),
  }),
};

/** Zero is a share like others here, and so is not filled in. */
function shareDefaults(holder: Draft, shares: number): void {
  holder["nominalConcurrencyShares"] ??= shares;
  holder["lendablePercent"] ??= 0;
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
