/** Planted bugs of lists and watches, around the reads of a server that knows nothing of them. */
import type { ReadVerbs } from "../../apiserver/verbs/read-verbs.ts";
import type { ReadSeams } from "../../apiserver/reads/seams.ts";
import type { Process } from "../../kernel/types.ts";
import type { Store } from "../../store/types.ts";
import type { ServerBugName } from "../server-bugs.ts";
import { type ListWrapper, listWrappers, noteHead } from "./list-wrappers.ts";
import { around, type Planted, type Rows, wrapped } from "./planted.ts";
import { type WatchWrapper, watchWrappers } from "./watch-wrappers.ts";

/** Undefined when none of these bugs is planted. */
export function readSeams({ bugs, mayShow }: Planted, process: Process, store: Store): ReadSeams | undefined {
  const lists = named<ListWrapper>(listWrappers, mayShow);
  const watches = named<WatchWrapper>(watchWrappers, mayShow);
  if (lists.length + watches.length === 0) return undefined;
  if (mayShow("head-rev-rollback-race")) noteHead(process, store);
  return {
    list: (plan) => lists.reduce((all, [name, wrapped]) => (bugs[name] ? wrapped(all) : all), plan),
    // The first of them is the innermost. Each asks for itself when it shows: as the watch begins, or at each event.
    watch: (plan, begin) => watches.reduce((inner, [name, wrapped]) => wrapped(inner, () => bugs[name]), begin)(plan),
  };
}

export const readsWith = (planted: Planted, reads: ReadVerbs): ReadVerbs => wrapped(planted, rows, reads);

const rows: Rows<ReadVerbs> = {
  "other-version-watch-shows-stored": (reads, shows) =>
    around(reads, {
      watch: (run, resource) => reads.watch(run, shows() ? { ...resource, view: undefined } : resource),
    }),
};

const named = <Wrapper>(
  rows: Readonly<Partial<Record<ServerBugName, Wrapper>>>,
  mayShow: (name: ServerBugName) => boolean,
): readonly (readonly [ServerBugName, Wrapper])[] =>
  (Object.entries(rows) as [ServerBugName, Wrapper][]).filter(([name]) => mayShow(name));
