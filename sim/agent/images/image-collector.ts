/**
 * Collects images that nobody uses: when the disk fills, when they grow old, and when the node is short. It also keeps the
 * list of images that a node's status shows.
 * Source: document 3, Options, --image-gc-high-threshold to --pod-infra-container-image; the fact sheet of the 1.33 agent,
 * garbage collection.
 */
import type { Image } from "../../../wire/cri-messages.ts";
import { callRuntime, type CriRuntime } from "../../cri/cri-port.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import { kept, piece, turns } from "../piece.ts";
import type { AgentEvents, ContainerGarbage, ImageOptions } from "../ports.ts";
import type { FilesystemFigures } from "../stats/figures.ts";
import {
  bytesToFree,
  collectable,
  detect,
  type ImageLaw,
  type ImageRecord,
  type ImageRecords,
  isStale,
  usagePercent,
} from "./image-records.ts";

export interface ImageCollectorPorts {
  readonly process: Process;
  readonly runtime: CriRuntime;
  /** Of one call to the runtime. */
  readonly timeoutMicros: Micros;
  readonly events: Pick<AgentEvents, "node">;
  readonly garbage: Pick<ContainerGarbage, "imagesInUse">;
  /** Of the file system that images lie on; undefined when it could not be read. */
  readonly imagefs: (done: (figures: FilesystemFigures | undefined) => void) => void;
}

const collectMicros: Micros = 300_000_000;
const detectMicros: Micros = 300_000_000;
const listMicros: Micros = 30_000_000;

export class ImageCollector {
  private readonly options: ImageOptions;
  /** What it decides by, asked anew at each decision. */
  private readonly law: () => ImageLaw;
  private readonly ports: ImageCollectorPorts;
  private records: ImageRecords = new Map();
  private images: readonly Image[] = [];
  /** Of these images, where the runtime tells it. */
  private version: unknown;
  private failedBefore = false;
  private beganMicros: Micros = 0;
  private detected = false;

  constructor(options: ImageOptions, law: () => ImageLaw, ports: ImageCollectorPorts) {
    this.options = options;
    this.law = law;
    this.ports = ports;
  }

  start(): void {
    const { clock } = this.ports.process;
    this.beganMicros = clock.nowMicros();
    this.every(listMicros, "a list of images", (next) => this.list(() => next()));
    this.every(detectMicros, "a look at images", (next) => this.detect(() => next()));
    const { highThresholdPercent, ageMicrosMax } = this.options;
    if (highThresholdPercent === 100 && ageMicrosMax === 0) return;
    this.every(collectMicros, "collection of images", (next) =>
      this.collect((error) => {
        // The first failure is often that figures are not there yet.
        if (error !== undefined && this.failedBefore) this.ports.events.node("Warning", "ImageGCFailed", error);
        this.failedBefore = error !== undefined;
        next();
      }),
    );
  }

  /** The images that the last listing showed, at most half a minute ago. */
  cached(): readonly Image[] {
    return this.images;
  }

  /** All that nobody uses and that are old enough; `done` gets the bytes of those that went. */
  deleteUnused(done: (freedBytes: number) => void): void {
    const now = this.ports.process.clock.nowMicros();
    const told = kept(done);
    const begin = (): void =>
      this.detect((known) => {
        if (known) this.free(this.candidates(), Infinity, now, 0, told);
        else told(0);
      });
    piece(this.ports.process, "image-garbage", "removal of unused images", begin, () => told(0));
  }

  private every(periodMicros: Micros, what: string, work: (next: () => void) => void): void {
    turns(this.ports.process, "image-garbage", what, periodMicros, (next) => work(() => next(periodMicros)));
  }

  private list(done: (images: readonly Image[] | undefined) => void): void {
    const { process, runtime, timeoutMicros } = this.ports;
    const version = runtime.imagesVersion?.();
    if (version !== undefined && version === this.version) {
      done(this.images);
      return;
    }
    callRuntime(process, runtime, "ListImages", {}, timeoutMicros, (answer) => {
      if (answer.ok) {
        this.images = answer.message.images;
        this.version = version;
      }
      done(answer.ok ? answer.message.images : undefined);
    });
  }

