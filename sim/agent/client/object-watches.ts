/**
 * Which config maps and secrets have changed since a pod's volumes were made of them. Each object that somebody minds is watched by
 * itself, as the published agent does by default; nothing is kept of it but its version.
 */
import { Reflector } from "../../client/reflector.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { Cancel } from "../../kernel/types.ts";
import { kept, later } from "../piece.ts";
import type { AgentApi } from "./agent-api.ts";
import { follow } from "./followed.ts";
import { agentsHabits } from "./reflector-habits.ts";

export interface ObjectReference {
  readonly kind: "configmap" | "secret";
  readonly namespace: string;
  readonly name: string;
}

/** Somebody who minds: what it has seen, and who hears that this is no longer so. */
interface Minder {
  readonly seen: string;
  readonly changed: () => void;
}

interface Watched {
  stop: Cancel;
  /** Empty: it is not there. Undefined: not known yet. */
  version: string | undefined;
  readonly minders: Set<Minder>;
}

export class ObjectWatches {
  private readonly api: AgentApi;
  private readonly watched = new Map<string, Watched>();

  constructor(api: AgentApi) {
    this.api = api;
  }

  /** `changed` is called once at most, later than this call: when the object has another version than the seen one. */
  mind(reference: ObjectReference, seen: string, changed: () => void): Cancel {
    const { kind, namespace, name } = reference;
    const key = `${kind} ${namespace}/${name}`;
    const watched = this.watched.get(key) ?? this.watch(key, reference);
    const minder: Minder = { seen, changed: kept(changed) };
    watched.minders.add(minder);
    if (watched.version !== undefined && watched.version !== seen) {
      later(this.api.process, 0, () => this.tell(watched));
    }
    return () => {
      watched.minders.delete(minder);
      if (watched.minders.size > 0 || this.watched.get(key) !== watched) return;
      watched.stop();
      this.watched.delete(key);
    };
  }

  private watch(key: string, { kind, namespace, name }: ObjectReference): Watched {
    const path = `/api/v1/namespaces/${namespace}/${kind}s`;
    const selector = `fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;
    const heard = (object: JsonObject | undefined): void => {
      watched.version = object === undefined ? "" : (metadataOf(object).resourceVersion ?? "");
      this.tell(watched);
    };
    const hearer = {
      replaced: (objects: readonly JsonObject[]) => heard(objects.find((each) => metadataOf(each).name === name)),
      changed: heard,
      gone: () => heard(undefined),
    };
    const reflector = new Reflector(
      this.api,
      path,
      hearer,
      agentsHabits(this.api.process, `${path}/${name}`, selector),
    );
    const watched: Watched = { stop: () => {}, version: undefined, minders: new Set() };
    this.watched.set(key, watched);
    watched.stop = follow(this.api.process, `${path}/${name}`, reflector);
    return watched;
  }

  private tell(watched: Watched): void {
    for (const minder of [...watched.minders]) {
      if (minder.seen === watched.version || !watched.minders.delete(minder)) continue;
      minder.changed();
    }
  }
}
