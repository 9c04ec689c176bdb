import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { TestBed } from "../../apiserver/test-bed.fixture.ts";
import type { Process } from "../../kernel/types.ts";
import type { StoreEvent } from "../../store/types.ts";
import { noControllers, startControllers } from "../controllers.ts";
import { foregroundFinalizer } from "./graph.ts";

const place = "/api/v1/namespaces/default/configmaps";
const admin = { as: "admin" };
const policies = ["Background", "Foreground", "Orphan"] as const;

type Operation =
  /** `owners` are numbers of objects; one that was never made stands for an owner that never was. */
  | { readonly is: "make"; readonly owners: readonly number[]; readonly blocks: boolean }
  | { readonly is: "adopt"; readonly child: number; readonly owner: number; readonly blocks: boolean }
  | { readonly is: "delete"; readonly object: number; readonly policy: (typeof policies)[number] };

const number = fc.nat({ max: 11 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant("make" as const),
      owners: fc.uniqueArray(number, { maxLength: 3 }),
      blocks: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constant("adopt" as const), child: number, owner: number, blocks: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ is: fc.constant("delete" as const), object: number, policy: fc.constantFrom(...policies) }),
  },
);

/** A server, and the garbage collector in a process of its own. */
class Play {
  readonly bed: TestBed;
  readonly uids: string[] = [];
  private controllers: Process | undefined;

  constructor(answerMicros: number) {
    const costs = { seatMicros: () => 0, answerMicros: () => answerMicros };
    this.bed = new TestBed({ profile: kubernetesProfile, controllers: noControllers, costs });
    this.startController();
    this.bed.advance(1);
  }

  restart(): void {
    this.controllers?.crash();
    this.startController();
  }

  carryOut(made: Operation): void {
    if (made.is === "make") {
      const name = `object-${this.uids.length}`;
      const ownerReferences = made.owners.map((owner) => this.reference(owner, made.blocks));
      this.uids.push(this.write(`POST ${place}`, { metadata: { name, ownerReferences } }));
    } else if (made.is === "delete") {
      this.write(`DELETE ${place}/object-${made.object}?propagationPolicy=${made.policy}`);
    } else if (this.uids[made.owner] !== undefined) {
      const ownerReferences = [this.reference(made.owner, made.blocks)];
      this.write(`PATCH ${place}/object-${made.child}`, { metadata: { ownerReferences } });
    }
  }

  objects(): readonly JsonObject[] {
    const { store } = this.bed;
    const range = store.range("/registry/configmaps/default/", "/registry/configmaps/default0");
    return typeof range === "string" ? [] : range.items.map(({ value }) => value as JsonObject);
  }

  private startController(): void {
    const { kernel, server } = this.bed;
    this.controllers = kernel.process("controllers");
    const options = { process: this.controllers, server, dialect: kubernetesProfile.dialect };
    kernel.enter(this.controllers, () => startControllers({ ...options, switches: { disruption: false } }));
  }

  private reference(owner: number, blockOwnerDeletion: boolean): object {
    const uid = this.uids[owner] ?? `never-${owner}`;
    return { apiVersion: "v1", kind: "ConfigMap", name: `object-${owner}`, uid, blockOwnerDeletion };
  }

  /** The write is committed at once, whenever its answer comes. */
  private write(request: string, body?: object): string {
    const headers = { "content-type": "application/strategic-merge-patch+json" };
    this.bed.ask(request, { ...admin, ...(request.startsWith("PATCH") ? { headers } : {}), body });
    const name = (body as { metadata: { name?: string } } | undefined)?.metadata.name;
    return (
      this.objects().flatMap((object) => (metadataOf(object).name === name ? [metadataOf(object).uid ?? ""] : []))[0] ??
      ""
    );
  }
}

/** Objects by number, each with the numbers of its owners; -1 for owners that never were. */
class Model {
  readonly owners = new Map<number, Set<number>>();
  private count = 0;

  carryOut(made: Operation): void {
    if (made.is === "make") {
      const number = this.count++;
      this.owners.set(number, new Set(made.owners));
    } else if (made.is === "adopt") {
      if (made.owner < this.count) this.owners.get(made.child)?.add(made.owner);
    } else if (this.owners.delete(made.object) && made.policy === "Orphan") {
      for (const owners of this.owners.values()) owners.delete(made.object);
    }
    this.settle();
  }

  /** What has owners and none of them any more goes; the others forget those that are absent. */
  private settle(): void {
    for (let settled = false; !settled; ) {
      settled = true;
      for (const [number, owners] of this.owners) {
        if (owners.size === 0 || [...owners].some((owner) => this.owners.has(owner))) continue;
        this.owners.delete(number);
        settled = false;
      }
    }
    for (const owners of this.owners.values()) {
      for (const owner of owners) if (!this.owners.has(owner)) owners.delete(owner);
    }
  }

  text(): string {
    return textOf(
      [...this.owners].map(([number, owners]) => [`object-${number}`, [...owners].map((owner) => `object-${owner}`)]),
    );
  }
}

