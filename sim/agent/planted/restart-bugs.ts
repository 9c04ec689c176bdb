/** Planted bugs of an agent that comes back: around its runtime, which had containers before. */
import type { CriAnswer, CriMessageOf, CriRequest } from "../../../wire/cri.ts";
import type { CriRuntime } from "../../cri/cri-port.ts";
import type { Process } from "../../kernel/types.ts";
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type WrapperBugs, wrappedWith } from "../../planted/planting.ts";
import { annotations } from "../runtime/runtime-pod.ts";

type ContainerStatus = NonNullable<CriMessageOf<"ContainerStatus">["status"]>;

interface RuntimeParts {
  readonly runtime: CriRuntime;
  readonly process: Process;
}

const bugsOfRestarts = {
  "restart-begins-anew": asBefore((status) => ({ ...status, ...annotated(status, annotations.hash, "another") })),
  "restart-forgets-counts": asBefore((status) => ({ ...status, ...annotated(status, annotations.restartCount, "0") })),
} as const satisfies WrapperBugs<AgentBugName, RuntimeParts>;

export const runtimeWith = (bugs: AgentBugs, parts: RuntimeParts): CriRuntime =>
  wrappedWith(parts, bugsOfRestarts, bugs).runtime;

function annotated({ annotations: own }: ContainerStatus, name: string, value: string) {
  return { annotations: { ...own, [name]: value } };
}

/** Containers that were there before the agent are told of otherwise. */
function asBefore(change: (status: ContainerStatus) => ContainerStatus) {
  return ({ runtime, process }: RuntimeParts, shows: () => boolean): RuntimeParts => {
    const { clock } = process;
    const beganNanos = (clock.epochUnixMillis * 1000 + clock.nowMicros()) * 1000;
    const changed = (answer: CriAnswer): CriAnswer => {
      if (!answer.ok) return answer;
      const { status } = answer.message as { readonly status?: ContainerStatus };
      if (status === undefined || Number(status.createdAt) >= beganNanos || !shows()) return answer;
      return {
        ...answer,
        message: { ...answer.message, status: change(status) } as CriAnswer extends { message: infer M } ? M : never,
      };
    };
    return {
      process,
      runtime: {
        events: (reader, sink) => runtime.events(reader, sink),
        start: (request: CriRequest, done, fail) =>
          runtime.start(request, request.method === "ContainerStatus" ? (answer) => done(changed(answer)) : done, fail),
      },
    };
  };
}
