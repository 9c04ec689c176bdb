import type { Micros } from "./types.ts";

/** Whose event it is. The queue counts what an owner has pending, so that a crash need not search for it. */
export interface EventOwner {
  readonly alive: boolean;
  pendingCount: number;
}

const ARITY = 4;
const INITIAL_CAPACITY = 1024;
/** Below this many dead entries a sweep is not worth its pass over the heap. */
const SWEEP_DEAD_MIN = 256;

/**
 * Events ordered by (time, sequence): a 4-ary heap on typed arrays. Equal times fire in the order of
 * their scheduling. A cancelled event stays as a tombstone until it is met, or until tombstones
 * outnumber the living and one sweep drops them all.
 */
export class EventQueue {
  /** Of the event that `pop` took last. */
  poppedSequence = 0;
  poppedOwner: EventOwner | undefined;

  private capacity = INITIAL_CAPACITY;
  private size = 0;
  private deadCount = 0;
  private lastSequence = 0;

  // The heap, by position.
  private times = new Float64Array(INITIAL_CAPACITY);
  private slots = new Int32Array(INITIAL_CAPACITY);

  // What fires, by slot. The sequence breaks ties, and tells a handle from that of an earlier event in its slot.
  private readonly fires: ((() => void) | undefined)[] = [];
  private readonly owners: (EventOwner | undefined)[] = [];
  private sequences = new Float64Array(INITIAL_CAPACITY);
  private freeSlots = new Int32Array(INITIAL_CAPACITY);
  private freeCount = 0;

  /** Events that will still fire. */
  get pendingCount(): number {
    return this.size - this.deadCount;
  }

  /** Sequence of the event pushed last; with `slot` it is the handle to cancel by. */
  get sequence(): number {
    return this.lastSequence;
  }

  /** Returns the slot of the new event. */
  push(time: Micros, owner: EventOwner, fire: () => void): number {
    if (this.size === this.capacity) this.grow();
    const slot = this.freeCount > 0 ? (this.freeSlots[--this.freeCount] as number) : this.fires.length;
    const sequence = ++this.lastSequence;
    this.fires[slot] = fire;
    this.owners[slot] = owner;
    this.sequences[slot] = sequence;
    owner.pendingCount++;
    this.siftUp(this.size++, time, slot);
    return slot;
  }

  /** A no-op when the event has fired, was cancelled, or died with its owner. */
  cancel(slot: number, sequence: number): void {
    if (this.sequences[slot] !== sequence || this.fires[slot] === undefined) return;
    const owner = this.owners[slot] as EventOwner;
    if (!owner.alive) return;
    owner.pendingCount--;
    this.fires[slot] = undefined;
    this.deadCount++;
    this.dropDeadHeads();
    this.sweepIfMostlyDead();
  }

  /** The owner has just died: all that it has pending is dead too. */
  revoke(owner: EventOwner): void {
    this.deadCount += owner.pendingCount;
    owner.pendingCount = 0;
    this.dropDeadHeads();
    this.sweepIfMostlyDead();
  }

  /** Time of the next event that will fire; Infinity when there is none. */
  nextTime(): Micros {
    return this.size === 0 ? Infinity : (this.times[0] as number);
  }

  /** Owner of the next event that will fire. */
  nextOwner(): EventOwner | undefined {
    return this.size === 0 ? undefined : this.owners[this.slots[0] as number];
  }

  /** Takes the next event. Only after `nextTime` has shown that there is one. */
  pop(): () => void {
    const slot = this.slots[0] as number;
    const fire = this.fires[slot] as () => void;
    const owner = this.owners[slot] as EventOwner;
    this.poppedSequence = this.sequences[slot] as number;
    this.poppedOwner = owner;
    owner.pendingCount--;
    this.freeSlot(slot);
    this.removeHead();
    this.dropDeadHeads();
    return fire;
  }

  /** Keeps the head alive, so that looking at it is free. */
  private dropDeadHeads(): void {
    while (this.size > 0) {
      const slot = this.slots[0] as number;
      if (!this.isDead(slot)) return;
      this.deadCount--;
      this.freeSlot(slot);
      this.removeHead();
    }
  }

  private isDead(slot: number): boolean {
    return this.fires[slot] === undefined || !(this.owners[slot] as EventOwner).alive;
  }

  private freeSlot(slot: number): void {
    this.fires[slot] = undefined;
    this.owners[slot] = undefined;
    this.freeSlots[this.freeCount++] = slot;
  }

  private removeHead(): void {
    const last = --this.size;
    if (last === 0) return;
    this.siftDown(0, this.times[last] as number, this.slots[last] as number);
  }

  private siftUp(from: number, time: number, slot: number): void {
    const { times, slots, sequences } = this;
    let position = from;
    while (position > 0) {
      const parent = (position - 1) >> 2;
      const parentTime = times[parent] as number;
      const parentSlot = slots[parent] as number;
      if (parentTime < time) break;
      if (parentTime === time && (sequences[parentSlot] as number) < (sequences[slot] as number)) break;
      times[position] = parentTime;
      slots[position] = parentSlot;
      position = parent;
    }
    times[position] = time;
    slots[position] = slot;
  }

  private siftDown(from: number, time: number, slot: number): void {
    const { times, slots, sequences, size } = this;
    let position = from;
    for (;;) {
      const firstChild = position * ARITY + 1;
      if (firstChild >= size) break;
      const end = firstChild + ARITY < size ? firstChild + ARITY : size;
      let least = firstChild;
      let leastTime = times[firstChild] as number;
      for (let child = firstChild + 1; child < end; child++) {
        const childTime = times[child] as number;
        if (childTime > leastTime) continue;
        if (
          childTime === leastTime &&
          (sequences[slots[child] as number] as number) > (sequences[slots[least] as number] as number)
        ) {
          continue;
        }
        least = child;
        leastTime = childTime;
      }
      const leastSlot = slots[least] as number;
      if (leastTime > time) break;
      if (leastTime === time && (sequences[leastSlot] as number) > (sequences[slot] as number)) break;
      times[position] = leastTime;
      slots[position] = leastSlot;
      position = least;
    }
    times[position] = time;
    slots[position] = slot;
  }

  /** The order (time, sequence) is total, so a rebuilt heap pops as the old one would have. */
  private sweepIfMostlyDead(): void {
    if (this.deadCount < SWEEP_DEAD_MIN || this.deadCount * 2 < this.size) return;
    const { times, slots } = this;
    let kept = 0;
    for (let position = 0; position < this.size; position++) {
      const slot = slots[position] as number;
      if (this.isDead(slot)) {
        this.freeSlot(slot);
        continue;
      }
      times[kept] = times[position] as number;
      slots[kept] = slot;
      kept++;
    }
    this.size = kept;
    this.deadCount = 0;
    for (let position = (kept - 2) >> 2; position >= 0; position--) {
      this.siftDown(position, times[position] as number, slots[position] as number);
    }
  }

  private grow(): void {
    this.capacity *= 2;
    this.times = copyInto(new Float64Array(this.capacity), this.times);
    this.slots = copyInto(new Int32Array(this.capacity), this.slots);
    this.sequences = copyInto(new Float64Array(this.capacity), this.sequences);
    this.freeSlots = copyInto(new Int32Array(this.capacity), this.freeSlots);
  }
}

function copyInto<A extends Float64Array | Int32Array>(target: A, source: A): A {
  target.set(source);
  return target;
}
