/** Plays a program of one writer about one collection, and judges each look at it by the states that the writer knows. */
import type { Choice, CollectionStep, Team } from "../arbitraries/collection-programs.ts";
import type { TrialType } from "../arbitraries/trial-types.ts";
import { LostAnswer, type Query } from "../client/client.ts";
import { type Collection, PageBounds, listOf, objectOf, succeeded } from "../client/collection.ts";
import { CheckFailure, Inconclusive } from "../client/findings.ts";
import type { Answer } from "../client/exchange.ts";
import {
  type ApiObject,
  isApiObject,
  isJsonObject,
  type Json,
  type JsonObject,
  keyOf,
  objectsIn,
  versionOf,
  type WatchEvent,
} from "../client/types.ts";
import type { WatchStream } from "../client/watch-stream.ts";
import {
  type Chosen,
  judgeShown,
  judgeWatched,
  type Member,
  type Members,
  type Shown,
} from "../model/collection-states.ts";
import type { Attempt } from "./attempt.ts";
import { acceptAs, tableAccept } from "./features.ts";

type ListStep = Extract<CollectionStep, { readonly do: "list" }>;
type WatchStep = Extract<CollectionStep, { readonly do: "watch" }>;
type SetStep = Extract<CollectionStep, { readonly do: "set" }>;

/** Where objects of the type are made. */
export interface Ground {
  readonly type: TrialType;
  readonly here: Collection;
  readonly namespace: string | undefined;
  /** Another namespace, whose name begins with the first one's; absent for a type of the cluster. */
  readonly there: Collection | undefined;
  readonly thereNamespace: string | undefined;
  /** Of the group and version. */
  readonly prefix: string;
}

interface OpenWatch {
  readonly step: WatchStep;
  readonly stream: WatchStream;
  readonly chosen: Chosen;
  /** Places of the states that it may begin with. */
  readonly from: readonly number[];
  readonly isInitial: boolean;
}

const own = "example.com/own";
const names = ["a", "aa", "b"];

export class CollectionPlay {
  private readonly attempt: Attempt;
  private readonly ground: Ground;
  private readonly states: Members[] = [new Map()];
  /** As the last write answered it. */
  private readonly objects = new Map<string, ApiObject>();
  /** Versions of lists, and the state that each showed. */
  private readonly marks: { readonly version: string; readonly place: number }[] = [];
  private readonly watches: OpenWatch[] = [];
  private count = 0;

  constructor(attempt: Attempt, ground: Ground) {
    this.attempt = attempt;
    this.ground = ground;
    if (ground.namespace !== undefined) return;
    attempt.target.onCleanUp(async (cleaner) => {
      for (const name of names) await cleaner.attempt("DELETE", ground.here.pathOf(this.nameOf(names.indexOf(name))));
    });
  }

  /** Whether the target selects by the field that the type's definition offers: older ones have never heard of it. */
  private isSelectable = false;

  /** False: the type is not served, or not for this caller. */
  async begin(): Promise<boolean> {
    const { here, there } = this.ground;
    const first = await here.list(this.ownAlone({}));
    if (first.status === 404 || first.status === 403) return false;
    this.marks.push({ version: listOf(first).resourceVersion, place: 0 });
    if (there !== undefined) listOf(await there.list());
    const { selectable } = this.ground.type;
    if (selectable !== undefined)
      this.isSelectable = (await here.list({ fieldSelector: `spec.${selectable}=red` })).status === 200;
    return true;
  }

  async step(step: CollectionStep): Promise<void> {
    if (step.do === "set") await this.set(step);
    else if (step.do === "delete") await this.delete(step.name, step.there);
    else if (step.do === "list") await this.list(step);
    else await this.watch(step);
  }

  /** What is written last is chosen by each watch in turn: what has not come before it will not come. */
  async end(): Promise<void> {
    for (const team of ["red", "blue", "none"] as const) {
      for (const [name] of names.entries()) {
        const isNeeded = this.watches.some(({ chosen, step }) =>
          step.choice.by === "name" ? step.choice.name === name : name === 0 && chosen(this.memberOf(name, team)),
        );
        if (isNeeded) await this.set({ do: "set", verb: "merge", name, there: false, team });
      }
    }
    // The old paths last: what is wrong with a watch at both is not theirs.
    const isOld = ({ step }: OpenWatch): number => (step.oldPath ? 1 : 0);
    for (const watch of this.watches.toSorted((left, right) => isOld(left) - isOld(right)))
      await this.judgeWatch(watch);
  }

  private get now(): Members {
    return this.states.at(-1) as Members;
  }

