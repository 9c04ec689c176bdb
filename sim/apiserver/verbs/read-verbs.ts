/** get, list and watch: from a request to the read layer, and from what it finds to a response. */
import { valueCountUpTo } from "../../objects/members.ts";
import { encodeBase64 } from "../../../wire/base64.ts";
import type { FieldRequirement } from "../../../wire/selectors.ts";
import type { ApiError } from "../../contract/errors.ts";
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import { startGet } from "../reads/get.ts";
import { startList } from "../reads/list.ts";
import { parseListOptions } from "../reads/options.ts";
import type { GetSink, ListOptions, ListResult, ReadContext, WatchEncoder, WatchEventType } from "../reads/types.ts";
import { startWatch } from "../reads/watch.ts";
import { partialObject, partialOfList } from "../answers/partial-metadata.ts";
import type { ObjectView } from "../encodings/object-views.ts";
import { BinaryEventPayload, InitialEventPayload, WatchEventPayload } from "../encodings/payload.ts";
import { parseInclude, type TableOptions, tableOf } from "../answers/table.ts";
import { tableOptions } from "../answers/transform.ts";
import { type ServedResource, storageKey, viewed } from "../catalogue/served-resource.ts";
import type { ServerContext } from "./server-context.ts";
import { type Negotiated, offerOf } from "../answers/negotiate.ts";
import type { RowEffort } from "../../kinds/shared/printer.ts";
import { LastTables } from "./last-tables.ts";
import { baseHeaders, objectPayload } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";

export class ReadVerbs {
  private readonly context: ServerContext;
  private readonly reads: ReadContext;
  private readonly encoders = new WeakMap<ServedResource, Map<string, WatchEncoder>>();
  private readonly lastTables = new LastTables();
  /** What each version, as its definition has it now, makes of the items of a list. */
  private readonly viewedItems = new WeakMap<ObjectView, WeakMap<readonly JsonObject[], readonly JsonObject[]>>();

  constructor(context: ServerContext, reads: ReadContext) {
    this.context = context;
    this.reads = reads;
  }

  /** `show` makes of the object what the response holds: the object itself, or what a subresource shows of it. */
  get(run: Run, resource: ServedResource, show?: (object: JsonObject) => JsonObject): void {
    const place = run.resourcePlace;
    const { namespace, name } = place;
    place.key ??= storageKey(resource, namespace, name);
    const negotiated = this.context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
    const resourceVersion = run.query.isEmpty ? "" : (run.query.first("resourceVersion") ?? "");
    const answer = new GetAnswer(this, run, resource, negotiated, show);
    const cancel = startGet(this.reads, resource.read, { key: place.key, namespace, name, resourceVersion }, answer);
    this.parkUnlessOver(run, cancel);
  }

  list(run: Run, resource: ServedResource): void {
    const negotiated = this.context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
    this.listThen(run, resource, this.optionsOf(run), (list) => this.send(run, negotiated, list));
  }

  /** Lists for another verb's sake. */
  listThen(run: Run, resource: ServedResource, options: ListOptions, done: (list: JsonObject) => void): void {
    const { namespace } = run.resourcePlace;
    const cancel = startList(
      this.reads,
      resource.read,
      { namespace, options },
      {
        listed: (result) =>
          this.finish(run, () => {
            const { readCount, origin } = result;
            run.listed = { readCount, givenCount: result.items?.length ?? 0, origin };
            run.longSteps(this.viewSteps(resource, result.items), (items) =>
              done(this.listObject(resource, result, items)),
            );
          }),
        failed: (error) => this.fail(run, error),
      },
      this.context.readSeams,
    );
    this.parkUnlessOver(run, cancel);
  }

  optionsOf(run: Run): ListOptions {
    const { watchPrefix, name } = run.resourcePlace;
    return withName(parseListOptions(run.query, this.context.profile, watchPrefix), name);
  }

