/**
 * Lists. Which state a list shows follows from resourceVersion, resourceVersionMatch and paging:
 *
 * | match        | paging          | rv unset     | rv = 0 | rv = n         |
 * | unset        | no limit        | most recent  | any    | not older than |
 * | unset        | limit           | most recent  | any    | exact          |
 * | unset        | continue        | the token's  | the token's | 400       |
 * | Exact        | first page      | invalid      | invalid | exact         |
 * | NotOlderThan | first page      | invalid      | any    | not older than |
 *
 * The cache serves `any`, `not older than` and, once it has caught up, `most recent`; the store serves exact
 * states, a token's, and types without a cache.
 * Source: document 1, Get and list semantics; the facts, section 3, D3, D8, D9 and D11.
 */
import type { Cancel } from "../../kernel/types.ts";
import type { RangeResult } from "../../store/types.ts";
import type { Source } from "../cache/source.ts";
import { ApiError, badRequest, expired, timeout, unmapped } from "../../contract/errors.ts";
import { type ContinueToken, decodeContinue, encodeContinue } from "./continue-token.ts";
import { tooLarge } from "./get.ts";
import type { ListPlan } from "./list-plan.ts";
import { type Page, type Reader, readPage } from "./page.ts";
import { unreadableList } from "../../contract/unreadable.ts";
import type { ReadSeams } from "./seams.ts";
import { type Selection, select } from "./selection.ts";
import type { ListRequest, ListSink, ReadContext, ReadTarget } from "./types.ts";
import { badVersion, parseVersion, VERSION_WAIT_MICROS } from "./versions.ts";

const TIMED_OUT = "Timeout: request did not complete within requested timeout - context deadline exceeded";

const TOKEN_EXPIRED =
  "The continue token has expired: its list can no longer be shown. Start again without it, or go on with the token " +
  "in this response, which shows the rest as it is now and so may not fit the pages before.";

const nothing: Cancel = () => {};

/** Which state to show. */
type Wanted =
  | { readonly state: "recent" }
  | { readonly state: "at-least"; readonly revision: number }
  | { readonly state: "exact"; readonly revision: number }
  | { readonly state: "token"; readonly token: ContinueToken };

export function startList(
  context: ReadContext,
  target: ReadTarget,
  request: ListRequest,
  sink: ListSink,
  seams?: ReadSeams,
): Cancel {
  try {
    const selection = select(target, request);
    const source = context.frontEnd.source(target.prefix, target.cached);
    const asked: ListPlan = { context, target, source, request, selection, sink };
    const plan = seams?.list(asked) ?? asked;
    return new List(plan).start(wanted(plan));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    sink.failed(error);
    return nothing;
  }
}

