import { configMap } from "../../arbitraries/config-maps.ts";
import type { Collection } from "../../client/collection.ts";
import { trialTypes } from "../../arbitraries/trial-types.ts";
import { listOf, objectOf } from "../../client/collection.ts";
import { type ApiList, isApiObject, isJsonObject, type Json, type WatchEvent } from "../../client/types.ts";
import { HistoryExpired, Inconclusive } from "../../client/findings.ts";
import { judgeReplay } from "../../model/replay.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineAgedCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";
import { ownLog } from "../../runner/story.ts";
import { trialPlace } from "../../runner/trial-place.ts";

/**
 * A watch from an old version tells all that happened since, for as long as the history is kept, and then is answered
 * 410 and delivers nothing. A server that forgets by the number of changes is given some.
 */
export const oldWatchesAreRefused = defineAgedCheck({
  id: "old-watches-are-refused",
  area: "expiry",
  property: "A watch from a forgotten version is answered 410 before any event, and the client can list again.",
  requirements: ["expiry.watch-gone", "expiry.restart", "expiry.reason", "errors.stream"],
  features: ["configmaps", "watch"],
  async capture(attempt) {
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("a")));
    const before = await collection.readList();
    objectOf(await collection.create(configMap("b")));
    return { collection, before, others: await captureOthers(attempt) };
  },
  async settle(attempt, { collection, before, others }, deadlineMillis) {
    let rounds = 0;
    const { forgottenVersion } = attempt.profile;
    const atOnce = forgottenVersion === undefined ? undefined : await refusalOf(attempt, collection, forgottenVersion);
    const refused =
      atOnce ??
      (await pollUntil(attempt, deadlineMillis, async () => {
        if (attempt.profile.forgets === "changes") await churn(collection, rounds);
        rounds += 1;
        return watchOnce(attempt, collection, before).catch(askAgainIfExpired);
      }));
    if (refused === undefined) throw new Inconclusive("the history was still there when the time allowed was over");
    const shown = JSON.stringify(refused);
    const asResponse = refused.status === 410 ? undefined : { expected: "a response with status 410", actual: shown };
    const asEvent = refused.status === 200 && isJsonObject(refused.body) && refused.body["code"] === 410;
    attempt.holdsOrDeviates("watch-too-old-is-event", "expiry.watch-gone", asResponse, asEvent);
    const reason = isJsonObject(refused.body) ? refused.body["reason"] : undefined;
    attempt.expect("expiry.reason", reason === "Expired", "reason Expired", shown);

    const askedMillis = attempt.clock.nowMillis();
    const list = await collection.readList();
    const watch = await attempt.openWatch(collection, { resourceVersion: list.resourceVersion }, askedMillis);
    const log = ownLog(attempt, collection, await attempt.untilFence(watch, await attempt.fence(collection)));
    watch.close();
    const items = attempt.target.own(collection, list.items);
    attempt.holds("expiry.restart", judgeReplay(items, log, items));
    for (const other of others) await judgeOther(attempt, other);
  },
});

/** A collection of another type, a version of it, and what has changed there since. */
interface Other {
  readonly collection: Collection;
  readonly version: string;
  readonly name: string;
}

/** Of the cluster, of another group, short-lived: each with a change after the version. */
const otherTypes = trialTypes.filter(({ plural }) => ["priorityclasses", "leases", "events"].includes(plural));

async function captureOthers(attempt: Attempt): Promise<readonly Other[]> {
  const others: Other[] = [];
  for (const type of otherTypes) {
    const { collection, name, object } = await trialPlace(attempt, type);
    const listed = await collection.list();
    if (listed.status !== 200) continue; // not served, or not for this caller
    const made = await collection.create(object("v1"));
    if (made.status < 300) others.push({ collection, name, version: listOf(listed).resourceVersion });
  }
  return others;
}