function textOf(rows: readonly (readonly [name: string, owners: readonly string[]])[]): string {
  return rows
    .map(([name, owners]) => `${name} of ${[...owners].sort().join(" ")}`)
    .sort()
    .join("\n");
}

/** Nobody owns himself: such an owner would wait for itself for ever, as it does in a real cluster. */
function isSound(made: Operation, objectCount: number): boolean {
  if (made.is === "make") return !made.owners.includes(objectCount);
  return made.is !== "adopt" || made.owner !== made.child;
}

describe("garbage collection", () => {
  it("comes to what a naive model says, after every operation", () => {
    const property = fc.property(fc.array(operation, { minLength: 2, maxLength: 14 }), (operations) => {
      const play = new Play(0);
      const model = new Model();
      for (const made of operations) {
        if (!isSound(made, play.uids.length)) continue;
        play.carryOut(made);
        model.carryOut(made);
        play.bed.advance(5);
        const rows = play.objects().map((object) => {
          const { name = "", ownerReferences = [] } = metadataOf(object);
          return [name, ownerReferences.map((owner) => owner.name)] as const;
        });
        expect(textOf(rows)).toBe(model.text());
      }
    });
    fc.assert(property, { seed: 11, numRuns: 80 });
  }, 60_000);

  const step = fc.oneof(
    { weight: 6, arbitrary: operation },
    { weight: 3, arbitrary: fc.record({ is: fc.constant("pass" as const), millis: fc.integer({ min: 1, max: 30 }) }) },
    { weight: 1, arbitrary: fc.constant({ is: "crash" as const }) },
  );

  it("keeps what is owned and leaves no garbage, in any interleaving, and when its process crashes", () => {
    const property = fc.property(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.constantFrom(0, 1_000, 4_000),
      (steps, answerMicros) => {
        const play = new Play(answerMicros);
        const judge = new Judge(play);
        for (const made of steps) {
          if (made.is === "pass") play.bed.advance(made.millis / 1000);
          else if (made.is === "crash") play.restart();
          else if (isSound(made, play.uids.length)) {
            judge.asked(made);
            play.carryOut(made);
          }
        }
        play.bed.advance(120);
        expect(judge.wrongs).toEqual([]);
        expect(judge.garbage()).toEqual([]);
        expect(play.objects().filter((object) => metadataOf(object).deletionTimestamp !== undefined)).toEqual([]);
      },
    );
    fc.assert(property, { seed: 12, numRuns: 80 });
  }, 60_000);

  it("is found wanting by the judge when it does not run, or deletes too much", () => {
    const play = new Play(0);
    const judge = new Judge(play);
    for (const owners of [[], [0], [9]]) play.carryOut({ is: "make", owners, blocks: false });
    expect(judge.garbage()).toEqual(["object-2"]);
    play.carryOut({ is: "delete", object: 1, policy: "Background" }); // the judge was not told that anybody asked for it
    expect(judge.wrongs).toEqual(["object-1 went while object-0 was there"]);
  });
});

/** Watches every write: whether anything goes that somebody still owns, or goes before what blocks it. */
class Judge {
  readonly wrongs: string[] = [];
  private readonly play: Play;
  /** By name, how a user has asked for the deletion. */
  private readonly requests = new Map<string, Set<string>>();

  constructor(play: Play) {
    this.play = play;
    play.bed.store.subscribe((event) => this.hear(event));
  }

  asked(made: Operation): void {
    if (made.is !== "delete") return;
    const name = `object-${made.object}`;
    this.requests.set(name, (this.requests.get(name) ?? new Set()).add(made.policy));
  }

  /** What has owners, all of them absent. */
  garbage(): readonly string[] {
    const alive = new Set(this.play.objects().map((object) => metadataOf(object).uid));
    return this.play.objects().flatMap((object) => {
      const { name = "", ownerReferences = [] } = metadataOf(object);
      return ownerReferences.length > 0 && !ownerReferences.some(({ uid }) => alive.has(uid)) ? [name] : [];
    });
  }

  private hear({ key, value, previous }: StoreEvent): void {
    if (!key.startsWith("/registry/configmaps/") || value !== undefined || previous === undefined) return;
    const { name = "", uid = "", ownerReferences = [], finalizers = [] } = metadataOf(previous as JsonObject);
    const requests = this.requests.get(name);
    const others = this.play.objects();
    if (requests === undefined) {
      for (const owner of ownerReferences) {
        const solid = others.some((other) => metadataOf(other).uid === owner.uid && !waits(other));
        if (solid) this.wrongs.push(`${name} went while ${owner.name} was there`);
      }
    }
    if (!finalizers.includes(foregroundFinalizer) || requests?.has("Background") || requests?.has("Orphan")) return;
    for (const other of others) {
      const blocks = metadataOf(other).ownerReferences?.some(
        (owner) => owner.uid === uid && owner.blockOwnerDeletion === true,
      );
      if (blocks === true) this.wrongs.push(`${name} went before ${metadataOf(other).name}, which blocks it`);
    }
  }
}

function waits(object: JsonObject): boolean {
  const { deletionTimestamp, finalizers = [] } = metadataOf(object);
  return deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer);
}