  watch(run: Run, resource: ServedResource): void {
    const negotiated = this.context.negotiator.negotiateWatch(run.request.headers["accept"], offerOf(run));
    const options = this.optionsOf(run);
    const { namespace } = run.resourcePlace;
    const encoder = this.encoderOf(run, resource, negotiated);
    const events = this.context.metrics.requests.eventsOf(resource.row);
    const { meter } = this.context;
    const cancel = startWatch(
      this.reads,
      resource.read,
      { namespace, options, encoder },
      {
        open() {
          meter?.opened(run);
          run.open(200, { "content-type": negotiated.contentType, ...baseHeaders(run) });
        },
        event(payload) {
          if (run.state !== "responding") return 0;
          const waiting = run.responder.frame(payload);
          events.told(payload.sizeBytes);
          meter?.told(run, payload);
          return waiting;
        },
        whenTaken:
          run.responder.whenTaken === undefined ? undefined : (resume) => run.responder.whenTaken?.(() => resume()),
        close: () => run.close(),
        failed: (error) => this.fail(run, error),
      },
      this.context.readSeams,
    );
    if (run.state === "executing") run.park("waiting", cancel);
    else run.hold(cancel);
  }

  /** Called within the read or later; a wait ends here. */
  finish(run: Run, work: () => void): void {
    if (run.state === "waiting") {
      run.unpark("executing");
      run.stage(work);
    } else work();
  }

  fail(run: Run, error: ApiError): void {
    if (run.state === "waiting") run.unpark("executing");
    run.fail(error);
  }

  private parkUnlessOver(run: Run, cancel: () => void): void {
    if (run.state === "executing") run.park("waiting", cancel);
  }

  send(run: Run, negotiated: Negotiated, object: JsonObject): void {
    run.respond(200, baseHeaders(run), objectPayload(this.context, run, negotiated, object));
  }

  private listObject(resource: ServedResource, result: ListResult, items: readonly JsonObject[] | null): JsonObject {
    const { resourceVersion, remainingItemCount } = result;
    const saysToken = result.continue !== "" || (resource.custom !== undefined && this.context.profile.emptyTokens);
    return {
      kind: listKindOf(resource),
      apiVersion: resource.apiVersion,
      metadata: {
        resourceVersion,
        ...(saysToken ? { continue: result.continue } : {}),
        ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
      },
      items,
    };
  }

  /** The items as clients of this version see them, so many values at a time. */
  private *viewSteps(
    resource: ServedResource,
    items: readonly JsonObject[] | null,
  ): Generator<void, readonly JsonObject[] | null> {
    const { view } = resource;
    if (view === undefined || items === null) return items;
    let views = this.viewedItems.get(view);
    if (views === undefined) this.viewedItems.set(view, (views = new WeakMap()));
    const known = views.get(items);
    if (known !== undefined) return known;
    const made: JsonObject[] = [];
    let valueCount = 0;
    for (const item of items) {
      if (valueCount >= valuesPerStep) {
        valueCount = 0;
        yield;
      }
      made.push(viewed(resource, item));
      valueCount += 1 + valueCountUpTo(valuesPerStep, item);
    }
    views.set(items, made);
    return made;
  }

  private encoderOf(run: Run, resource: ServedResource, negotiated: Negotiated): WatchEncoder {
    const { format, transform } = negotiated;
    // A table shows its columns once in each watch.
    if (transform?.kind === "Table") return this.tables(run, resource, negotiated, transform.apiVersion);
    const key = transform === undefined ? format : `${format} ${transform.kind} ${transform.apiVersion}`;
    let encoders = this.encoders.get(resource);
    if (encoders === undefined) this.encoders.set(resource, (encoders = new Map()));
    let encoder = encoders.get(key);
    if (encoder === undefined) {
      const shown = transform?.kind !== "PartialObjectMetadata" ? asItIs : partial(transform.apiVersion);
      encoders.set(key, (encoder = this.makeEncoder(resource, negotiated, shown)));
    }
    return encoder;
  }

