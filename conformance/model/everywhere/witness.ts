/**
 * Sees every exchange of a program, whatever its check is about, and judges what holds everywhere: what answers look
 * like, and that two answers do not say different things of the same object at the same version.
 */
import { isApiObject, isJsonObject, type ApiObject, type Json, type WatchEvent } from "../../client/types.ts";
import type { Exchange } from "../../client/exchange.ts";
import { isAlike, sameJson, withoutEmpty } from "../json-values.ts";
import { type Asked, askedOf } from "./asked.ts";
import { type Breach, breach } from "./breach.ts";
import { judgeRefusal } from "./error-law.ts";
import { StreamJudge } from "./event-law.ts";
import { judgeList } from "./list-law.ts";
import { judgeListObserved, judgeUntracked } from "./observed-law.ts";
import { isLetGo, isStoredObject, judgeAnswered, judgeDoomed, judgeHeld, judgeObject } from "./object-law.ts";

/** A law that was broken, and the exchange that shows it. */
export interface Witnessed extends Breach {
  readonly exchange: Exchange;
}

export class Witness {
  /**
   * Undefined: nothing was wrong so far. Of several laws that were broken, the first by the name of its requirement: which
   * of two answers comes first is a matter of the moment, and the finding must not be.
   */
  first: Witnessed | undefined;
  private readonly isLaw: (requirement: string) => boolean;
  private readonly states = new Map<string, Json>();
  private readonly identities = new Map<string, Identity>();
  /** Groups of which a definition was written: what their objects are shown as may change without a write to them. */
  private readonly redefined = new Set<string>();
  private readonly streams = new Map<Exchange, StreamJudge | undefined>();
  private readonly judged = new WeakSet<object>();

  /** `isLaw`: whether a requirement binds the target of this run. What does not is never noted. */
  constructor(isLaw: (requirement: string) => boolean) {
    this.isLaw = isLaw;
  }

  /** A complete answer. `document`: its body, when that is JSON; `retryAfter`: the header. */
  answered(exchange: Exchange, document: Json | undefined, retryAfter: string | undefined): void {
    if (document === undefined || this.isAgain(document)) return;
    const asked = askedOf(exchange.request);
    if (asked === undefined) return;
    if (asked.plural === "customresourcedefinitions" && asked.method !== "GET") this.redefined.add(groupOf(asked));
    this.note(exchange, this.judgeAnswer(asked, exchange.status ?? 0, document, retryAfter));
    if (isJsonObject(document)) this.note(exchange, judgeUntracked(asked, document));
  }

  /** The client gives the same document again for the same answer to the same question: it would be judged as it was. */
  private isAgain(document: Json): boolean {
    if (typeof document !== "object" || document === null) return false;
    if (this.judged.has(document)) return true;
    this.judged.add(document);
    return false;
  }

  /** One event of a watch. */
  told(exchange: Exchange, event: WatchEvent): void {
    if (!this.streams.has(exchange)) {
      const asked = askedOf(exchange.request);
      this.streams.set(exchange, asked === undefined ? undefined : new StreamJudge(asked));
    }
    const asked = askedOf(exchange.request);
    const stream = this.streams.get(exchange);
    if (asked === undefined || stream === undefined) return;
    this.note(exchange, stream.judge(event));
    this.note(exchange, this.judgeTold(asked, event));
    this.note(exchange, judgeUntracked(asked, event.object));
  }

  /** A stream that was ended by us although it had said that it failed, so long ago. */
  left(exchange: Exchange, silentMillis: number): void {
    if (silentMillis < lingerMillisMax || this.streams.get(exchange)?.hasFailed !== true) return;
    const actual = `open ${Math.floor(silentMillis)} ms later`;
    this.note(exchange, breach("errors.stream", "the end of the stream after its error", actual));
  }

  private note(exchange: Exchange, found: Breach | undefined): void {
    if (found === undefined || !this.isLaw(found.requirement)) return;
    if (this.first === undefined || found.requirement < this.first.requirement) this.first = { ...found, exchange };
  }

