/** An informer as a client of a scenario: it follows, and tells what its handlers hear. */
import type { ClientOf } from "../../../scenarios/schema.ts";
import { Informer, versionOf } from "../../client/informer.ts";
import { type Actor, type ActorParts, collectionPath } from "./actor.ts";

export class Follower implements Actor {
  readonly informer: Informer;
  private updates = 0;

  constructor(
    { process, api, dialect, tell }: ActorParts,
    { resource, namespace, begin, timeout }: ClientOf<"informer">,
  ) {
    this.informer = new Informer(process, api, {
      path: collectionPath(dialect, resource, namespace),
      begin,
      deadlineMicros: 10_000_000, // a request may be lost without a word, and is then asked again within the run
      timeoutMicros: timeout,
      onChange: (key, before, after) => {
        if (before === undefined || after === undefined) return;
        this.updates++;
        tell({ kind: "updated", client: process.name, key, before: versionOf(before), after: versionOf(after) });
      },
    });
  }

  start(): void {
    this.informer.start();
  }

  pending(): string | undefined {
    return this.informer.synced ? undefined : "it has no state yet";
  }

  counts(): Readonly<Record<string, number>> {
    const { informer } = this;
    return {
      lists: informer.listCount,
      watches: informer.watches.length,
      events: informer.watches.reduce((sum, { events }) => sum + events.length, 0),
      updates: this.updates,
      objects: informer.objects.size,
    };
  }
}
