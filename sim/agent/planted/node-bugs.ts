/** Planted bugs of a node's registration, status and lease, around what they are kept with. */
import { formatTime } from "../../../wire/time.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { Micros } from "../../kernel/types.ts";
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type WrapperBugs, wrappedWith } from "../../planted/planting.ts";
import { unixSeconds } from "../client/event-recorder.ts";
import { conditionsOf } from "../node/conditions.ts";
import type { LeaseOptions, LeasePorts } from "../node/lease-keeper.ts";
import { heartbeatPatch, statusOf } from "../node/node-status.ts";
import type { AgentContext, ApiAnswer, ApiCall, ApiCaller } from "../ports.ts";
import { notAskedYet } from "../runtime/health.ts";

/** What is called, and what is heard of it in the place of the answer. */
type Calling = (inner: ApiCaller, request: ApiCall, done: (answer: ApiAnswer) => void) => void;

const bugsOfNodes = {
  // Whether the node is there was not to be learnt: it is asked for again at the next time.
  "lease-renewed-for-deleted-node": (inner, shows) => {
    const path = nodePath(inner);
    return calling(inner, (api, request, done) =>
      api.call(request, (answer) => {
        const isMissing = answer.status === 404 && request.method === "GET" && request.path === path;
        done(isMissing && shows() ? { status: 0, object: undefined } : answer);
      }),
    );
  },
  "status-not-refreshed-after-reconnect": (inner, shows) => {
    const path = nodePath(inner);
    let sent: JsonObject | undefined;
    return calling(inner, (api, request, done) =>
      api.call(request, (answer) => {
        const { status } = answer;
        if (request.path === `${path}/status` && status === 200) sent = answer.object;
        if (request.path !== path) return done(answer);
        if (status === 404) sent = undefined;
        done(
          request.method === "GET" && status === 200 && sent !== undefined && shows()
            ? { status, object: sent }
            : answer,
        );
      }),
    );
  },
  "ready-blip-on-restart": (inner, shows) => {
    const path = nodePath(inner);
    let isBack = false;
    return calling(inner, (api, request, done) =>
      api.call(request, (answer) => {
        if (request.method === "POST") isBack = answer.status !== 201;
        const isFound = request.method === "GET" && answer.status === 200;
        if (isFound && isBack && shows()) api.call(unready(inner, path, answer.object), () => {});
        if (isFound) isBack = false;
        done(answer);
      }),
    );
  },
  "nodes-conditions-go": (inner, shows) => {
    const path = `${nodePath(inner)}/status`;
    return calling(inner, (api, request, done) =>
      api.call(isPatchOf(request, path) && shows() ? alone(request) : request, done),
    );
  },
  "nodes-labels-go": (inner, shows) => {
    const path = nodePath(inner);
    const labels = { $patch: "replace", ...inner.options.node.labels };
    const contentType = "application/strategic-merge-patch+json";
    return calling(inner, (api, request, done) => {
      if (isPatchOf(request, `${path}/status`) && shows())
        api.call({ method: "PATCH", path, contentType, body: { metadata: { labels } } }, () => {});
      api.call(request, done);
    });
  },
} as const satisfies WrapperBugs<AgentBugName, AgentContext>;

const isPatchOf = ({ method, path }: ApiCall, wanted: string): boolean => method === "PATCH" && path === wanted;

/** The conditions that it tells of are all that there are. */
function alone(request: ApiCall): ApiCall {
  const body = request.body as JsonObject;
  const status = (body["status"] ?? {}) as JsonObject;
  const all = (status["conditions"] ?? []) as readonly JsonObject[];
  if (all.length === 0) return request;
  const own = all.filter(({ type }) => type === "Ready" || String(type).endsWith("Pressure"));
  return { ...request, body: { ...body, status: { ...status, conditions: [...own, { $patch: "replace" }] } } };
}

export const nodeContextWith = (bugs: AgentBugs, context: AgentContext): AgentContext =>
  wrappedWith(context, bugsOfNodes, bugs);

interface LeaseParts {
  readonly options: LeaseOptions;
  readonly ports: LeasePorts;
}

const alwaysMicros: Micros = 10_000_000;
/** In the place of a node that is not there. */
const nobody = { metadata: { uid: "" } };

const bugsOfLeases = {
  "lease-period-vs-grace-flap": ({ options, ports }, shows) => ({
    ports,
    options: {
      ...options,
      get renewMicros() {
        return shows() ? alwaysMicros : options.renewMicros;
      },
    },
  }),
  "lease-without-owner": ({ options, ports }, shows) => ({
    options,
    ports: {
      ...ports,
      node: () => ports.node() ?? (shows() ? nobody : undefined),
      api: {
        call: (request, done) =>
          ports.api.call(request.body === undefined ? request : { ...request, body: owned(request.body) }, done),
      },
    },
  }),
} as const satisfies WrapperBugs<AgentBugName, LeaseParts>;

export const leaseWith = (bugs: AgentBugs, parts: LeaseParts): LeaseParts => wrappedWith(parts, bugsOfLeases, bugs);

const nodePath = ({ options }: AgentContext): string => `/api/v1/nodes/${options.nodeName}`;

function calling(context: AgentContext, call: Calling): AgentContext {
  const around = (api: ApiCaller | undefined): ApiCaller | undefined =>
    api && { call: (request, done) => call(api, request, done) };
  return { ...context, api: around(context.api), heartbeat: around(context.heartbeat) };
}

function unready({ process: { clock } }: AgentContext, path: string, node: JsonObject | undefined): ApiCall {
  const { conditions = [] } = statusOf(node) as { readonly conditions?: readonly JsonObject[] };
  const now = formatTime(unixSeconds(clock, clock.nowMicros()));
  const told = conditionsOf(conditions, { pressures: [], errors: [notAskedYet], now }).conditions;
  const body = heartbeatPatch(
    {},
    told.filter(({ type }) => type === "Ready"),
  );
  return { method: "PATCH", path: `${path}/status`, body, contentType: "application/strategic-merge-patch+json" };
}

/** Nobody is no owner. */
function owned(lease: JsonObject): JsonObject {
  const { ownerReferences = [], ...metadata } = metadataOf(lease);
  const owners = ownerReferences.filter(({ uid }) => uid !== nobody.metadata.uid);
  return {
    ...lease,
    metadata: { ...metadata, ...(owners.length === 0 ? {} : { ownerReferences: owners }) } as JsonObject,
  };
}
