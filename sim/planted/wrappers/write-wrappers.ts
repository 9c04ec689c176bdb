/** Planted bugs of writes, around the writer of a server that knows nothing of them. */
import type { WriterFor } from "../../apiserver/verbs/verbs.ts";
import type { ServerBugName } from "../server-bugs.ts";
import { doomWrappers } from "./doom-wrappers.ts";
import { lawWrappers, type LawWrapper } from "./law-wrappers.ts";
import { around, type Planted } from "./planted.ts";
import { type WriterWrapper, writerWrappers } from "./writer-wrappers.ts";

const ofLaw =
  (wrapper: LawWrapper): WriterWrapper =>
  ({ law }) => ({ law: { ...law, ...wrapper(law) } });

const rows = [
  ...Object.entries<LawWrapper>({ ...lawWrappers, ...doomWrappers }).map(
    ([name, wrapper]) => [name, ofLaw(wrapper)] as const,
  ),
  ...Object.entries<WriterWrapper>(writerWrappers),
] as readonly (readonly [ServerBugName, WriterWrapper])[];

/** Undefined when none of these bugs is planted. Which of them show is asked anew at each request. */
export function writerWith({ bugs, mayShow }: Planted): WriterFor | undefined {
  const planted = rows.filter(([name]) => mayShow(name));
  if (planted.length === 0) return undefined;
  return (writer, run) =>
    planted
      .filter(([name]) => bugs[name])
      .reduce((inner, [, wrapper]) => {
        const own = wrapper(inner, run);
        return own === undefined ? inner : around(inner, own);
      }, writer);
}