/** Refused, or told what has changed since: a watch that begins with the present leaves its client wrong for good. */
async function judgeOther(attempt: Attempt, { collection, version, name }: Other): Promise<void> {
  for (let endings = 0; endings <= silentEndingsMax; endings += 1) {
    const watch = await attempt.answeredWatch(() => collection.watch({ resourceVersion: version, timeoutSeconds: 60 }));
    const { status } = watch;
    if (status === undefined) throw new Inconclusive(`no answer to GET ${watch.exchange.request.path}`);
    const tells = (): boolean =>
      watch.events.some((event) => isGone(event) || (isApiObject(event.object) && event.object.metadata.name === name));
    await watch.until(tells, 10_000);
    const hasEnded = watch.ended !== undefined;
    watch.close();
    if (status === 410 || tells()) break;
    if (hasEnded && status === 200) continue; // a stream may end at any time
    const expected = `410, or the change of ${name} after version ${version}, on GET ${collection.path}`;
    const actual = `${status}, and ${watch.events.length} events in 10 s`;
    attempt.expect("expiry.watch-gone", false, expected, actual);
  }
}

/** The history went while we were reading it: the next round shows how the watch is refused. */
function askAgainIfExpired(error: unknown): undefined {
  if (!(error instanceof HistoryExpired)) throw error;
}

interface Refusal {
  readonly status: number;
  readonly body: Json | undefined;
}

/** Undefined while the watch still works; then it has told everything since. */
async function watchOnce(attempt: Attempt, collection: Collection, before: ApiList): Promise<Refusal | undefined> {
  const refusal = await refusalOf(attempt, collection, before.resourceVersion);
  if (refusal !== undefined) return refusal;
  let watch = await attempt.openWatch(collection, { resourceVersion: before.resourceVersion });
  const list = await collection.readList();
  const fence = await attempt.fence(collection);
  const isOfFence = ({ object }: WatchEvent) => isApiObject(object) && object.metadata.uid === fence.metadata.uid;
  for (let endings = 1; ; endings += 1) {
    await watch.until(() => watch.events.some((event) => isGone(event) || isOfFence(event)), 10_000);
    if (watch.ended !== "closed by the server" || watch.events.length > 0) break;
    // A stream may end at any time; one that always ends before it has said a word leaves its client no way on.
    attempt.expect(
      "expiry.watch-gone",
      endings < silentEndingsMax,
      "410, or what has happened since the version",
      `the stream ends without an event, ${endings} times`,
    );
    watch = await attempt.openWatch(collection, { resourceVersion: before.resourceVersion });
  }
  const place = watch.events.findIndex(isGone);
  attempt.expect("expiry.watch-gone", place <= 0, "410 before any event", `${place} events, and then it`);
  const log = ownLog(attempt, collection, await attempt.untilFence(watch, fence));
  watch.close();
  const own = (items: typeof list.items) => attempt.target.own(collection, items);
  attempt.holds("watch.reliable", judgeReplay(own(before.items), log, own(list.items)));
  return undefined;
}

const isGone = ({ type, object }: WatchEvent): boolean => type === "ERROR" && object["code"] === 410;

/** How a watch from a version is refused, by its response or by its first event. Undefined: it is not. */
async function refusalOf(attempt: Attempt, collection: Collection, version: string): Promise<Refusal | undefined> {
  const watch = await attempt.answeredWatch(() => collection.watch({ resourceVersion: version, timeoutSeconds: 5 }));
  const { status } = watch;
  if (status === undefined) throw new Inconclusive(`no answer to GET ${watch.exchange.request.path}`);
  if (status !== 200) {
    await watch.untilEnded(10_000);
    attempt.holds("errors.stream", undefined); // there is none that could go on
    return { status, body: watch.refusal() };
  }
  await watch.until(() => watch.events.length > 0, 5_000);
  const [first] = watch.events;
  if (first?.type === "ERROR") await watch.untilEnded(3_000); // anything after it would show
  const { ended } = watch;
  watch.close();
  if (first?.type !== "ERROR") return undefined;
  attempt.expect("errors.stream", ended !== undefined, "the end of the stream after its error", "still open 3 s later");
  const more = watch.events.length - 1;
  attempt.expect("expiry.watch-gone", more === 0, "nothing after the error", `${more} events`);
  return { status, body: first.object };
}

/** Changes of one object: enough to push old ones out of a buffer that only holds so many. */
async function churn(collection: Collection, round: number): Promise<void> {
  const count = round === 0 ? 0 : changesPerRound;
  for (let start = 0; start < count; start += 25) {
    await Promise.all(
      Array.from({ length: 25 }, (_, index) =>
        collection.patch("b", "merge", { data: { value: `${round}-${start + index}` } }),
      ),
    );
  }
}

const changesPerRound = 250;
const silentEndingsMax = 3;
