/**
 * The bugs of stores that give out versions before the writes are through: `watch-commit-order-gap` and
 * `head-rev-rollback-race`.
 */
import type { Micros, Process } from "../kernel/types.ts";
import type { Store, StoreEvent } from "../store/types.ts";

/** Longer than concurrent requests are apart, shorter than one that follows an answer. */
const slowMicros: Micros = 1_500;

/** Every other version is a slow writer's. */
const isSlow = ({ revision }: StoreEvent): boolean => revision % 2 === 0;

/** Calls `arrive` now, or for a slow creation later: others overtake it. */
export function holdCreations(process: Process, event: StoreEvent, arrive: () => void): void {
  const isCreation = event.previous === undefined && event.value !== undefined;
  if (isCreation && isSlow(event)) process.clock.after(slowMicros, arrive);
  else arrive();
}

/** The newest version as the last writer to finish has noted it. */
export class NotedHead {
  private readonly process: Process;
  private noted: number | undefined;

  constructor(process: Process, store: Pick<Store, "subscribe">) {
    this.process = process;
    const unsubscribe = store.subscribe((event) => {
      if (process.alive) this.hear(event);
      else unsubscribe();
    });
  }

  /** Undefined before the first write. */
  get revision(): number | undefined {
    return this.noted;
  }

  private hear(event: StoreEvent): void {
    const note = (): void => {
      this.noted = event.revision;
    };
    note();
    if (isSlow(event)) this.process.clock.after(slowMicros, note);
  }
}
