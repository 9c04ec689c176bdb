import { describe, expect, it } from "vitest";
import { type Authorizer, decidedAtOnce } from "../apiserver/access/authorize.ts";
import type { ApiHandler, JsonObject, Payload } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { kubernetesProfile, type Profile, svcProfile } from "../contract/profile.ts";
import { configMaps, TestBed } from "../apiserver/test-bed.fixture.ts";
import { Kernel } from "../kernel/kernel.ts";
import { ControlClient } from "./control-client.ts";
import { noControllers } from "../control/controllers.ts";
import type { CollectionHearer } from "./reflector.ts";
import { Reflectors } from "./reflectors.ts";

const path = "/api/v1/configmaps";
const all = { as: "admin" };

/** Notes what it hears. */
class Notes implements CollectionHearer {
  readonly heard: string[] = [];

  replaced(objects: readonly JsonObject[]): void {
    const ours = objects.map(nameOf).filter((name) => !name.startsWith("kube-")); // the server keeps one of its own
    this.heard.push(`= ${ours.join(" ")}`);
  }

  changed(object: JsonObject): void {
    this.heard.push(`+ ${nameOf(object)}`);
  }

  gone(object: JsonObject): void {
    this.heard.push(`- ${nameOf(object)}`);
  }

  take(): readonly string[] {
    return this.heard.splice(0);
  }
}

const nameOf = (object: JsonObject): string => metadataOf(object).name ?? "";

function play(profile: Profile = kubernetesProfile, options: ConstructorParameters<typeof TestBed>[0] = {}) {
  const bed = new TestBed({ profile, controllers: noControllers, ...options });
  const process = bed.kernel.process("controllers");
  const client = new ControlClient({ process, server: bed.server, dialect: profile.dialect, account: "test" });
  const make = (name: string): void => void bed.ask(`POST ${configMaps}`, { ...all, body: { metadata: { name } } });
  return { bed, process, client, reflectors: new Reflectors(client), make };
}

describe("a reflector", () => {
  it.each([svcProfile, kubernetesProfile])("tells of all there is, then of every change ($name)", (profile) => {
    const { bed, reflectors, make } = play(profile);
    const notes = new Notes();
    make("a");
    reflectors.follow(path, notes);
    reflectors.start();
    make("b");
    bed.ask(`DELETE ${configMaps}/a`, all);
    expect(notes.take()).toEqual(["= a", "+ b", "- a"]);
    bed.advance(7 * 86_400); // watches end, and go on where they were
    make("c");
    expect(notes.take()).toEqual(["+ c"]);
  });

  it.each(["response", "event"])("lists again when its history has been lost, and is told so by a %s", (by) => {
    const kernel = new Kernel({ seed: "reflector" });
    const process = kernel.process("controllers");
    const asked: string[] = [];
    const payload = (object: JsonObject): Payload => ({ object, contentType: "", bytes: () => new Uint8Array() });
    const gone = { kind: "Status", code: 410 };
    const server: ApiHandler = {
      start({ query }, responder) {
        asked.push(query.replace(/.*resourceVersion=/, "watch "));
        const lists = asked.filter((each) => each === "").length;
        const item = { metadata: { name: `v${lists}` } };
        if (query === "")
          responder.respond(200, {}, payload({ metadata: { resourceVersion: `${lists}` }, items: [item] }));
        else if (lists > 1) responder.open(200, {});
        else if (by === "response") responder.respond(410, {}, payload(gone));
        else {
          responder.open(200, {});
          responder.frame(payload({ type: "ERROR", object: gone }));
          responder.close();
        }
        return () => {};
      },
    };
    const { dialect } = kubernetesProfile;
    const reflectors = new Reflectors(new ControlClient({ process, server, dialect, account: "test" }));
    const notes = new Notes();
    reflectors.follow(path, notes);
    kernel.enter(process, () => reflectors.start());
    kernel.run(60_000_000);
    expect(asked).toEqual(["", "watch 1", "", "watch 2"]);
    expect(notes.take()).toEqual(["= v1", "= v2"]);
  });

  it.each([
    ["refused", 0],
    ["ended", 0],
    ["ended after an event", 0],
    ["ended a moment after an event", 1_000],
  ])("asks less and less often where every watch is %s", (how, lastsMicros) => {
    const kernel = new Kernel({ seed: "reflector" });
    const process = kernel.process("controllers");
    const listed: number[] = [];
    const payload = (object: JsonObject): Payload => ({ object, contentType: "", bytes: () => new Uint8Array() });
    const server: ApiHandler = {
      start({ query }, responder) {
        if (query === "") {
          listed.push(kernel.nowMicros());
          if (listed.length > 99) throw new Error("it would go on for ever");
          responder.respond(200, {}, payload({ metadata: { resourceVersion: "1" }, items: [] }));
        } else if (how === "refused") responder.respond(410, {}, payload({ kind: "Status", code: 410 }));
        else {
          responder.open(200, {});
          const object = { metadata: { name: "a", resourceVersion: "1" } };
          if (how.includes("event")) responder.frame(payload({ type: "ADDED", object }));
          const end = (): void => {
            responder.frame(payload({ type: "ERROR", object: { kind: "Status", code: 410 } }));
            responder.close();
          };
          if (lastsMicros === 0) end();
          else process.clock.after(lastsMicros, end);
        }
        return () => {};
      },
    };
    const { dialect } = kubernetesProfile;
    const reflectors = new Reflectors(new ControlClient({ process, server, dialect, account: "test" }));
    reflectors.follow(path, new Notes());
    kernel.enter(process, () => reflectors.start());
    kernel.run(60_000_000);
    expect(listed).toEqual([0, 0, 1, 3, 7, 15, 31].map((seconds, at) => seconds * 1_000_000 + at * lastsMicros));
  });

  it("follows a collection once for all who listen, and tells the late ones of all there is", () => {
    const { bed, reflectors, make } = play();
    const [early, late] = [new Notes(), new Notes()];
    reflectors.follow(path, early);
    reflectors.start();
    const watches = bed.server.runsInFlight;
    make("a");
    early.take();
    const leave = reflectors.follow(path, late);
    expect([late.take(), bed.server.runsInFlight]).toEqual([["= a"], watches]);
    make("b");
    expect([early.take(), late.take()]).toEqual([["= a", "+ b"], ["+ b"]]);
    leave();
    make("c");
    expect([early.take(), late.take(), bed.server.runsInFlight]).toEqual([["+ c"], [], watches]);
  });

  it("is synced once everything has been listed, and asks a server that refuses less and less often", () => {
    const refused: number[] = [];
    let allows = false;
    const authorizer: Authorizer = decidedAtOnce(() => {
      if (!allows) refused.push(bed.kernel.nowMicros() / 1_000_000);
      return allows ? { allowed: true, reason: "" } : { allowed: false, denied: false, reason: "" };
    });
    const { bed, reflectors } = play(kubernetesProfile, { authorizer });
    let synced = 0;
    reflectors.follow(path, new Notes());
    reflectors.start();
    reflectors.onceSynced(() => synced++);
    bed.advance(100);
    expect(refused).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
    allows = true;
    bed.advance(30);
    expect(synced).toBe(1);
  });

  it("hears nothing any more once its process has died", () => {
    const { bed, reflectors, make, process } = play();
    const notes = new Notes();
    reflectors.follow(path, notes);
    reflectors.start();
    process.crash();
    expect(bed.server.runsInFlight).toBe(0);
    make("a");
    bed.advance(3600);
    expect(notes.take()).toEqual(["= "]);
  });
});