  private get place(): number {
    return this.states.length - 1;
  }

  private nameOf(place: number): string {
    const name = names[place] as string;
    return this.ground.namespace === undefined ? `${this.attempt.target.name}-${name}` : name;
  }

  private collectionOf(there: boolean): { collection: Collection; namespace: string | undefined } {
    const { here, namespace, there: other, thereNamespace } = this.ground;
    return there && other !== undefined
      ? { collection: other, namespace: thereNamespace }
      : { collection: here, namespace };
  }

  private memberOf(name: number, team: Team): Member {
    const { namespace } = this.ground;
    const key = namespace === undefined ? this.nameOf(name) : `${namespace}/${this.nameOf(name)}`;
    return { key, version: "", labels: this.labels(team) };
  }

  private labels(team: Team): Readonly<Record<string, string>> {
    return { [own]: this.attempt.target.name, ...(team === "none" ? {} : { team }) };
  }

  private async set({ verb, name, there, team }: SetStep): Promise<void> {
    const { collection, namespace } = this.collectionOf(there);
    const path = this.nameOf(name);
    const key = namespace === undefined ? path : `${namespace}/${path}`;
    const held = this.objects.get(key);
    this.count += 1;
    const whole = {
      apiVersion: this.ground.prefix.split("/").slice(2).join("/"),
      kind: this.ground.type.kind,
      metadata: { name: path, labels: this.labels(team) },
      ...this.desired(held === undefined ? `v${this.count}` : "v", namespace, team),
    };
    let answer: Answer;
    if (held === undefined) {
      const query = { fieldManager: "touchstone", force: true };
      answer =
        verb === "apply" ? await collection.patch(path, "apply", whole, { query }) : await collection.create(whole);
    } else {
      answer = await this.change(collection, path, held, verb, team);
    }
    if (answer.status === 409) throw new Inconclusive(`somebody else writes ${collection.pathOf(path)}`);
    const object = objectOf(answer);
    if (this.now.get(key)?.version === versionOf(object)) return;
    this.objects.set(key, object);
    const labels = object.metadata.labels ?? {};
    this.states.push(new Map([...this.now, [key, { key, version: versionOf(object), labels }]]));
  }

  private desired(value: string, namespace: string | undefined, team: Team): JsonObject {
    const desired = this.ground.type.desired(value, namespace);
    const spec = this.specOf(team);
    return spec === undefined ? desired : { ...desired, spec: { ...(desired["spec"] as JsonObject), ...spec } };
  }

  /** The field that selectors may name says the team as the label does. */
  private specOf(team: Team): JsonObject | undefined {
    const { selectable } = this.ground.type;
    return selectable === undefined ? undefined : { [selectable]: valueOfTeam(team) };
  }

  private change(
    collection: Collection,
    path: string,
    held: ApiObject,
    verb: SetStep["verb"],
    team: Team,
  ): Promise<Answer> {
    const labels = this.labels(team);
    // A label of its own beside the team, so that something changes each time.
    const turn = { turn: `t${this.count}` };
    const spec = this.specOf(team);
    if (verb === "put") {
      const changed = spec === undefined ? {} : { spec: { ...(held["spec"] as JsonObject), ...spec } };
      return collection.put(path, {
        ...held,
        ...changed,
        metadata: { ...held.metadata, labels: { ...labels, ...turn } },
      });
    }
    if (verb === "json") {
      const fields = Object.entries(spec ?? {}).map(([field, value]) => ({ op: "add", path: `/spec/${field}`, value }));
      const patch = [{ op: "add", path: "/metadata/labels", value: { ...labels, ...turn } }, ...fields];
      return collection.patch(path, "json", patch as Json[]);
    }
    const gone = team === "none" ? { team: null } : {};
    return collection.patch(path, "merge", {
      metadata: { labels: { ...labels, ...turn, ...gone } },
      ...(spec === undefined ? {} : { spec }),
    });
  }

  private async delete(name: number, there: boolean): Promise<void> {
    const { collection, namespace } = this.collectionOf(there);
    const path = this.nameOf(name);
    const key = namespace === undefined ? path : `${namespace}/${path}`;
    if (!this.objects.has(key)) return;
    succeeded(await collection.delete(path));
    this.objects.delete(key);
    const state = new Map(this.now);
    state.delete(key);
    this.states.push(state);
  }

  /** A known version, `back` looks ago. */
  private mark(back: number): { readonly version: string; readonly place: number } {
    return this.marks[Math.max(0, this.marks.length - 1 - back)] as { version: string; place: number };
  }

