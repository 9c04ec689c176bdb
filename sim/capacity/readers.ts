/** Clients that read: lists again and again, and watches that break and go on. */
import type { RowOf } from "../../scenarios/capacity/workload-rows.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import type { Cancel, Micros } from "../kernel/types.ts";
import { type DriverContext } from "./driver-client.ts";
import { addDriver, type Stage } from "./stage.ts";

export function listAgain(stage: Stage, row: RowOf<"list">, context: DriverContext): void {
  const { clock } = context.process;
  const endMicros = clock.nowMicros() + (row.for ?? stage.experiment.until);
  for (let index = 0; index < row.clients; index++) {
    const prng = context.process.prng.stream(`list ${index}`);
    // Clients of one interval are out of step from the beginning.
    const first = row.every === undefined ? 0 : prng.intInclusive(0, row.every - 1);
    const begin = (): void => {
      if (clock.nowMicros() >= endMicros) return;
      whole(row, context, 800_000);
      if (row.every !== undefined) clock.after(row.every, begin);
    };
    clock.after(first, begin);
  }
}

/** A list with all its pages. A failed one is tried again as the row says. */
function whole(row: RowOf<"list">, context: DriverContext, waitMicros: Micros): void {
  const { clock } = context.process;
  const selector = row.selector === "" ? [] : [row.selector];
  const again = (): void => {
    if (row.again === "at-once") clock.after(0, () => whole(row, context, waitMicros));
    if (row.again === "backing-off")
      clock.after(waitMicros, () => whole(row, context, Math.min(2 * waitMicros, 30_000_000)));
  };
  const page = (token: string): void => {
    const version = token === "" && row.version !== "" ? [`resourceVersion=${row.version}`] : [];
    const limit = row.limit === 0 ? [] : [`limit=${row.limit}`];
    const next = token === "" ? [] : [`continue=${encodeURIComponent(token)}`];
    const query = [...selector, ...limit, ...version, ...next].join("&");
    context.client.call({ method: "GET", path: row.path, query }, row.deadline, (answer) => {
      if (!answer.ok || answer.status !== 200) {
        again();
        return;
      }
      const more = (answer.object["metadata"] as { readonly continue?: string } | undefined)?.continue ?? "";
      if (more !== "") clock.after(0, () => page(more));
    });
  };
  page("");
}

export function watchAll(stage: Stage, row: RowOf<"watch">, { process }: DriverContext): void {
  const prng = process.prng.stream("watchers");
  const count = row.clients * (row.per === "node" ? stage.fleet.nodes.length : 1);
  for (let index = 0; index < count; index++) {
    const later = prng.intInclusive(0, Math.min(row.within, 4_000_000_000));
    process.clock.after(later, () => new Follower(stage, row, index, process.name).start());
  }
}

/** Each has a process of its own, and so a connection of its own. */
class Follower {
  private readonly stage: Stage;
  private readonly row: RowOf<"watch">;
  private readonly name: string;
  private context!: DriverContext;
  private version = "";
  private stop: Cancel = () => {};

  constructor(stage: Stage, row: RowOf<"watch">, index: number, owner: string) {
    this.stage = stage;
    this.row = row;
    this.name = `${owner}-${index}`;
  }

  start(): void {
    addDriver(this.stage, this.name, "workload-watch", (context) => {
      this.context = context;
      this.begin();
      if (this.row.breakEvery !== undefined) this.breakLater(this.row.breakEvery);
    });
  }

  private begin(): void {
    if (this.row.begin === "list") this.list();
    else this.watch();
  }

  private list(): void {
    this.context.client.call(
      { method: "GET", path: this.row.path, query: "resourceVersion=0" },
      60_000_000,
      (answer) => {
        if (!answer.ok || answer.status !== 200) {
          this.later(() => this.list());
          return;
        }
        this.version = metadataOf(answer.object).resourceVersion ?? "";
        this.watch();
      },
    );
  }

  private watch(): void {
    const isStream = this.row.begin === "stream" && this.version === "";
    const state = isStream ? "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" : "";
    // Only what comes from now on: version 0 would tell of what there is.
    if (this.version === "" && !isStream) {
      this.head();
      return;
    }
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(this.version)}${state}`;
    this.stop = this.context.client.watch(
      { method: "GET", path: this.row.path, query },
      {
        opened: () => {},
        event: (type, object) => this.hear(type, object),
        refused: (status) => this.later(() => (status === 410 ? this.lost() : this.watch())),
        ended: () => this.later(() => this.watch()),
      },
    );
  }

  /** The version of now, by a list of one. */
  private head(): void {
    this.context.client.call({ method: "GET", path: this.row.path, query: "limit=1" }, 60_000_000, (answer) => {
      if (!answer.ok || answer.status !== 200) {
        this.later(() => this.head());
        return;
      }
      this.version = metadataOf(answer.object).resourceVersion ?? "";
      this.watch();
    });
  }

  private hear(type: string, object: JsonObject): void {
    if (type === "ERROR") {
      this.stop();
      this.later(() => this.lost());
    } else this.version = metadataOf(object).resourceVersion ?? this.version;
  }

  private lost(): void {
    this.version = "";
    if (this.row.begin === "stream") this.watch();
    else this.list();
  }

  private breakLater({ min, max }: { readonly min: Micros; readonly max: Micros }): void {
    const { prng, clock } = this.context.process;
    clock.after(prng.intInclusive(min, max), () => {
      this.stop();
      const { away } = this.row;
      clock.after(prng.intInclusive(away.min, away.max), () => this.watch());
      this.breakLater({ min, max });
    });
  }

  private later(act: () => void): void {
    this.context.process.clock.after(1_000_000, act);
  }
}
