/** Pods that the API server has bound to the node. Source: the facts, Pod sources. */
import { Reflector } from "../../client/reflector.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { AgentApi } from "../client/agent-api.ts";
import { follow } from "../client/followed.ts";
import { agentsHabits } from "../client/reflector-habits.ts";
import { turns } from "../piece.ts";
import type { Container, PodSpec } from "../pods/pod-types.ts";
import type { MirrorPods } from "./mirror-pods.ts";
import { withPlainNumbers } from "./plain-numbers.ts";

export interface ApiSourceOptions {
  readonly api: AgentApi;
  readonly nodeName: string;
  readonly mirrors: MirrorPods;
  /** The node has to be known first. */
  readonly isNodeKnown: () => boolean;
  readonly replace: (objects: readonly JsonObject[]) => void;
  readonly changed: (object: JsonObject) => void;
  readonly gone: (uid: string) => void;
  /** `before`: what was known of a mirror of this name. */
  readonly mirrorChanged: (mirror: JsonObject, before?: JsonObject) => void;
}

const path = "/api/v1/pods";
const checkMicros = 1_000_000;

export function startApiSource(options: ApiSourceOptions): void {
  const { api, nodeName, isNodeKnown } = options;
  const selector = `fieldSelector=${encodeURIComponent(`spec.nodeName=${nodeName}`)}`;
  const habits = agentsHabits(api.process, path, selector);
  const reflector = new Reflector(api, path, hearerOf(options), habits);
  turns(api.process, "pod-source", "wait for the node", checkMicros, (next) => {
    if (isNodeKnown()) follow(api.process, path, reflector);
    else next(checkMicros);
  });
}

function hearerOf({ mirrors, replace, changed, gone, mirrorChanged }: ApiSourceOptions) {
  return {
    replaced(all: readonly JsonObject[]): void {
      const objects = all.filter(isWhole).map(withPlainNumbers);
      const present = objects.filter((object) => mirrors.isMirror(object));
      const names = new Set(present.map(nameOf));
      const lost: JsonObject[] = [];
      for (const name of mirrors.names()) {
        const known = mirrors.get(name);
        if (known === undefined || names.has(nameOf(known))) continue;
        mirrors.gone(known);
        lost.push(known);
      }
      for (const mirror of present) mirrors.heard(mirror);
      replace(objects.filter((object) => !mirrors.isMirror(object)));
      for (const mirror of [...present, ...lost]) mirrorChanged(mirror);
    },
    changed(told: JsonObject): void {
      if (!isWhole(told)) return;
      const object = withPlainNumbers(told);
      if (!mirrors.isMirror(object)) {
        changed(object);
        return;
      }
      mirrorChanged(object, mirrors.heard(object));
    },
    gone(object: JsonObject): void {
      if (mirrors.isMirror(object)) {
        mirrors.gone(object);
        mirrorChanged(object);
      } else gone(metadataOf(object).uid ?? "");
    },
  };
}

const nameOf = (object: JsonObject): string => `${metadataOf(object).namespace} ${metadataOf(object).name}`;

/** Whether it has what every stored pod has. No server stores any other, and what it should have been nobody knows. */
function isWhole(object: JsonObject): boolean {
  const { name = "", namespace = "", uid = "" } = metadataOf(object);
  if (name === "" || namespace === "" || uid === "") return false;
  const spec = (object["spec"] ?? {}) as Partial<PodSpec>;
  const { containers, initContainers, ephemeralContainers } = spec;
  const isRunnable = (each: Container): boolean => each.name !== "" && (each.image ?? "") !== "";
  const lists = [containers ?? [], initContainers ?? [], ephemeralContainers ?? []];
  return (containers?.length ?? 0) > 0 && lists.every((list) => list.every(isRunnable));
}
