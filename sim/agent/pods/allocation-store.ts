/**
 * What pods have been given is written down where it is not what their sources ask for, so that another life of the agent goes on
 * with it. A pod of which nothing is written has what the agent told of it last.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import type { Micros } from "../../kernel/types.ts";
import { objectIn, readFile, writeFile } from "../resources/machine-files.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import { later, piece } from "../piece.ts";
import { run, type Task, within } from "../task.ts";
import {
  type Allocation,
  isSame,
  nothing,
  resizableContainers,
  type Resources,
  resourcesBefore,
  toldAllocation,
} from "./allocation.ts";
import type { HeldPod } from "./held-pod.ts";
import { podOf } from "./pod-types.ts";

/** A runtime that does not answer by then holds nobody up. */
const readMicrosMax: Micros = 5_000_000;
const failedMicros: Micros = 10_000_000;

interface Entry {
  readonly allocated?: Readonly<Record<string, Resources>>;
  readonly actuated?: Readonly<Record<string, Resources>>;
}

export class AllocationStore {
  isRead = false;
  private readonly cri: CriCaller;
  private readonly path: string;
  private readonly all: () => Iterable<HeldPod>;
  private entries: ReadonlyMap<string, Entry> = new Map();
  private written = "";
  private isWriting = false;

  constructor(cri: CriCaller, path: string, all: () => Iterable<HeldPod>) {
    this.cri = cri;
    this.path = path;
    this.all = all;
  }

  begin(): void {
    const end = (): void => {
      this.isRead = true;
    };
    piece(this.cri.process, "allocations", "what pods had been given", () => run(this.read(), end), end);
  }

  private *read(): Task<void> {
    const text = yield* within(this.cri.process.clock, readMicrosMax, readFile(this.cri, this.path));
    if (text !== undefined) this.entries = entriesOf(text);
  }

  /** A pod comes that may have been here before. */
  recall(held: HeldPod): void {
    const { asked, uid } = held;
    const pod = podOf(asked);
    const entry = this.entries.get(uid);
    const given = new Map(toldAllocation(pod));
    for (const { name, resources = nothing } of resizableContainers(pod.spec)) {
      const written = entry?.allocated?.[name];
      if (written !== undefined && !isSame(written, resources)) given.set(name, written);
    }
    const actuated = Object.entries(entry?.actuated ?? {});
    if (actuated.length > 0) held.actuated = new Map(actuated);
    // What was given and had not arrived was told as it was before.
    for (const [name] of actuated) if (entry?.allocated?.[name] === undefined) given.delete(name);
    if (given.size > 0) held.hold(asked, given);
  }

  /** Something has been given, or has arrived. */
  changed(): void {
    if (this.isWriting) return; // it looks again when it is done
    const text = textOf(this.all());
    if (text === this.written) return;
    this.written = text;
    this.isWriting = true;
    const end = (): void => {
      this.isWriting = false;
      this.changed();
    };
    const { cri, path } = this;
    piece(
      cri.process,
      "allocations",
      "what pods have been given",
      () => run(writeFile(cri, path, text), end),
      () => {
        this.written = "";
        later(cri.process, failedMicros, end);
      },
    );
  }
}

function textOf(all: Iterable<HeldPod>): string {
  const entries: Record<string, Entry> = {};
  for (const { uid, wanted, actuated, pod } of all) {
    if (wanted === undefined && actuated === undefined) continue;
    const given: Allocation = wanted === undefined ? new Map() : resourcesBefore(pod, podOf(wanted));
    entries[uid] = {
      ...(given.size === 0 ? {} : { allocated: Object.fromEntries(given) }),
      ...(actuated === undefined ? {} : { actuated: Object.fromEntries(actuated) }),
    };
  }
  return JSON.stringify({ entries });
}

/** What cannot be read says nothing: a file, an entry, what a container is said to have. */
function entriesOf(text: string): ReadonlyMap<string, Entry> {
  const found = membersOf(objectIn(text)?.["entries"]);
  return new Map(
    Object.entries(found).map(([uid, entry]) => {
      const { allocated, actuated } = membersOf(entry);
      return [uid, { allocated: resourcesIn(allocated), actuated: resourcesIn(actuated) }];
    }),
  );
}

const membersOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

const resourcesIn = (value: unknown): Readonly<Record<string, Resources>> =>
  Object.fromEntries(Object.entries(membersOf(value)).filter(([, resources]) => isObject(resources))) as Readonly<
    Record<string, Resources>
  >;
