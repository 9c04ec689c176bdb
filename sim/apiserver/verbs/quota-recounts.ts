/**
 * Statuses of quotas that are written soon after what they count has changed, in events of their own: of large quotas, of many, and
 * where much is counted for the first time. Until then such a quota is judged by what is counted, not by what its status says.
 */
import { metadataOf } from "../../contract/objects.ts";
import { digestParts } from "../../objects/digest.ts";
import { largeLeafSteps } from "../../objects/large-leaves.ts";
import { seal } from "../../objects/seal.ts";
import { isLargeObject } from "../../objects/value-limit.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { inTurns } from "../../expressions/pace.ts";
import { concernedBy, hardOf, trackStatus, usedOf, withStatus, writeStatus } from "./quota-status.ts";
import type { ServerContext } from "./server-context.ts";
import type { Live, Writer } from "./writer.ts";

interface Awaited {
  readonly writer: Writer;
  readonly namespace: string;
  readonly name: string;
  /** Something has changed since it was begun. */
  again: boolean;
}

interface Recounts {
  /** By key, in the order in which they are written. */
  readonly awaited: Map<string, Awaited>;
  isUnderWay: boolean;
}

const recounts = new WeakMap<ServerContext, Recounts>();

export function isAwaited({ context }: Writer, { key }: Live): boolean {
  return recounts.get(context)?.awaited.has(key) === true;
}

/** Whether any quota's status is yet to be written. */
export function isAwaitingAny({ context }: Writer): boolean {
  const all = recounts.get(context);
  return all !== undefined && all.awaited.size > 0;
}

/** Has the quota's status written soon. */
export function recountLater(writer: Writer, { key, object }: Live): void {
  const { context } = writer;
  let all = recounts.get(context);
  if (all === undefined) recounts.set(context, (all = { awaited: new Map(), isUnderWay: false }));
  const awaited = all.awaited.get(key);
  if (awaited !== undefined) awaited.again = true;
  else {
    const { namespace = "", name = "" } = metadataOf(object);
    all.awaited.set(key, { writer, namespace, name, again: false });
  }
  if (!all.isUnderWay) begin(context, all);
}

function begin({ clock }: ServerContext, all: Recounts): void {
  all.isUnderWay = true;
  const steps = recountSteps(all);
  const step = (): void => {
    let isDone = true;
    try {
      isDone = steps.next().done === true;
    } finally {
      if (isDone) all.isUnderWay = false;
    }
    if (!isDone) clock.after(0, step);
  };
  clock.after(0, step);
}

/** Statuses that are written in one event: one of so many amounts is as many. */
export const statusesPerTurn = 25;
const amountsPerStatus = 50;

export const statusWeight = ({ object }: Live): number => 1 + hardOf(object).size / amountsPerStatus;

function* recountSteps({ awaited }: Recounts): Generator<void, void> {
  let left = statusesPerTurn;
  // What is added meanwhile is met as well.
  for (const [key, each] of awaited) {
    if (left <= 0) {
      yield;
      left = statusesPerTurn;
    }
    const { writer, namespace, name } = each;
    each.again = false;
    const live = (): Live | undefined => writer.live(writer.quotas, namespace, name);
    yield* countSteps(writer, namespace, live());
    const found = live();
    const isLarge = found !== undefined && isLargeObject(found.stored);
    if (isLarge) yield;
    left -= found === undefined ? 0 : isLarge ? statusesPerTurn : statusWeight(found);
    const isWritten =
      found === undefined ||
      (isLarge
        ? yield* largeStatusSteps(writer, namespace, found)
        : writeStatus(writer, found, withStatus(found, usedOf(writer, namespace, found))));
    awaited.delete(key);
    // After the others: what changes all the time keeps none of them waiting.
    if (!isWritten || each.again) awaited.set(key, each);
  }
}

/** Counts what is not counted yet. */
function* countSteps(writer: Writer, namespace: string, live: Live | undefined): Generator<void, void> {
  if (live === undefined) return;
  for (const resource of concernedBy(writer, live.object)) {
    while (!writer.quotaSums.goOn(resource, namespace)) yield;
  }
}

function* largeStatusSteps(writer: Writer, namespace: string, live: Live): Generator<void, boolean> {
  const used = usedOf(writer, namespace, live);
  yield;
  const draft = withStatus(live, used);
  yield;
  yield* largeLeafSteps(live.object, draft, true);
  yield* inTurns(() => trackStatus(writer, live, draft));
  yield;
  seal(draft);
  yield;
  yield* digestParts(draft as JsonObject);
  yield;
  return writer.replace(writer.quotas, live, { ...draft }, false, true) !== undefined;
}
