/** What can be seen of a pod's life, as the rows of a recording: its statuses, its events, and the calls of its runtime. */
import type { CriAnswer, CriRequest } from "../../../wire/cri.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { CriRuntime } from "../../cri/cri-port.ts";

export interface Seen {
  /** Seconds since the pod was made. */
  readonly at: number;
  readonly text: string;
}

export interface Scenario {
  readonly name: string;
  readonly spec: JsonObject;
  readonly steps: readonly number[];
}

/** The image of most recorded containers. */
export const box = "docker.io/local/box:1";

/** The pod of a scenario, on the recorded node. */
export function recordedPod({ name, spec }: Scenario): JsonObject {
  const text = JSON.stringify(spec)
    .replaceAll('"image": "box"', `"image":"${box}"`)
    .replaceAll('"image":"box"', `"image":"${box}"`);
  const own = JSON.parse(text) as JsonObject;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: name.startsWith("static") ? own : { dnsPolicy: "Default", ...own, nodeName: "n1" },
  };
}

/** Pairs of rows, one of the recording and one of the replay, that say the same in the same order: as many as there are. */
export function pairs(one: readonly Seen[], other: readonly Seen[]): readonly (readonly [Seen, Seen])[] {
  const lengths = one.map(() => new Uint16Array(other.length + 1));
  lengths.push(new Uint16Array(other.length + 1));
  for (let at = one.length - 1; at >= 0; at--) {
    for (let to = other.length - 1; to >= 0; to--) {
      lengths[at]![to] =
        one[at]!.text === other[to]!.text
          ? lengths[at + 1]![to + 1]! + 1
          : Math.max(lengths[at + 1]![to]!, lengths[at]![to + 1]!);
    }
  }
  const found: (readonly [Seen, Seen])[] = [];
  for (let at = 0, to = 0; at < one.length && to < other.length; ) {
    if (one[at]!.text === other[to]!.text) found.push([one[at++]!, other[to++]!]);
    else if (lengths[at + 1]![to]! >= lengths[at]![to + 1]!) at++;
    else to++;
  }
  return found;
}

const known = [
  "RunPodSandbox",
  "StopPodSandbox",
  "RemovePodSandbox",
  "CreateContainer",
  "StartContainer",
  "StopContainer",
  "RemoveContainer",
  "ExecSync",
];

interface CallRow {
  /** `namespace/name`. */
  readonly pod: string;
  readonly at: number;
  text: string;
}

/** Calls about pods, written down on their way to a runtime. */
export class CallRows {
  readonly rows: CallRow[] = [];
  /** Undefined: nothing is written down yet. */
  private readonly at: () => number | undefined;
  private readonly sandboxes = new Map<string, string>();
  private readonly containers = new Map<string, { readonly pod: string; readonly label: string }>();
  private readonly counts = new Map<string, number>();

  constructor(at: () => number | undefined) {
    this.at = at;
  }

  watched(runtime: CriRuntime): CriRuntime {
    return {
      events: (reader, sink) => runtime.events(reader, sink),
      start: (request, done, fail) => {
        const row = this.note(request);
        return runtime.start(
          request,
          (answer) => {
            this.noteAnswer(request, answer, row);
            done(answer);
          },
          fail,
        );
      },
    };
  }

  private note({ method, message }: CriRequest): CallRow | undefined {
    const at = this.at();
    if (!known.includes(method) || at === undefined) return undefined;
    const fields = message as CallFields;
    const { name = "", namespace = "", attempt = 0 } = fields.config?.metadata ?? {};
    const there = this.containers.get(fields.containerId ?? "");
    const container = method === "CreateContainer" ? `${name}#${attempt}` : there?.label;
    const pod =
      method === "RunPodSandbox"
        ? `${namespace}/${name}`
        : (there?.pod ?? this.sandboxes.get(fields.podSandboxId ?? "") ?? "");
    if (method === "ExecSync") {
      const key = `${pod} ${container}`;
      const count = (this.counts.get(key) ?? 0) + 1;
      this.counts.set(key, count);
      if (count > 6) return undefined;
    }
    // Over a socket what is not told is zero.
    const { timeout = 0 } = fields;
    const words = [method, container, timeout === 0 ? undefined : `timeout ${timeout}`];
    const row = { pod, at, text: words.filter((word) => word !== undefined).join(" ") };
    this.rows.push(row);
    return row;
  }

