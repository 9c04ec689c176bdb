/** Planted bugs of how a server hears of what is stored: later than it was, or in another order. */
import { FrontEnd, type FrontEndOptions } from "../../apiserver/cache/front-end.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import type { StoreEvent } from "../../store/types.ts";
import { holdCreations } from "../commit-order.ts";
import { cacheLagMicrosWith, lagging, type ServerBugs } from "../server-bugs.ts";
import type { Planted } from "./planted.ts";

export type MakeFrontEnd = (options: FrontEndOptions) => FrontEnd;

/** Undefined when none of these bugs is planted. */
export function frontEndWith({ bugs, mayShow }: Planted): MakeFrontEnd | undefined {
  const isPlanted = mayShow("watch-commit-order-gap") || lagging.some((name) => mayShow(name));
  return isPlanted ? (options) => new LateFrontEnd(options, bugs) : undefined;
}

class LateFrontEnd extends FrontEnd {
  private readonly hearer: Process;
  private readonly bugs: ServerBugs;
  /** As it would be without the bugs. */
  private ownLagMicros: Micros;
  private bugLagMicros: Micros = 0;

  constructor(options: FrontEndOptions, bugs: ServerBugs) {
    super(options);
    this.hearer = options.process;
    this.bugs = bugs;
    this.ownLagMicros = options.lagMicros ?? 0;
  }

  override setLag(lagMicros: Micros, prefix?: string): void {
    if (prefix !== undefined) {
      super.setLag(lagMicros, prefix);
      return;
    }
    this.ownLagMicros = lagMicros;
    super.setLag(Math.max(lagMicros, this.bugLagMicros));
  }

  protected override deliver(event: StoreEvent): void {
    this.keepBugLag();
    if (this.bugs["watch-commit-order-gap"]) holdCreations(this.hearer, event, () => this.come(event));
    else super.deliver(event);
  }

  /** Some bugs take a lag, and may be switched while the server runs. */
  private keepBugLag(): void {
    const lag = cacheLagMicrosWith(this.bugs);
    if (lag === this.bugLagMicros) return;
    this.bugLagMicros = lag;
    super.setLag(Math.max(lag, this.ownLagMicros));
  }

  /** What was overtaken is there from now on, and was never told. */
  private come(event: StoreEvent): void {
    if (event.revision > this.feed.applied) super.deliver(event);
    else this.cacheOf(event.key)?.applyUntold(event);
  }
}