  private judgeAnswer(
    asked: Asked,
    status: number,
    document: Json,
    retryAfter: string | undefined,
  ): Breach | undefined {
    if (status >= 400) return asked.subresource === "proxy" ? undefined : judgeRefusal(status, document, retryAfter);
    if (status >= 300 || !isJsonObject(document) || asked.isOtherShape || asked.isWatch) return undefined;
    const items = document["items"];
    const isList = asked.name === undefined && asked.method === "GET";
    if (isList) {
      const wrong = judgeList(asked, document);
      if (wrong !== undefined || !Array.isArray(items)) return wrong;
      for (const item of items as readonly Json[]) {
        if (!isApiObject(item) || !isStoredObject(asked, item)) continue;
        const found = judgeObject(asked, item) ?? judgeHeld(asked, item) ?? this.judgeState(asked, item);
        if (found !== undefined) return found;
      }
      return judgeListObserved(asked, document);
    }
    if (!isStoredObject(asked, document)) return undefined;
    const found = judgeAnswered(asked, document);
    if (found === undefined && asked.method === "DELETE" && asked.subresource === undefined)
      return judgeDoomed(document);
    if (found !== undefined || asked.method === "DELETE" || asked.query.has("dryRun")) return found;
    // What took the last finalizer away answers with what it sent: the object is gone, and has no later version.
    if (asked.method !== "GET" && isLetGo(document)) return undefined;
    const unheld = asked.method === "GET" ? judgeHeld(asked, document) : undefined;
    if (unheld !== undefined) return unheld;
    return this.judgeState(asked, document);
  }

  /** The last state of what goes is shown with the version of its going. */
  private judgeTold(asked: Asked, { type, object }: WatchEvent): Breach | undefined {
    if ((type !== "ADDED" && type !== "MODIFIED") || !isStoredObject(asked, object)) return undefined;
    return judgeHeld(asked, object) ?? this.judgeState(asked, object);
  }

  /** One uid is one object, and one version of it one state. */
  private judgeState(asked: Asked, object: ApiObject): Breach | undefined {
    const { uid = "", name, namespace, creationTimestamp, resourceVersion } = object.metadata;
    const known = this.identities.get(uid);
    if (known === undefined) this.identities.set(uid, { name, namespace, creationTimestamp });
    else if (known.name !== name || known.namespace !== namespace) {
      return breach(
        "objects.uid",
        `uid ${uid} for ${known.namespace}/${known.name} alone`,
        `${namespace}/${name} has it too`,
      );
    } else if (known.creationTimestamp !== creationTimestamp) {
      return breach(
        "objects.creation-time",
        `${name} created at ${known.creationTimestamp}`,
        String(creationTimestamp),
      );
    }
    if (this.redefined.has(asked.groupVersion.split("/", 1)[0] ?? "")) return undefined;
    const key = `${asked.prefix} ${uid} ${resourceVersion}`;
    const state = stateOf(object);
    const before = this.states.get(key);
    if (before === undefined) {
      this.states.set(key, state);
      return undefined;
    }
    if (isAlike(before, state)) return undefined;
    const [textBefore, text] = [JSON.stringify(before), JSON.stringify(state)];
    if (textBefore === text || sameJson(withoutEmpty(before), withoutEmpty(state))) return undefined;
    const at = `${name} at version ${resourceVersion}`;
    return breach("versions.last-modification", `${at}: ${textBefore.slice(0, 1000)}`, text.slice(0, 1000));
  }
}

/** The group that the definition of a name is about: `widgets.example.com`. Its creation is asked for at the collection. */
const groupOf = ({ name = "" }: Asked): string => name.slice(name.indexOf(".") + 1);

/** A stream that has failed ends, and an end takes no longer than this. */
const lingerMillisMax = 2000;

interface Identity {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly creationTimestamp: string | null | undefined;
}

/** Items of lists need not repeat their type. */
function stateOf({ kind: _kind, apiVersion: _apiVersion, ...content }: ApiObject): Json {
  return content as Json;
}
