/**
 * Who is bound, by the bindings of one scope: by their subjects, of whom there may be hundreds of thousands. A binding that changes
 * is put in anew, and no other; much is put in some at a time.
 */
import type { JsonObject } from "../../../contract/http-message.ts";

export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface Grant<Bound> {
  readonly bound: Bound;
  readonly subject: Subject;
}

/** What is done for each binding once. Both say how many subjects that was as long as. */
export interface Readying<Bound> {
  /** Before it is put in. */
  put(bound: Bound): number;
  /** When it has been taken out. */
  taken(bound: Bound): number;
}

/** Subjects that are put in, or taken out, before others have their turn. */
const subjectsPerTurn = 20_000;

const noBindings: readonly JsonObject[] = [];

export class Grants<Bound> {
  private readonly namespace: string;
  private readonly boundBy: (binding: JsonObject) => Bound;
  private readonly readying: Readying<Bound>;
  private readonly users = new Map<string, Grant<Bound>[]>();
  private readonly groups = new Map<string, Grant<Bound>[]>();
  /** What is in. */
  private bindings = noBindings;
  private update: Generator<void, void> | undefined;

  /**
   * In the scope of `namespace`, which accounts without one are in. `boundBy` gives the same for a binding each time.
   */
  constructor(namespace: string, boundBy: (binding: JsonObject) => Bound, readying: Readying<Bound>) {
    this.namespace = namespace;
    this.boundBy = boundBy;
    this.readying = readying;
  }

  /** In the order of the bindings. Of those that were last put in as a whole. */
  ofUser(name: string): readonly Grant<Bound>[] | undefined {
    return this.users.get(name);
  }

  ofGroup(name: string): readonly Grant<Bound>[] | undefined {
    return this.groups.get(name);
  }

  /** Does a part of what is left to put these bindings in; whether that was all. */
  advance(bindings: readonly JsonObject[]): boolean {
    if (this.update === undefined) {
      if (this.bindings === bindings) return true;
      this.update = this.updated(this.bindings, bindings);
      this.bindings = bindings;
    }
    if (this.update.next().done !== true) return false;
    this.update = undefined;
    return this.bindings === bindings; // others may have come meanwhile
  }

  private *updated(before: readonly JsonObject[], after: readonly JsonObject[]): Generator<void, void> {
    const [old, now] = [new Set(before), new Set(after)];
    const gone = new Set(before.filter((binding) => !now.has(binding)).map(this.boundBy));
    const places = new Map<Bound, number>(after.map((binding, place) => [this.boundBy(binding), place]));
    const touched = new Set<Grant<Bound>[]>();
    let left = subjectsPerTurn;
    for (const binding of before) {
      if (now.has(binding)) continue;
      for (const subject of subjectsOf(binding)) {
        const grants = this.listOf(subject).get(this.nameOf(subject));
        if (grants !== undefined) touched.add(grants);
        if (left-- <= 0) {
          left = subjectsPerTurn;
          yield;
        }
      }
    }
    for (const grants of touched) {
      left -= grants.length;
      keepOnly(grants, ({ bound }) => !gone.has(bound));
      if (left <= 0) {
        left = subjectsPerTurn;
        yield;
      }
    }
    for (const bound of gone) {
      left -= this.readying.taken(bound);
      if (left <= 0) {
        left = subjectsPerTurn;
        yield;
      }
    }
    const unordered = new Set<Grant<Bound>[]>();
    for (const binding of after) {
      if (old.has(binding)) continue;
      const bound = this.boundBy(binding);
      const place = places.get(bound) as number;
      left -= this.readying.put(bound);
      for (const subject of subjectsOf(binding)) {
        const [list, name] = [this.listOf(subject), this.nameOf(subject)];
        const grants = list.get(name);
        const last = grants?.at(-1);
        if (grants === undefined) list.set(name, [{ bound, subject }]);
        else grants.push({ bound, subject });
        if (grants !== undefined && last !== undefined && (places.get(last.bound) as number) > place)
          unordered.add(grants);
        if (left-- <= 0) {
          left = subjectsPerTurn;
          yield;
        }
      }
    }
    for (const grants of unordered) {
      left -= grants.length;
      grants.sort((one, other) => (places.get(one.bound) as number) - (places.get(other.bound) as number));
      if (left <= 0) {
        left = subjectsPerTurn;
        yield;
      }
    }
    yield* this.withoutEmpty(gone.size > 0 ? before : noBindings, now);
  }

  /** Whoever nothing is left of is forgotten. */
  private *withoutEmpty(before: readonly JsonObject[], now: ReadonlySet<JsonObject>): Generator<void, void> {
    let left = subjectsPerTurn;
    for (const binding of before) {
      if (now.has(binding)) continue;
      for (const subject of subjectsOf(binding)) {
        const [list, name] = [this.listOf(subject), this.nameOf(subject)];
        if (list.get(name)?.length === 0) list.delete(name);
        if (left-- <= 0) {
          left = subjectsPerTurn;
          yield;
        }
      }
    }
  }

  private listOf({ kind }: Subject): Map<string, Grant<Bound>[]> {
    return kind === "Group" ? this.groups : this.users;
  }

  /** A service account is the user that its name makes; it lives in the binding's namespace unless it says another. */
  private nameOf({ kind, name, namespace }: Subject): string {
    return kind === "ServiceAccount" ? `system:serviceaccount:${namespace ?? this.namespace}:${name}` : name;
  }
}

const subjectsOf = (binding: JsonObject): readonly Subject[] =>
  (binding["subjects"] ?? []) as unknown as readonly Subject[];

function keepOnly<Item>(items: Item[], isKept: (item: Item) => boolean): void {
  let count = 0;
  for (const item of items) if (isKept(item)) items[count++] = item;
  items.length = count;
}
