/** Planted bugs of watches: of how one begins, of what it hears, and of what it tells. */
import type { Cancel, Micros } from "../../kernel/types.ts";
import type { Source } from "../../apiserver/cache/source.ts";
import { fieldMatcher } from "../../apiserver/reads/field-labels.ts";
import { tooOldForStore } from "../../apiserver/reads/watch.ts";
import type { WatchPlan } from "../../apiserver/reads/watch-plan.ts";
import { expired } from "../../contract/errors.ts";
import type { Payload } from "../../contract/http-message.ts";
import type { StoreEvent } from "../../store/types.ts";
import { asking, bled, customPrefix, sourceWith, withFewLabels } from "./read-parts.ts";
import { isInitialEnd, tellings } from "./watch-tellings.ts";
import { replayed, telling } from "./watch-parts.ts";

type Begin = (plan: WatchPlan) => Cancel;

/** `shows` is asked when the watch begins where the bug is of its beginning, and at each event where it is of those. */
export type WatchWrapper = (begin: Begin, shows: () => boolean) => Begin;

const begun =
  (change: (plan: WatchPlan) => WatchPlan): WatchWrapper =>
  (begin, shows) =>
  (plan) =>
    begin(shows() ? change(plan) : plan);

const told = Object.fromEntries(
  Object.entries(tellings).map(([name, tellingOf]): [string, WatchWrapper] => [
    name,
    (begin, shows) => (plan) => {
      const change = tellingOf(plan);
      return begin(change === undefined ? plan : telling(plan, (event) => (shows() ? change(event) : event)));
    },
  ]),
) as Readonly<Record<keyof typeof tellings, WatchWrapper>>;

export const watchWrappers = {
  ...told,
  "event-selectors-missing": begun(withFewLabels),
  "list-prefix-bleed": begun(bled),
  "custom-watch-unselected": begun((plan) => {
    const { target, selection, request } = plan;
    if (!customPrefix.test(target.prefix)) return plan;
    const matches = fieldMatcher(request.options.fieldSelector, target.fieldLabels);
    return { ...plan, selection: { ...selection, matches } };
  }),
  "watch-unset-rv-from-stale-cache": begun((plan) => (isUnset(plan) ? asking(plan, { resourceVersion: "0" }) : plan)),
  "initial-events-stale-snapshot": begun((plan) =>
    isUnset(plan) && isStreaming(plan) ? asking(plan, { resourceVersion: "0" }) : plan,
  ),
  "initial-events-before-version": begun((plan) =>
    isStreaming(plan) && plan.version > 0 ? { ...asking(plan, { resourceVersion: "0" }), version: 0 } : plan,
  ),
  "initial-events-end-unasked": begun((plan) => {
    if (plan.request.options.allowWatchBookmarks || !isStreaming(plan)) return plan;
    const marked = asking(plan, { allowWatchBookmarks: true });
    return telling(marked, (event) => (event.type === "BOOKMARK" && !isInitialEnd(plan, event) ? undefined : event));
  }),
  "initial-events-unsorted-resume": begun((plan) =>
    isStreaming(plan) ? withSource(plan, { objects: (...asked) => plan.source.objects(...asked).toReversed() }) : plan,
  ),
  "expired-cluster-watch-begins-now": begun((plan) =>
    isExpired(plan) && !plan.target.namespaced ? { ...plan, version: plan.source.applied } : plan,
  ),
  "watch-start-inclusive": begun((plan) =>
    isAfter(plan) && plan.version > Math.max(1, plan.source.oldestStart())
      ? { ...plan, version: plan.version - 1 }
      : plan,
  ),
  "watch-compacted-events-then-error": (begin, shows) => (plan) => {
    if (!isExpired(plan) || !shows()) return begin(plan);
    const { source, sink, request } = plan;
    begin({ ...plan, version: source.oldestStart() })();
    sink.event(request.encoder.event("ERROR", expired(tooOldForStore).status));
    sink.close();
    return nothing;
  },
  "watch-buffered-events-replayed": begun((plan) => (isAfter(plan) ? plan : replayed(plan, bufferedMax))),
  "past-events-merged": (begin, shows) => (plan) => {
    const { source } = plan;
    return begin(
      withSource(plan, {
        eventsAfter: (...asked) => (shows() ? lastOfEach(source.eventsAfter(...asked)) : source.eventsAfter(...asked)),
      }),
    );
  },
  "slow-reader-misses-changes": (begin, shows) => (plan) => {
    const { source, sink } = plan;
    let missed = 0;
    const whenTaken = (resume: () => void): void =>
      sink.whenTaken?.(() => {
        if (shows()) missed = source.applied;
        resume();
      });
    const heard = withSource(plan, {
      keepsAfter: (revision) => source.keepsAfter(Math.max(revision, missed)),
      eventsAfter: (revision, max) => source.eventsAfter(Math.max(revision, missed), max),
    });
    return begin(sink.whenTaken === undefined ? heard : { ...heard, sink: { ...sinkOf(plan), whenTaken } });
  },
  "slow-reader-holds-others": (begin, shows) => (plan) => held(begin, plan, shows),
} as const satisfies Record<string, WatchWrapper>;

const nothing: Cancel = () => {};

/** How many changes a buffer holds. */
const bufferedMax = 5;

const heldMicros: Micros = 100_000;

const versionOf = ({ request }: WatchPlan): string => request.options.resourceVersion;
const isUnset = (plan: WatchPlan): boolean => versionOf(plan) === "";
const isStreaming = ({ request }: WatchPlan): boolean => request.options.sendInitialEvents === true;

/** Whether it begins with changes after a version. */
const isAfter = (plan: WatchPlan): boolean => plan.version > 0 && !isStreaming(plan);
const isExpired = (plan: WatchPlan): boolean => isAfter(plan) && plan.version < plan.source.oldestStart();

const withSource = (plan: WatchPlan, own: Partial<Source>): WatchPlan => ({
  ...plan,
  source: sourceWith(plan.source, own),
});

const sinkOf = ({ sink }: WatchPlan): WatchPlan["sink"] => ({
  open: () => sink.open(),
  event: (payload) => sink.event(payload),
  whenTaken: sink.whenTaken,
  close: () => sink.close(),
  failed: (error) => sink.failed(error),
});

function lastOfEach(events: Iterable<StoreEvent>): Iterable<StoreEvent> {
  const last = new Map<string, StoreEvent>();
  for (const event of events) {
    last.delete(event.key);
    last.set(event.key, event);
  }
  return last.values();
}

/** While another watch of the type waits for its reader, what this one would tell waits as well. */
function held(begin: Begin, plan: WatchPlan, shows: () => boolean): Cancel {
  const { source, sink, context } = plan;
  const waiting: Payload[] = [];
  let cancelTurn = nothing;
  const isHeld = (): boolean => source.audience.waitingCount > 0 && shows();
  const askAgain = (): void => {
    cancelTurn = context.process.clock.after(heldMicros, () => {
      if (isHeld()) askAgain();
      else for (const payload of waiting.splice(0)) sink.event(payload);
    });
  };
  const cancel = begin({
    ...plan,
    sink: {
      ...sinkOf(plan),
      event(payload) {
        if (waiting.length === 0 && !isHeld()) return sink.event(payload);
        if (waiting.push(payload) === 1) askAgain();
        return 0;
      },
      close() {
        cancelTurn();
        sink.close();
      },
    },
  });
  return () => {
    cancelTurn();
    cancel();
  };
}
