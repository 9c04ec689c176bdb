/** A store that knows how large it is, and takes no writes beyond its quota: not even the deletions that would help. */
import { ApiError } from "../contract/errors.ts";
import { RevisionStore } from "../store/revision-store.ts";
import type { StoredValue, StoreEvent } from "../store/types.ts";
import { jsonSize } from "./sizes.ts";

export interface ResourceSize {
  count: number;
  bytes: number;
}

export class QuotaStore extends RevisionStore {
  /** Of what lives, by the key's second part. */
  readonly live = new Map<string, ResourceSize>();
  liveBytes = 0;
  /** Of older versions that can still be read. */
  oldBytes = 0;
  bytesMost = 0;
  private readonly quotaBytes: number | undefined;
  private readonly sizes = new Map<string, number>();
  /** Versions that were replaced, oldest first; those before `oldFirst` are compacted. */
  private old: { readonly revision: number; readonly bytes: number }[] = [];
  private oldFirst = 0;

  constructor(quotaBytes: number | undefined) {
    super();
    this.quotaBytes = quotaBytes;
    this.subscribe((event) => this.measure(event));
  }

  get bytes(): number {
    return this.liveBytes + this.oldBytes;
  }

  get oldCount(): number {
    return this.old.length - this.oldFirst;
  }

  get objectCount(): number {
    return this.sizes.size;
  }

  override put(key: string, expectedRevision: number, make: (revision: number) => StoredValue): number | undefined {
    this.requireRoom();
    return super.put(key, expectedRevision, make);
  }

  override delete(key: string, expectedRevision: number): number | undefined {
    this.requireRoom();
    return super.delete(key, expectedRevision);
  }

  override compact(revision: number): void {
    super.compact(revision);
    for (; this.oldFirst < this.old.length; this.oldFirst++) {
      const entry = this.old[this.oldFirst] as (typeof this.old)[number];
      if (entry.revision > revision) break;
      this.oldBytes -= entry.bytes;
    }
    if (this.oldFirst > 10_000 && 2 * this.oldFirst > this.old.length) {
      this.old = this.old.slice(this.oldFirst);
      this.oldFirst = 0;
    }
  }

  private requireRoom(): void {
    if (this.quotaBytes !== undefined && this.bytes > this.quotaBytes)
      throw new ApiError(500, undefined, "etcdserver: mvcc: database space exceeded");
  }

  private measure({ key, value, previous, revision }: StoreEvent): void {
    const resource = resourceOfKey(key);
    let size = this.live.get(resource);
    if (size === undefined) this.live.set(resource, (size = { count: 0, bytes: 0 }));
    const before = this.sizes.get(key) ?? 0;
    const after = jsonSize(value);
    if (value === undefined) this.sizes.delete(key);
    else this.sizes.set(key, after);
    size.count += (value === undefined ? 0 : 1) - (previous === undefined ? 0 : 1);
    size.bytes += after - before;
    this.liveBytes += after - before;
    if (previous !== undefined) {
      this.oldBytes += before;
      this.old.push({ revision, bytes: before });
    }
    this.bytesMost = Math.max(this.bytesMost, this.bytes);
  }
}

/** `/registry/pods/default/a` → `pods`; `/registry/deployments.apps/…` → `deployments`. */
const resourceOfKey = (key: string): string => key.split("/", 3)[2]?.split(".", 1)[0] ?? "";