  private async list(step: ListStep): Promise<void> {
    const { form, choice, shape, back } = step;
    const mark = this.mark(back);
    const { path, query, chosen } = this.asked(choice, step.spelling, form.endsWith("pages"));
    const at: Query = {
      recent: spellings.recent[step.spelling % spellings.recent.length] as Query,
      any: step.spelling % 3 === 0 ? { resourceVersion: "0", ...notOlder } : { resourceVersion: "0" },
      "not older":
        step.spelling % 3 === 0 ? { resourceVersion: mark.version } : { resourceVersion: mark.version, ...notOlder },
      exact: { resourceVersion: mark.version, resourceVersionMatch: "Exact" },
      pages: { limit: 1 },
      "exact pages": { resourceVersion: mark.version, limit: 1, ...(step.spelling % 3 === 0 ? exactly : {}) },
    }[form];
    const place = this.place;
    const answers = await this.pages(path, { ...at, ...query }, shape, form === "pages" ? step : undefined);
    if (answers === undefined) return;
    const shown = answers
      .flatMap(({ json }) => itemsOf(json))
      .filter((item) => this.isOwn(item) && item.metadata.deletionTimestamp == null)
      .map(shownOf);
    const places = {
      recent: [place],
      pages: [place],
      exact: [mark.place],
      "exact pages": [mark.place],
      any: range(0, place),
      "not older": range(mark.place, place),
    }[form];
    const states = places.map((each) => this.states[each] as Members);
    const [first] = answers;
    const version = metadataOf(first?.json)["resourceVersion"];
    const mismatch = judgeShown(states, chosen, shown);
    const what = `GET ${first?.exchange.request.path}`;
    const requirement = mismatch?.what === "not chosen" ? "lists.selectors" : requirementOfList[form];
    if (mismatch === undefined && choice.by !== "all") this.attempt.holds("lists.selectors", undefined);
    this.attempt.holds(
      requirement,
      mismatch === undefined ? undefined : { expected: `${what}: ${mismatch.expected}`, actual: mismatch.actual },
    );
    if (form === "exact" || form === "exact pages") {
      const expected = `${what} at version ${mark.version}`;
      this.attempt.expect(requirementOfList[form], version === mark.version, expected, String(version));
    }
    if (query["watch"] !== undefined || at["watch"] !== undefined) this.attempt.holds("lists.collection", undefined);
    const isWhole = form === "recent" || form === "pages";
    if (isWhole && typeof version === "string" && version !== "") this.marks.push({ version, place });
  }

  /** All pages; undefined when the version is no longer kept. A write comes after the first. */
  private async pages(
    path: string,
    query: Query,
    shape: ListStep["shape"],
    between: ListStep | undefined,
  ): Promise<readonly Answer[] | undefined> {
    const { client } = this.attempt;
    const accept = this.accept(shape, "List");
    const answers: Answer[] = [];
    const bounds = new PageBounds();
    let asked = query;
    while (answers.length < pagesMax) {
      const answer = await client.attempt("GET", path, { query: asked, accept });
      if (answer instanceof LostAnswer) throw unended(answer);
      if (answer.status === 410) return undefined;
      answers.push(succeeded(answer, "lists.collection", [200]));
      bounds.add(answer);
      const token = metadataOf(answer.json)["continue"];
      if (typeof token !== "string" || token === "") break;
      const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = query;
      asked = { ...rest, continue: token };
      if (between !== undefined && answers.length === 1) {
        const team = between.spelling % 2 === 0 ? "red" : "blue";
        await this.set({ do: "set", verb: "merge", name: 2, there: between.spelling % 3 === 0, team });
      }
    }
    return answers;
  }

  private async watch(step: WatchStep): Promise<void> {
    const { from, choice, shape, oldPath } = step;
    const { attempt } = this;
    const mark = this.mark(step.back);
    const { path, query, chosen } = this.asked(choice, step.spelling, false, oldPath);
    const at: Query = { version: { resourceVersion: mark.version }, any: { resourceVersion: "0" }, unset: {} }[from];
    const turnedOn: Query = oldPath ? { watch: undefined } : { watch: step.spelling % 2 === 0 ? "true" : "1" };
    const more = spellings.watch[step.spelling % spellings.watch.length] as Query;
    const accept = this.accept(shape, "");
    const stream = await attempt.answeredWatch(() =>
      attempt.client.watch(path, { ...more, ...at, ...query, ...turnedOn, timeoutSeconds: 3600 }, { accept }),
    );
    const status = await attempt.statusOf(stream);
    // The old paths are no promise; a version may be forgotten or late, and a type need not be watched.
    if (status === 410 || status === 504 || status === 405 || (oldPath && status === 404)) return;
    if (status === undefined) throw new Inconclusive(`no answer to GET ${stream.exchange.request.path}`);
    if (status !== 200) await stream.untilEnded(10_000);
    attempt.expect(
      "watch.stream",
      status === 200,
      `GET ${stream.exchange.request.path} begins a watch`,
      `${status} ${JSON.stringify(stream.refusal())}`,
    );
    const mayBeOld =
      from === "any" || attempt.profile.deviations.some(({ name }) => name === "watch-unset-begins-anywhere");
    const places = from === "version" ? [mark.place] : mayBeOld ? range(0, this.place).reverse() : [this.place];
    this.watches.push({ step, stream, chosen, from: places, isInitial: from !== "version" });
  }