  private noteAnswer({ method, message }: CriRequest, answer: CriAnswer, row: CallRow | undefined): void {
    const { config, podSandboxId = "" } = message as CallFields;
    const { name = "", namespace = "", attempt = 0 } = config?.metadata ?? {};
    if (method === "RunPodSandbox" && answer.ok)
      this.sandboxes.set((answer.message as { podSandboxId: string }).podSandboxId, `${namespace}/${name}`);
    if (method === "CreateContainer" && answer.ok) {
      const pod = this.sandboxes.get(podSandboxId) ?? "";
      const { containerId } = answer.message as { containerId: string };
      this.containers.set(containerId, { pod, label: `${name}#${attempt}` });
    }
    if (row === undefined) return;
    if (method === "ExecSync" && answer.ok) row.text += ` exit ${(answer.message as { exitCode: number }).exitCode}`;
    else if (!answer.ok) row.text += " failed";
  }
}

interface CallFields {
  readonly podSandboxId?: string;
  readonly containerId?: string;
  readonly timeout?: number;
  readonly config?: {
    readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly attempt?: number };
  };
}

export function statusText(type: string, object: JsonObject, pod: string): string {
  const { deletionGracePeriodSeconds: deleting, uid = "" } = metadataOf(object);
  const status = (object["status"] ?? {}) as Record<string, unknown>;
  const conditions = (status["conditions"] ?? []) as {
    type: string;
    status: string;
    reason?: string;
    message?: string;
  }[];
  const list = (key: string): string[] =>
    ((status[key] ?? []) as ContainerShown[]).map((each) => {
      const { name, state, lastState, restartCount, ready, started = false } = each;
      const last = lastState.terminated === undefined ? "" : `; last ${ended(lastState.terminated)}`;
      return `${name}: ${stateText(state)}${last}; restarts ${restartCount}; ready ${ready}; started ${started}`;
    });
  const words = [
    pod === "" ? type : `${type} ${pod}`,
    status["phase"],
    ...(deleting === undefined ? [] : [`deleting ${deleting}`]),
    ...(status["reason"] === undefined ? [] : [`reason ${String(status["reason"])}`]),
    ...(status["message"] === undefined ? [] : [`message ${String(status["message"])}`]),
  ];
  const told = conditions.map((each) => {
    const why = [each.reason, each.message].filter((word) => word !== undefined).join(": ");
    return `${each.type}=${each.status}${why === "" ? "" : ` ${why}`}`;
  });
  const parts = [
    words.join(" "),
    told.join("|"),
    list("initContainerStatuses").join("|"),
    list("containerStatuses").join("|"),
    status["qosClass"],
  ];
  return parts.join(" || ").replaceAll(uid, wordOf(uid));
}

/** As recordings call it: a static pod's is the hash of its file. */
const wordOf = (uid: string): string => (uid.includes("-") ? "<uid>" : "<hash>");

interface StateShown {
  readonly waiting?: { readonly reason?: string };
  readonly running?: object;
  readonly terminated?: { readonly reason?: string; readonly exitCode: number };
}

interface ContainerShown {
  readonly name: string;
  readonly state: StateShown;
  readonly lastState: StateShown;
  readonly restartCount: number;
  readonly ready: boolean;
  readonly started?: boolean;
}

const ended = ({ reason = "", exitCode }: NonNullable<StateShown["terminated"]>): string =>
  `terminated ${reason} ${exitCode}`;

function stateText({ waiting, running, terminated }: StateShown): string {
  if (running !== undefined) return "running";
  return terminated === undefined ? `waiting ${waiting?.reason ?? ""}` : ended(terminated);
}

export function eventText(event: JsonObject): string {
  const { fieldPath = "", uid = "", namespace } = (event["involvedObject"] ?? {}) as Involved;
  const message = String(event["message"]).replaceAll(uid, wordOf(uid)).replaceAll(`_${namespace}(`, "_<namespace>(");
  const words = `${String(event["type"])} ${String(event["reason"])} ${message}`;
  return `${words} x${String(event["count"])} ${fieldPath}`.trim();
}

interface Involved {
  readonly fieldPath?: string;
  readonly uid?: string;
  readonly namespace?: string;
}