  private detect(done: (known: boolean) => void): void {
    this.list((images) => {
      if (images === undefined) {
        done(false);
        return;
      }
      const now = this.ports.process.clock.nowMicros();
      // What is there at the first look has been there for an unknown time: as long as any age asks for.
      const since = this.detected ? now : -Infinity;
      this.records = detect(this.records, images, this.ports.garbage.imagesInUse(), now, since);
      this.detected = true;
      done(true);
    });
  }

  /** `done` gets what went wrong. */
  private collect(done: (error: string | undefined) => void): void {
    const now = this.ports.process.clock.nowMicros();
    this.detect((known) => {
      if (!known) {
        done("the runtime did not list its images");
        return;
      }
      const stale = this.candidates().filter((record) => isStale(record, now, now - this.beganMicros, this.options));
      this.removeEach(stale, () => this.ports.imagefs((figures) => this.freeSpace(figures, now, done)));
    });
  }

  private freeSpace(
    figures: FilesystemFigures | undefined,
    nowMicros: Micros,
    done: (error: string | undefined) => void,
  ): void {
    const { availableBytes, capacityBytes } = figures ?? {};
    if (availableBytes === undefined || capacityBytes === undefined) {
      done("the file system of images could not be read");
      return;
    }
    if (capacityBytes === 0) {
      const error = "invalid capacity 0 on image filesystem";
      this.ports.events.node("Warning", "InvalidDiskCapacity", error);
      done(error);
      return;
    }
    const { highThresholdPercent, lowThresholdPercent } = this.options;
    if (usagePercent(Math.min(availableBytes, capacityBytes), capacityBytes) < highThresholdPercent) {
      done(undefined);
      return;
    }
    const wanted = bytesToFree(availableBytes, capacityBytes, lowThresholdPercent);
    this.free(this.candidates(), this.law().bytesFreed(wanted), nowMicros, 0, (freed) => {
      if (freed >= wanted) {
        done(undefined);
        return;
      }
      const error = `Failed to garbage collect required amount of images. Attempted to free ${wanted} bytes, but only found ${freed} bytes eligible to free.`;
      this.ports.events.node("Warning", "FreeDiskSpaceFailed", error);
      done(error);
    });
  }

  /** One after the other, until so many bytes are free; one that the runtime does not remove is passed over. */
  private free(
    candidates: readonly ImageRecord[],
    wantedBytes: number,
    nowMicros: Micros,
    freedBytes: number,
    done: (freedBytes: number) => void,
    from = 0,
  ): void {
    let at = from;
    const law = this.law();
    while (at < candidates.length && law.isYoung(candidates[at] as ImageRecord, nowMicros, this.options)) at++;
    const record = candidates[at];
    if (record === undefined || freedBytes >= wantedBytes) {
      done(freedBytes);
      return;
    }
    this.remove(record, (removed) => {
      const freed = freedBytes + (removed ? record.image.size : 0);
      this.free(candidates, wantedBytes, nowMicros, freed, done, at + 1);
    });
  }

  private removeEach(records: readonly ImageRecord[], done: () => void, at = 0): void {
    const record = records[at];
    if (record === undefined) done();
    else this.remove(record, () => this.removeEach(records, done, at + 1));
  }

  private remove({ image }: ImageRecord, done: (removed: boolean) => void): void {
    const { process, runtime, timeoutMicros } = this.ports;
    callRuntime(process, runtime, "RemoveImage", { image: { image: image.id } }, timeoutMicros, ({ ok }) => {
      if (ok) {
        this.records = new Map([...this.records].filter(([id]) => id !== image.id));
        this.images = this.images.filter(({ id }) => id !== image.id);
      }
      done(ok);
    });
  }

  private candidates(): readonly ImageRecord[] {
    return collectable(this.records, this.options, this.law());
  }
}