  private async judgeWatch({ step, stream, chosen, from, isInitial }: OpenWatch): Promise<void> {
    const { attempt } = this;
    const told = (): readonly Shown[] => stream.events.flatMap((event) => this.shownIn(event));
    const judged = () => judgeWatched(this.states, { from, isInitial, chosen }, told());
    const isGone = (): boolean => stream.events.at(-1)?.type === "ERROR";
    await stream.until(() => isGone() || judged().isWhole || judged().mismatch !== undefined, 10_000);
    const { mismatch, isWhole } = judged();
    stream.close();
    const what = `GET ${stream.exchange.request.path}`;
    const requirement = requirementOfWatch(step, mismatch?.what);
    const violation =
      mismatch === undefined ? undefined : { expected: `${what}: ${mismatch.expected}`, actual: mismatch.actual };
    if (violation !== undefined) throw new CheckFailure(requirement, violation, stream.exchange);
    for (const shown of shownByWatch(step)) attempt.holds(shown, undefined);
    // A watch may end at any time: it has then told the beginning.
    if (isWhole || stream.ended !== "closed by the suite" || isGone()) return;
    throw new Inconclusive(`${what} has told ${told().length} events, and no more in 10 s`);
  }

  /** An event of the program's own objects. What is on its way out is told in as many steps as the type likes. */
  private shownIn({ type, object }: WatchEvent): readonly Shown[] {
    if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") return [];
    const items = isApiObject(object) ? [object] : itemsOf(object);
    return items.flatMap((item) => {
      const isLeaving = type === "MODIFIED" && item.metadata.deletionTimestamp != null;
      return this.isOwn(item) && !isLeaving ? [{ type, ...shownOf(item) }] : [];
    });
  }

  private isOwn({ metadata }: ApiObject): boolean {
    return metadata.labels?.[own] === this.attempt.target.name;
  }

  private accept(shape: ListStep["shape"], suffix: "List" | ""): string {
    const { profile, features } = this.attempt;
    if (shape === "object" || features.get("tables")?.supported !== true) return "application/json";
    if (shape === "table") return tableAccept(profile.dialect);
    return acceptAs(profile.dialect, `PartialObjectMetadata${suffix}`);
  }

  /** Path, selectors and what they mean. In a cluster of others, what is cut into pages is the program's own. */
  private asked(
    { by, name, everywhere }: Choice,
    spelling: number,
    isPaged: boolean,
    oldPath = false,
  ): { path: string; query: Query; chosen: Chosen } {
    const { here, namespace, prefix, type } = this.ground;
    const isWide = everywhere || namespace === undefined;
    const plain = isWide ? `${prefix}/${type.plural}` : here.path;
    const wanted = this.nameOf(name);
    const isOfName: Chosen = ({ key }) => key.slice(key.lastIndexOf("/") + 1) === wanted;
    const scope = ({ key }: Member): boolean => isWide || key.startsWith(`${namespace}/`);
    const byPath = oldPath && by === "name" && (!everywhere || namespace === undefined) && spelling % 3 !== 0;
    const start = oldPath ? plain.replace(prefix, `${prefix}/watch`) : plain;
    const path = byPath ? `${start}/${wanted}` : start;
    const isOfField = this.isSelectable && (by === "field" || by === "not field");
    const team = teamTerms[by];
    const labels = team === undefined || isOfField ? [] : [team.texts[spelling % team.texts.length] as string];
    const isNarrow = isPaged && isWide;
    const terms = isNarrow ? [...labels, `${own}=${this.attempt.target.name}`] : labels;
    const nothing = spellings.empty[spelling % spellings.empty.length] as Query;
    const equals = spelling % 2 === 0 ? "=" : "==";
    const byField = isOfField ? `spec.${type.selectable}${by === "field" ? equals : "!="}red` : undefined;
    const named = by === "name" && !byPath ? `metadata.name${equals}${wanted}` : byField;
    const query: Query = {
      ...nothing,
      ...(terms.length === 0 ? {} : { labelSelector: terms.join(",") }),
      ...(named === undefined ? {} : { fieldSelector: named }),
    };
    const matches: Chosen =
      by === "name" ? isOfName : (member) => team === undefined || team.holds(member.labels["team"]);
    return { path, query, chosen: (member) => scope(member) && matches(member) };
  }

