/** A runtime on virtual time, and an agent that calls it and waits. */
import type { CriAnswer, CriMethod, CriRequestOf } from "../../wire/cri.ts";
import { callRuntime, noDeadlineMicros } from "../cri/cri-port.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { RuntimeOptions } from "./runtime-state.ts";
import { SimulatedRuntime } from "./runtime.ts";

const box = { name: "local/box:1", present: true, sizeBytes: 2_000_000 } as const;

export class RuntimeBench {
  readonly kernel: Kernel;
  readonly runtime: SimulatedRuntime;
  private agent;

  constructor(options: RuntimeOptions = {}, seed = "runtime") {
    this.kernel = new Kernel({ seed });
    this.agent = this.kernel.process("agent");
    this.runtime = new SimulatedRuntime(this.kernel.process("node-1"), { images: [box], ...options });
  }

  /** The agent dies, and another one is there. */
  replaceAgent(): void {
    this.agent.crash();
    this.agent = this.kernel.process("agent");
  }

  /** Begins a call; the answer is there once it has come. */
  begin<M extends CriMethod>(method: M, message: CriRequestOf<M>): { answer: CriAnswer<M> | undefined } {
    const call: { answer: CriAnswer<M> | undefined } = { answer: undefined };
    this.kernel.enter(this.agent, () =>
      callRuntime(this.agent, this.runtime, method, message, noDeadlineMicros, (answer) => {
        call.answer = answer;
      }),
    );
    return call;
  }

  /** Calls, and lets time pass until the answer is there. */
  call<M extends CriMethod>(method: M, message: CriRequestOf<M>): CriAnswer<M> {
    const call = this.begin(method, message);
    while (call.answer === undefined && this.kernel.step());
    if (call.answer === undefined) throw new Error(`${method} was never answered`);
    return call.answer;
  }

  /** The message of an answer that has to be good. */
  ask<M extends CriMethod>(method: M, message: CriRequestOf<M>) {
    const answer = this.call(method, message);
    if (!answer.ok) throw new Error(`${method}: ${answer.text}`);
    return answer.message;
  }

  pass(seconds: number): void {
    this.kernel.run(this.kernel.nowMicros() + seconds * 1_000_000);
  }

  sandbox(name: string, attempt = 0): string {
    const metadata = { name, namespace: "default", uid: `uid-${name}`, attempt };
    const config = {
      metadata,
      hostname: name,
      logDirectory: `/var/log/pods/default_${name}_uid-${name}`,
      labels: { pod: name },
    };
    return this.ask("RunPodSandbox", { config }).podSandboxId;
  }

  create(podSandboxId: string, command: readonly string[], more: object = {}, attempt = 0): string {
    const config = {
      metadata: { name: "c", attempt },
      image: { image: "local/box:1" },
      command,
      logPath: `c/${attempt}.log`,
      ...more,
    };
    return this.ask("CreateContainer", { podSandboxId, config }).containerId;
  }

  run(podSandboxId: string, command: readonly string[], more: object = {}): string {
    const containerId = this.create(podSandboxId, command, more);
    this.ask("StartContainer", { containerId });
    return containerId;
  }

  status(containerId: string) {
    const { status } = this.ask("ContainerStatus", { containerId });
    if (status === undefined) throw new Error("no status");
    return status;
  }

  seconds(): number {
    return this.kernel.nowMicros() / 1_000_000;
  }
}
