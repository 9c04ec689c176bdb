/** Planted bugs of where pods come from: around what sources tell, and decisions about static pods. */
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type DecisionBugs, decisionsWith, type WrapperBugs, wrappedWith } from "../../planted/planting.ts";
import type { PodSource } from "../pods/held-pod.ts";
import { byAge, type SourceHearer } from "../pods/pod-manager.ts";
import { type StaticPodLaw, staticPodLaw } from "../sources/static-pod.ts";
import { specBugs } from "./spec-bugs.ts";

const bugsOfSources = {
  ...specBugs,
  "evict-forgotten-after-restart": (inner, shows) => {
    const met = new Set<string>();
    const told = (object: JsonObject): JsonObject => {
      const uid = uidOf(object);
      const isNew = !met.has(uid);
      met.add(uid);
      return isNew && shows() ? { ...object, status: { phase: "Pending" } } : object;
    };
    return {
      ...asItIs(inner),
      replace: (source, objects) => inner.replace(source, objects.map(told)),
      changed: (source, object) => inner.changed(source, told(object)),
    };
  },
  // Those that came last are let in first.
  "admission-rejects-running-on-restart": (inner, shows) => ({
    ...asItIs(inner),
    replace(source, objects) {
      if (shows()) for (const object of byAge(objects).toReversed()) inner.changed(source, object);
      inner.replace(source, objects);
    },
  }),
  "static-readd-same-uid-stuck": (inner, shows) => {
    const present = new Map<PodSource, ReadonlySet<string>>();
    const wereGone = new Set<string>();
    return {
      ...asItIs(inner),
      replace(source, objects) {
        const uids = new Set(objects.map(uidOf));
        for (const uid of present.get(source) ?? []) if (source !== "api" && !uids.has(uid)) wereGone.add(uid);
        present.set(source, uids);
        inner.replace(source, shows() ? objects.filter((object) => !wereGone.has(uidOf(object))) : objects);
      },
    };
  },
  "static-removed-while-api-down": (inner, shows) => {
    const known = new Map<PodSource, readonly JsonObject[]>();
    return {
      ...asItIs(inner),
      replace(source, objects) {
        const uids = new Set(objects.map(uidOf));
        const gone = (known.get(source) ?? []).filter((object) => !uids.has(uidOf(object)));
        const all = inner.isSure || !shows() ? objects : [...objects, ...gone];
        known.set(source, all);
        inner.replace(source, all);
      },
    };
  },
} as const satisfies WrapperBugs<AgentBugName, SourceHearer>;

const bugsOfStaticPods = {
  "static-two-running-same-name": () => ({ waitsFor: () => false }),
  "static-uid-collision-or-drift": ({ uidOf: own }) => ({ uidOf: (manifest, origin) => own(manifest, origin, "") }),
} as const satisfies DecisionBugs<AgentBugName, StaticPodLaw>;

export const hearerWith = (bugs: AgentBugs, hearer: SourceHearer): SourceHearer =>
  wrappedWith(hearer, bugsOfSources, bugs);

export const staticPodLawWith: (bugs: AgentBugs) => () => StaticPodLaw = decisionsWith(staticPodLaw, bugsOfStaticPods);

const asItIs = (inner: SourceHearer): SourceHearer => ({
  replace: (source, objects) => inner.replace(source, objects),
  changed: (source, object) => inner.changed(source, object),
  gone: (uid) => inner.gone(uid),
  get isSure() {
    return inner.isSure;
  },
});

const uidOf = (object: JsonObject): string => metadataOf(object).uid ?? "";