/** Throws 400 for versions and tokens that cannot be read. */
function wanted({ context: { profile }, request: { options } }: ListPlan): Wanted {
  const { resourceVersion, resourceVersionMatch: match, limit } = options;
  if (options.continue !== "") {
    const token = decodeContinue(profile.dialect, options.continue);
    if (resourceVersion === "" || resourceVersion === "0") return { state: "token", token };
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  if (resourceVersion === "") return { state: "recent" };
  const revision = parseVersion(resourceVersion);
  if (revision === undefined) throw badVersion(resourceVersion);
  const exact = match === "Exact" || (match === "" && limit > 0 && revision > 0);
  return { state: exact ? "exact" : "at-least", revision };
}

/** One list request on its way to its state. */
class List {
  private readonly context: ReadContext;
  private readonly target: ReadTarget;
  private readonly source: Source;
  private readonly request: ListRequest;
  private readonly selection: Selection;
  private readonly sink: ListSink;

  constructor({ context, target, source, request, selection, sink }: ListPlan) {
    this.context = context;
    this.target = target;
    this.source = source;
    this.request = request;
    this.selection = selection;
    this.sink = sink;
  }

  start(what: Wanted): Cancel {
    const { store } = this.context;
    switch (what.state) {
      case "recent":
        // The cache has some seconds to catch up with the store; a list does not fail because it did not.
        return this.wait(
          store.revision,
          () => this.fromSource(),
          () => this.fromStore(store.revision),
        );
      case "at-least":
        return this.wait(what.revision, () => this.fromSource());
      case "exact":
        return this.exact(what.revision);
      case "token":
        this.fromToken(what.token);
        return nothing;
    }
  }

  /** Calls `reached` within the call when nothing has to be waited for, `late` (default: 504) when waiting was in vain. */
  private wait(revision: number, reached: () => void, late = (): void => this.failLate(revision)): Cancel {
    const patience = Math.min(VERSION_WAIT_MICROS, this.timeoutMicros());
    return this.source.whenApplied(revision, patience, (arrived) => (arrived ? reached() : late()));
  }

  private failLate(revision: number): void {
    const own = this.timeoutMicros() < VERSION_WAIT_MICROS;
    this.sink.failed(own ? timeout(TIMED_OUT) : tooLarge(this.source, revision, this.request.options.resourceVersion));
  }

  /** The request's own deadline, where the profile lets a plain list have one. */
  private timeoutMicros(): number {
    const { timeoutSeconds = 0 } = this.request.options;
    return this.context.profile.listTimeoutSeconds && timeoutSeconds > 0 ? timeoutSeconds * 1_000_000 : Infinity;
  }

  /** A state that the store may have yet to reach: then waited for where the profile answers 504. */
  private exact(revision: number): Cancel {
    const { store, profile } = this.context;
    if (revision > store.revision && profile.exactFutureStatus === 504) {
      return this.wait(revision, () => this.fromStore(revision));
    }
    this.fromStore(revision);
    return nothing;
  }

  private fromSource(): void {
    const { source, selection } = this;
    const { profile } = this.context;
    const { options } = this.request;
    // `0` asks for whatever there is, and the observed cache then gives all of it.
    const unread = source.cached ? undefined : this.unreadProblem(selection);
    if (unread !== undefined) {
      this.sink.failed(unread);
      return;
    }
    const unlimited = options.resourceVersion === "0" && source.cached && !profile.limitAtAnyVersion;
    const limit = unlimited || selection.single ? 0 : options.limit;
    const revision = source.applied;
    if (limit > 0) {
      const page = readPage((...range) => source.range(...range), { ...selection, limit });
      this.give(page, revision);
    } else {
      const { start, end, matches } = selection;
      const all = source.objects(start, end);
      const items = matches === undefined ? all : all.filter(matches);
      this.give({ items, lastKey: undefined, more: false, remaining: undefined, read: all.length }, revision);
    }
  }

  private fromStore(revision: number, keys: Pick<Selection, "start" | "end"> = this.selection): void {
    const { store } = this.context;
    const problem = this.problemAt(revision) ?? this.unreadProblem(keys);
    if (problem !== undefined) {
      this.sink.failed(problem);
      return;
    }
    const limit = this.selection.single || this.isWholeAnyway() ? 0 : this.request.options.limit;
    const reader: Reader = (start, end, how) => store.range(start, end, { ...how, revision }) as RangeResult;
    this.give(readPage(reader, { ...this.selection, ...keys, limit }), revision, true);
  }

  /** With a token and version 0, some versions give all that is left. */
  private isWholeAnyway(): boolean {
    const { continue: token, resourceVersion } = this.request.options;
    return token !== "" && resourceVersion === "0" && !this.context.profile.limitWithTokenAtZero;
  }

  private unreadProblem({ start, end }: Pick<Selection, "start" | "end">): ApiError | undefined {
    const { store, unreadable, profile } = this.context;
    const keys = unreadable.within(store, start, end);
    return keys.length === 0 ? undefined : unreadableList(this.target.name, keys, profile.featureGates);
  }

  private problemAt(revision: number): ApiError | undefined {
    const { store, profile } = this.context;
    if (revision < store.compactedRevision) return expired("The resourceVersion for the provided list is too old.");
    if (revision <= store.revision) return undefined;
    return profile.exactFutureStatus === 500
      ? unmapped("etcdserver: mvcc: required revision is a future revision")
      : tooLarge(this.source, revision, this.request.options.resourceVersion);
  }

  private fromToken(token: ContinueToken): void {
    const { store, profile } = this.context;
    const { prefix, end } = this.selection;
    if (token.revision >= 0 && token.revision < store.compactedRevision) {
      const next = encodeContinue(profile.dialect, { ...token, revision: -1 }, false);
      this.sink.failed(expired(TOKEN_EXPIRED, { continue: next }));
      return;
    }
    // The first key after the last one given, be it an extension of that one.
    const start = prefix + token.start;
    this.fromStore(token.revision < 0 ? store.revision : token.revision, { start, end });
  }

  private give(page: Page, revision: number, fromStore = !this.source.cached): void {
    const { profile, listCounts } = this.context;
    const { items, lastKey } = page;
    const origin = fromStore ? "store" : "cache";
    listCounts.listed(this.target.prefix, origin, page.read, items.length);
    const tokenBehind = (): string => {
      if (lastKey === undefined) return "";
      const start = `${lastKey.slice(this.selection.prefix.length)}\0`;
      return encodeContinue(profile.dialect, { start, revision }, !fromStore);
    };
    this.sink.listed({
      items,
      resourceVersion: String(revision),
      continue: page.more ? tokenBehind() : "",
      // With selectors, what follows is counted, not matched.
      remainingItemCount: page.more && this.selection.matches === undefined ? page.remaining : undefined,
      readCount: page.read,
      origin,
    });
  }
}
