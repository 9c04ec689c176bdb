/** Planted bugs of volumes and variables, around what they are made with. */
import type { CriRequest } from "../../../wire/cri.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { CriRuntime } from "../../cri/cri-port.ts";
import type { Clock } from "../../kernel/types.ts";
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type WrapperBugs, wrappedWith } from "../../planted/planting.ts";
import type { PodVolumes } from "../pods/pod-volumes.ts";
import type { ApiCaller } from "../ports.ts";
import { CriCaller } from "../runtime/cri-caller.ts";
import type { VolumeContext } from "../runtime/volumes.ts";

type VolumeParts = Pick<VolumeContext, "api" | "cri" | "services">;
type Mounter = Pick<PodVolumes, "mounted">;

const bugsOfParts = {
  "immutable-cache-stale-after-recreate": (inner, shows) => ({
    ...inner,
    api: inner.api && remembering(inner.api, inner.cri.process.clock, shows),
  }),
  "services-not-awaited": ({ services, ...inner }, shows) => ({
    ...inner,
    services: services && {
      inNamespace: (namespace) => services.inNamespace(namespace),
      named: (namespace, name) => services.named(namespace, name),
      *listed() {
        return shows() || (yield* services.listed());
      },
    },
  }),
  "volumes-change-in-pieces": ({ cri, ...inner }, shows) => {
    const runtime = inPieces(cri.runtime, cri.process.clock, shows);
    return { ...inner, cri: new CriCaller(cri.process, runtime, cri.timeoutMicros) };
  },
} as const satisfies WrapperBugs<AgentBugName, VolumeParts>;

const bugsOfMounting = {
  "volumes-stay-as-mounted": (inner, shows) => ({
    *mounted(held) {
      return (held.mounting?.isDone === true && shows()) || (yield* inner.mounted(held));
    },
  }),
} as const satisfies WrapperBugs<AgentBugName, Mounter>;

export const volumePartsWith = (bugs: AgentBugs, parts: VolumeParts): VolumeParts =>
  wrappedWith(parts, bugsOfParts, bugs);

export const podVolumesWith = (bugs: AgentBugs, mounter: Mounter): Mounter =>
  wrappedWith(mounter, bugsOfMounting, bugs);

/** What was immutable once is not asked for again. */
function remembering(api: ApiCaller, clock: Clock, shows: () => boolean): ApiCaller {
  const known = new Map<string, JsonObject>();
  return {
    call(request, done) {
      const { method, path } = request;
      const object = method === "GET" ? known.get(path) : undefined;
      if (object !== undefined && shows()) {
        clock.after(0, () => done({ status: 200, object }));
        return;
      }
      api.call(request, (answer) => {
        if (method === "GET" && answer.object?.["immutable"] === true) known.set(path, answer.object);
        done(answer);
      });
    },
  };
}

/** The directory that a volume is written in beside its place. */
const besidePattern = /\/\.\.([^/]+)/;

/** What is written beside a volume is written into it, and there is nothing to exchange. */
function inPieces(runtime: CriRuntime, clock: Clock, shows: () => boolean): CriRuntime {
  return {
    events: (reader, sink) => runtime.events(reader, sink),
    start(request, done, fail) {
      const { method } = request;
      const { path = "", from = path } = request.message as { readonly path?: string; readonly from?: string };
      if (!besidePattern.test(from) || !shows()) return runtime.start(request, done, fail);
      if (method === "RemovePath" || method === "RenamePath")
        return clock.after(0, () => done({ ok: true, message: {} }));
      const message = { ...request.message, path: path.replace(besidePattern, "/$1") };
      return runtime.start({ method, message } as CriRequest, done, fail);
    },
  };
}
