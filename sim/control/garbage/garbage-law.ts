/** What a garbage collector decides: each for itself, so that a wrong one can be put in its place (`sim/control/planted/`). */
import type { OwnerReference } from "../../contract/objects.ts";

/** What the owners of an object are found to be. */
export interface Owners {
  /** They are there. */
  readonly solid: OwnerReference[];
  /** They are not. */
  readonly dangling: OwnerReference[];
  /** They go when their dependents have gone. */
  readonly waiting: OwnerReference[];
}

export interface GarbageLaw {
  /** Whether a deletion with a finalizer that had begun goes on: one whose finalizer has gone is over. */
  readonly goesOn: (hasBegun: boolean, hasFinalizer: boolean) => boolean;
  /** Whether somebody still owns it. */
  readonly isOwned: (owners: Owners) => boolean;
}

export const garbageLaw: GarbageLaw = {
  goesOn: (hasBegun, hasFinalizer) => hasBegun && hasFinalizer,
  isOwned: ({ solid }) => solid.length > 0,
};
