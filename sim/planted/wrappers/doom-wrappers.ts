/** Planted bugs of what a deletion makes of an object: steps in the place of the right one. */
import { formatTime } from "../../../wire/time.ts";
import { finalizersAfter } from "../../apiserver/verbs/deletion.ts";
import { type Draft, metadataOf, ownMetadata } from "../../contract/objects.ts";
import { unixSeconds } from "../../contract/times.ts";
import { durationSeconds } from "../../objects/int64.ts";
import { orderMetadata } from "../../objects/system-fields.ts";
import type { LawWrapper } from "./law-wrappers.ts";

export const doomWrappers = {
  "delete-ignores-finalizers": ({ doomOf }) => ({
    doomOf: (live, context) =>
      (metadataOf(live).finalizers ?? []).length > 0 ? { is: "remove" } : doomOf(live, context),
  }),

  "deletion-raises-no-generation": ({ doomOf }) => ({
    doomOf(live, context) {
      const doom = doomOf(live, context);
      const { generation } = metadataOf(live);
      if (doom.is === "mark" && generation !== undefined) ownMetadata(doom.draft).generation = generation;
      return doom;
    },
  }),

  "deletiontimestamp-moves-back": ({ doomOf }) => ({
    doomOf(live, context) {
      const doom = doomOf(live, context);
      const { deletionTimestamp, deletionGracePeriodSeconds: current } = metadataOf(live);
      const isShortened = context.strategy.graceful && deletionTimestamp !== undefined && current !== undefined;
      if (doom.is !== "mark" || !isShortened) return doom;
      const metadata = ownMetadata(doom.draft);
      const first = unixSeconds(deletionTimestamp) - durationSeconds(current);
      metadata.deletionTimestamp = formatTime(first + durationSeconds(metadata.deletionGracePeriodSeconds ?? 0));
      return doom;
    },
  }),

  "repeat-delete-extends-grace": ({ doomOf }) => ({
    doomOf(live, context) {
      const { deletionTimestamp, deletionGracePeriodSeconds: current = 0 } = metadataOf(live);
      if (!context.strategy.graceful || deletionTimestamp === undefined || current <= 0) return doomOf(live, context);
      const asked = context.options.gracePeriodSeconds ?? current;
      const seconds = asked < 0 ? 1 : asked;
      const draft: Draft = { ...live };
      const metadata = ownMetadata(draft);
      metadata.deletionTimestamp = formatTime(context.times.nowSeconds() + durationSeconds(seconds));
      metadata.deletionGracePeriodSeconds = seconds;
      const finalizers = finalizersAfter(live, context);
      if (finalizers.length === 0) delete metadata.finalizers;
      else metadata.finalizers = finalizers;
      orderMetadata(draft);
      return { is: "mark", draft, thenRemove: finalizers.length === 0 && seconds === 0 };
    },
  }),

  // A period below zero is never over, and none that is asked for later is shorter.
  "negative-grace-undeletable": ({ doomOf }) => ({
    doomOf(live, context) {
      const doom = doomOf(live, context);
      const asked = context.options.gracePeriodSeconds ?? 0;
      if (doom.is !== "mark" || !context.strategy.graceful || asked >= 0) return doom;
      const metadata = ownMetadata(doom.draft);
      metadata.deletionTimestamp = formatTime(context.times.nowSeconds());
      metadata.deletionGracePeriodSeconds = asked;
      return { ...doom, thenRemove: false };
    },
  }),
} as const satisfies Record<string, LawWrapper>;