  private ownAlone(query: Query): Query {
    return { ...query, labelSelector: `${own}=${this.attempt.target.name}` };
  }
}

const valueOfTeam = (team: Team): string => (team === "none" ? "" : team);

/** Ways to say a choice, and what it means for the value of the label. */
const teamTerms: Readonly<
  Partial<Record<Choice["by"], { texts: readonly string[]; holds: (team: string | undefined) => boolean }>>
> = {
  team: { texts: ["team=red", "team==red", "team in (red)"], holds: (team) => team === "red" },
  "not team": { texts: ["team!=red", "team notin (red)"], holds: (team) => team !== "red" },
  "has team": { texts: ["team", "team in (red,blue)"], holds: (team) => team !== undefined },
  field: { texts: ["team=red"], holds: (team) => team === "red" },
  "not field": { texts: ["team!=red"], holds: (team) => team !== "red" },
  "no team": { texts: ["!team", "team notin (red,blue)"], holds: (team) => team === undefined },
};

const notOlder = { resourceVersionMatch: "NotOlderThan" } as const;
const exactly = { resourceVersionMatch: "Exact" } as const;

/** Parameters that are there and say nothing. */
const spellings = {
  recent: [
    {},
    { resourceVersion: "" },
    { watch: "0" },
    { watch: "false" },
    { limit: 0 },
    { limit: 500 },
    { continue: "" },
  ],
  watch: [
    {},
    { allowWatchBookmarks: "true" },
    { continue: "" },
    { allowWatchBookmarks: "1" },
    { allowWatchBookmarks: "false" },
  ],
  empty: [{}, { labelSelector: "" }, { fieldSelector: "" }, { pretty: "false" }, { unknownToAll: "x" }],
} as const satisfies Record<string, readonly Query[]>;

const requirementOfList = {
  recent: "versions.list-most-recent",
  any: "versions.list-any",
  "not older": "versions.list-not-older",
  exact: "versions.list-exact",
  pages: "pages.snapshot",
  "exact pages": "versions.list-limit-exact",
} as const;

function requirementOfWatch({ oldPath, from, shape, choice }: WatchStep, what: string | undefined): string {
  if (oldPath) return "watch.old-paths";
  if (what === "not chosen") return "watch.filtered";
  if (what === "beginning") return from === "unset" ? "watch.initial-most-recent" : "watch.initial-any";
  if (what === "twice") return "watch.unique";
  if (shape === "table") return "tables.watch";
  if (shape === "metadata") return "negotiation.partial";
  if (choice.by === "all") return "watch.reliable";
  return what === "unknown" ? "watch.transition-version" : "watch.transitions";
}

/** What a watch that told everything has shown. */
function shownByWatch(step: WatchStep): readonly string[] {
  const whats = ["beginning", "twice", "missing", "not chosen", "unknown"] as const;
  return whats
    .filter((what) => (what === "beginning" ? step.from !== "version" : what === "missing" || step.choice.by !== "all"))
    .map((what) => requirementOfWatch(step, what));
}

/** A list that begins and goes on is a watch: one that was asked for with `watch=0`. */
function unended(lost: LostAnswer): Error {
  const { request, status, lost: why } = lost.exchange;
  if (status !== 200 || !/[?&]watch=/.test(request.path) || why?.startsWith("nothing complete") !== true) return lost;
  const violation = {
    expected: `GET ${request.path} answers a list`,
    actual: "an answer that begins and does not end",
  };
  return new CheckFailure("lists.collection", violation, lost.exchange);
}

const pagesMax = 50;

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

const shownOf = (item: ApiObject): { key: string; version: string } => ({ key: keyOf(item), version: versionOf(item) });

function metadataOf(document: Json | undefined): JsonObject {
  const metadata = isJsonObject(document) ? document["metadata"] : undefined;
  return isJsonObject(metadata) ? metadata : {};
}

/** The objects of a list, or those that the rows of a Table carry. */
function itemsOf(document: Json | undefined): readonly ApiObject[] {
  const rows = objectsIn(document, "rows").map(({ object }) => object);
  return [...objectsIn(document, "items"), ...rows].filter(isApiObject);
}
