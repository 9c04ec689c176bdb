/** Which bugs a server has. */
import type { WrapperBugs } from "../planting.ts";
import { type ServerBugName, type ServerBugs, bugsOn } from "../server-bugs.ts";

export interface Planted {
  /** Which of them show, asked where they may. */
  readonly bugs: ServerBugs;
  /** Whether a bug may ever show: where none of a wrapper's does, there is no wrapper. */
  readonly mayShow: (name: ServerBugName) => boolean;
}

/** Names are planted for good; switches may be turned while the server runs. */
export function plantedOf(given: ServerBugs | readonly ServerBugName[] | undefined): Planted {
  if (given !== undefined && !isNames(given)) return { bugs: given, mayShow: () => true };
  const bugs = bugsOn(given);
  return { bugs, mayShow: (name) => bugs[name] };
}

const isNames = (given: ServerBugs | readonly ServerBugName[]): given is readonly ServerBugName[] =>
  Array.isArray(given);

/** What stands around one part: each asks `shows` whenever it is used. */
export type Rows<What> = WrapperBugs<ServerBugName, What>;

/** `inner` itself when none of the bugs is planted. */
export function wrapped<What>({ bugs, mayShow }: Planted, rows: Rows<What>, inner: What): What {
  return (Object.keys(rows) as ServerBugName[])
    .filter(mayShow)
    .reduce((all, name) => rows[name]?.(all, () => bugs[name]) ?? all, inner);
}

/** The same but for what is given. */
export const around = <Inner extends object>(inner: Inner, own: Partial<Inner>): Inner =>
  Object.assign(Object.create(inner) as Inner, own);
