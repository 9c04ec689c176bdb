import { expect, it } from "vitest";
import type { CriRuntime } from "../../cri/cri-port.ts";
import type { Process } from "../../kernel/types.ts";
import { defaultAgentOptions } from "../agent-options.ts";
import { AgentWorld, type WorldMore } from "../agent-world.fixture.ts";
import type { PodOptions } from "../ports.ts";

const spec = { containers: [{ name: "c", image: "a.example.com/team/web:1", imagePullPolicy: "Always" }] };
const failing = { ok: false as const, code: 2, text: "unauthorized" };

/** A registry that lets in one user alone. */
const guarded =
  (user: string) =>
  (inner: CriRuntime, machine: Process): CriRuntime => ({
    start(request, done, fail) {
      const { auth } = request.message as { auth?: { username?: string } };
      if (request.method !== "PullImage") return inner.start(request, done, fail);
      return machine.clock.after(0, () => {
        seen.push(auth?.username);
        done(auth?.username === user ? { ok: true, message: { imageRef: "sha256:web" } } : failing);
      });
    },
    events: (reader, sink) => inner.events(reader, sink),
  });

const seen: (string | undefined)[] = [];

function worldWith(credentials: WorldMore["credentials"], user: string): AgentWorld {
  seen.length = 0;
  const world = new AgentWorld({}, undefined, {
    around: guarded(user),
    ...(credentials === undefined ? {} : { credentials }),
  });
  world.runtime.images.set("a.example.com/team/web:1", {});
  world.create("p", spec);
  world.run(10);
  return world;
}

it("an image is pulled with the credentials that are known, one after another, until a registry takes them", () => {
  const asked: string[] = [];
  const world = worldWith((image, done) => {
    asked.push(image);
    done(["narrow", "wide", "unused"].map((username) => ({ username, password: "p" })));
    return () => {};
  }, "wide");
  expect(asked).toEqual(["a.example.com/team/web:1"]);
  expect(seen).toEqual(["narrow", "wide"]);
  expect(world.status("p")).toMatchObject({ phase: "Running" });
});

it("without any credentials it is pulled as it is, and what no registry takes is told", () => {
  const unknown = worldWith(undefined, "somebody");
  expect([...new Set(seen)]).toEqual([undefined]);
  expect(unknown.status("p")).toMatchObject({
    containerStatuses: [
      { state: { waiting: { reason: "ErrImagePull", message: expect.stringContaining("unauthorized") } } },
    ],
  });
});

/** Pulls that take three seconds each, and when each was asked for. */
const slow =
  (asked: { readonly image: string; readonly atSeconds: number }[]) =>
  (inner: CriRuntime, machine: Process): CriRuntime => ({
    start(request, done, fail) {
      if (request.method !== "PullImage") return inner.start(request, done, fail);
      const { image } = request.message as { image: { image: string } };
      asked.push({ image: image.image, atSeconds: Math.floor(machine.clock.nowMicros() / 1_000_000) });
      return machine.clock.after(3_000_000, () => done({ ok: true, message: { imageRef: `sha256:${image.image}` } }));
    },
    events: (reader, sink) => inner.events(reader, sink),
  });

function pulling(pods: Partial<PodOptions>, names: readonly string[]) {
  const asked: { readonly image: string; readonly atSeconds: number }[] = [];
  const world = new AgentWorld({ pods: { ...defaultAgentOptions("n1").pods, ...pods } }, undefined, {
    around: slow(asked),
  });
  for (const name of names) {
    world.runtime.images.set(`a.example.com/${name}:1`, {});
    world.create(name, { containers: [{ name: "c", image: `a.example.com/${name}:1`, imagePullPolicy: "Always" }] });
  }
  world.run(12);
  return { asked, world };
}

it("images are pulled one after another where that is asked for, and side by side where not", () => {
  const times = (asked: readonly { readonly atSeconds: number }[]) =>
    asked.map(({ atSeconds }) => atSeconds - (asked[0]?.atSeconds ?? 0));
  expect(times(pulling({ serializeImagePulls: true }, ["a", "b", "c"]).asked)).toEqual([0, 3, 6]);
  expect(times(pulling({ serializeImagePulls: false }, ["a", "b", "c"]).asked)).toEqual([0, 0, 0]);
  expect(times(pulling({ serializeImagePulls: false, parallelImagePullsMax: 2 }, ["a", "b", "c"]).asked)).toEqual([
    0, 0, 3,
  ]);
});

it("the registry's rate is asked when a pull's turn has come, and refuses it without a wait", () => {
  const refused = (registryQps: number): number => {
    const names = ["a", "b", "c"];
    const { world } = pulling({ serializeImagePulls: true, registryQps, registryBurst: 1 }, names);
    return names.filter((name) => JSON.stringify(world.status(name)).includes("pull QPS exceeded")).length;
  };
  // Turns come three seconds apart: one pull in two seconds is enough for all, one in a hundred for the first alone.
  expect(refused(0.5)).toBe(0);
  expect(refused(0.01)).toBe(2);
});