  /** Of one watch. Throws 400 for a bad `includeObject`. */
  private tables(run: Run, resource: ServedResource, negotiated: Negotiated, apiVersion: string): WatchEncoder {
    const include = parseInclude(run.query.first("includeObject"));
    const kind = `${negotiated.format} ${apiVersion} ${include}`;
    let headers = true;
    const options = (): TableOptions => tableOptions(this.context, resource.custom, { apiVersion, include, headers });
    const encoder = this.makeEncoder(resource, negotiated, (object, effort) => tableOf(object, options(), effort));
    return {
      ...encoder,
      event: (type, object) => {
        const asked = { type, object, resource, kind, headers, nowSeconds: options().nowSeconds };
        const payload = this.lastTables.of(asked, () => encoder.event(type, object));
        headers = false;
        return payload;
      },
    };
  }

  private makeEncoder(
    resource: ServedResource,
    { format, transform, contentType }: Negotiated,
    show: Show,
  ): WatchEncoder {
    const { encodings, encoders } = this.context;
    const seen = (object: JsonObject): JsonObject => viewed(resource, object);
    const encodeEvent = encoders.ofEvents(format);
    const shown = (type: WatchEventType, object: JsonObject, effort: RowEffort): JsonObject => {
      if (type === "ERROR") return object;
      return show(type === "BOOKMARK" ? object : seen(object), effort);
    };
    const empty = emptyList(resource);
    const blueprint =
      transform?.kind === "PartialObjectMetadata"
        ? partialOfList({ ...empty, items: [] }, transform.apiVersion, "")
        : empty;
    const shares = encodeEvent === undefined && transform === undefined;
    return {
      ...(shares ? { initial: (object) => new InitialEventPayload(seen(object), encodings) } : {}),
      event(type, object): Payload {
        const effort = { steps: 0 };
        const what = shown(type, object, effort);
        return encodeEvent === undefined
          ? new WatchEventPayload(type, what, encodings, Math.floor(effort.steps / stepsOfEvent))
          : new BinaryEventPayload(type, what, contentType, encodeEvent);
      },
      emptyList: encodeBase64(encoders.of(format)(blueprint)),
    };
  }
}

/** What an event shows of its object, and what that has cost. */
type Show = (object: JsonObject, effort: RowEffort) => JsonObject;

/** Values that are put in another form before others have their turn. */
const valuesPerStep = 12_000;

/** So many steps of a row cost as much as an event. */
const stepsOfEvent = 50;

const asItIs: Show = (object) => object;

const partial =
  (apiVersion: string): Show =>
  (object) =>
    partialObject(object, apiVersion);

/** One object for a get's whole answer: gets are the most frequent requests of all. */
class GetAnswer implements GetSink {
  private readonly verbs: ReadVerbs;
  private readonly run: Run;
  private readonly resource: ServedResource;
  private readonly negotiated: Negotiated;
  private readonly show: ((object: JsonObject) => JsonObject) | undefined;

  constructor(
    verbs: ReadVerbs,
    run: Run,
    resource: ServedResource,
    negotiated: Negotiated,
    show: ((object: JsonObject) => JsonObject) | undefined,
  ) {
    this.verbs = verbs;
    this.run = run;
    this.resource = resource;
    this.negotiated = negotiated;
    this.show = show;
  }

  found(stored: JsonObject): void {
    if (this.run.state === "waiting") this.verbs.finish(this.run, () => this.answer(stored));
    else this.answer(stored);
  }

  failed(error: ApiError): void {
    this.verbs.fail(this.run, error);
  }

  private answer(stored: JsonObject): void {
    const object = viewed(this.resource, stored);
    this.verbs.send(this.run, this.negotiated, this.show === undefined ? object : this.show(object));
  }
}

/** A path that names an object watches that object alone. */
function withName(options: ListOptions, name: string): ListOptions {
  if (name === "") return options;
  const requirement: FieldRequirement = { field: "metadata.name", operator: "=", value: name };
  const requirements = [...options.fieldSelector.requirements, requirement];
  return { ...options, fieldSelector: { requirements, empty: false } };
}

const listKindOf = ({ row, custom }: ServedResource): string => custom?.listKind ?? `${row.kind}List`;

/** As the real server encodes one that was never filled. */
function emptyList(resource: ServedResource): JsonObject {
  return { kind: listKindOf(resource), apiVersion: resource.apiVersion, metadata: {}, items: null };
}
