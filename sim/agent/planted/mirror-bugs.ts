/** Planted bugs of mirror pods, around what sees to them. */
import { metadataOf } from "../../contract/objects.ts";
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type WrapperBugs, wrappedWith } from "../../planted/planting.ts";
import type { HeldPod } from "../pods/held-pod.ts";
import type { MirrorPods } from "../sources/mirror-pods.ts";

type Mirrors = Pick<MirrorPods, "get" | "drop" | "ensure" | "isRight">;

/** A mirror that comes again after its first time goes again, until it has come so often. */
const comingsMax = 12;

const bugsOfMirrors = {
  "mirror-stuck-terminating": (inner, shows) => {
    const isLeft = ({ fullName }: HeldPod): boolean =>
      metadataOf(inner.get(fullName) ?? {}).deletionTimestamp !== undefined && shows();
    return leftAlone(inner, isLeft);
  },
  "mirror-recreate-churn": (inner, shows) => {
    const seen = new Map<string, Set<string>>();
    return {
      ...asItIs(inner),
      *ensure(held) {
        const { fullName } = held;
        const uids = seen.get(fullName) ?? new Set();
        const { uid } = metadataOf(inner.get(fullName) ?? {});
        if (uid !== undefined) seen.set(fullName, uids.add(uid));
        if (uids.size > 1 && uids.size < comingsMax && shows()) inner.drop(fullName);
        yield* inner.ensure(held);
      },
    };
  },
  "mirror-not-recreated-after-terminal": (inner, shows) => leftAlone(inner, (held) => hasStopped(held) && shows()),
} as const satisfies WrapperBugs<AgentBugName, Mirrors>;

export const mirrorsWith = (bugs: AgentBugs, mirrors: Mirrors): Mirrors => wrappedWith(mirrors, bugsOfMirrors, bugs);

/** Nothing is done about the mirrors of some pods. */
function leftAlone(inner: Mirrors, isLeft: (held: HeldPod) => boolean): Mirrors {
  return {
    ...asItIs(inner),
    *ensure(held) {
      if (!isLeft(held)) yield* inner.ensure(held);
    },
    isRight: (held) => isLeft(held) || inner.isRight(held),
  };
}

const asItIs = (inner: Mirrors): Mirrors => ({
  get: (fullName) => inner.get(fullName),
  drop: (fullName) => inner.drop(fullName),
  ensure: (held) => inner.ensure(held),
  isRight: (held) => inner.isRight(held),
});

/** Of what was started something has ended. */
const hasStopped = ({ status }: HeldPod): boolean =>
  (status?.containerStatuses ?? []).some(
    ({ state, lastState }) => (state.terminated ?? lastState.terminated) !== undefined,
  );
