import { expect, it } from "vitest";
import type { CriRuntime } from "../../cri/cri-port.ts";
import type { Process } from "../../kernel/types.ts";
import { AgentWorld, type WorldMore } from "../agent-world.fixture.ts";

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
