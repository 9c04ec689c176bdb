/** Planted bugs of garbage collection: each puts decisions of its own in the place of those that are right. */
import { type DecisionBugs, decisionsWith, type Switches } from "../../planted/planting.ts";
import type { ServerBugName } from "../../planted/server-bugs.ts";
import { type GarbageLaw, garbageLaw } from "../garbage/garbage-law.ts";

const bugsOfGarbage = {
  "foreground-finalizer-readded": () => ({ goesOn: (hasBegun) => hasBegun }),
  "one-owner-gone-is-enough": ({ isOwned }) => ({
    isOwned: (owners) => isOwned(owners) && owners.dangling.length === 0,
  }),
} as const satisfies DecisionBugs<ServerBugName, GarbageLaw>;

export const garbageLawWith: (bugs: Switches<ServerBugName>) => () => GarbageLaw = decisionsWith(
  garbageLaw,
  bugsOfGarbage,
);
