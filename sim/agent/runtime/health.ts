/**
 * Whether the container runtime answers and is ready, asked every five seconds, but for one in the same process that
 * promises to tell of changes. Source: the facts, Loops; section 3.
 */
import type { Cancel, Micros } from "../../kernel/types.ts";
import type { RuntimeHealth } from "../ports.ts";
import { piece, turns } from "../piece.ts";
import { run, type Task } from "../task.ts";
import { type CriCaller, failureWords } from "./cri-caller.ts";

const periodMicros: Micros = 5_000_000;
const downMicros: Micros = 30_000_000;
const relistMicrosMax: Micros = 180_000_000;
const none: readonly string[] = [];

/** What is wrong with a runtime that was not asked yet. */
export const notAskedYet = "container runtime status check may not have completed yet";

export class Health implements RuntimeHealth {
  private readonly cri: CriCaller;
  private readonly relistMicros: () => Micros;
  private readonly listeners: (() => void)[] = [];
  private answeredMicros: Micros = -1;
  /** While nothing changes: since the last answer. */
  private sleep: { readonly sinceMicros: Micros; readonly next: (micros: Micros) => void } | undefined;
  private cancelQuiet: Cancel = () => {};
  private startedMicros: Micros = 0;
  private notReady: string | undefined = notAskedYet;
  private network: string | undefined = "container runtime network not ready: the runtime has not been asked yet";
  private named: { readonly name: string; readonly version: string } | undefined;
  private told = "";

  /** `relistMicros`: when the last list that worked began; -1: none. */
  constructor(cri: CriCaller, relistMicros: () => Micros) {
    this.cri = cri;
    this.relistMicros = relistMicros;
  }

  start(): void {
    this.startedMicros = this.cri.process.clock.nowMicros();
    turns(this.cri.process, "runtime-health", "a look at the runtime's health", periodMicros, (next) =>
      this.look(next),
    );
  }

  private look(next: (micros: Micros) => void): void {
    const { process, runtime } = this.cri;
    const { clock } = process;
    const sinceMicros = clock.nowMicros();
    let isQuiet = true;
    this.cancelQuiet();
    const cancel = runtime.quiet?.(() => {
      isQuiet = false;
      const wake = (): void => this.wake();
      piece(process, "runtime-health", "news of the runtime", wake, wake);
    });
    this.cancelQuiet = cancel ?? (() => {});
    run(this.check(), () => {
      const isGood = this.answeredMicros === sinceMicros && clock.nowMicros() === sinceMicros;
      if (cancel !== undefined && isQuiet && isGood) {
        this.sleep = { sinceMicros, next };
        return;
      }
      cancel?.();
      next(periodMicros);
    });
  }

  private wake(): void {
    if (this.sleep === undefined) return;
    const { sinceMicros, next } = this.sleep;
    const { clock } = this.cri.process;
    next(periodMicros - ((clock.nowMicros() - sinceMicros) % periodMicros));
    this.answeredMicros = this.goodMicros;
    this.sleep = undefined;
  }

  /** When the runtime last said that it is ready, or would have. */
  private get goodMicros(): Micros {
    if (this.sleep === undefined) return this.answeredMicros;
    const nowMicros = this.cri.process.clock.nowMicros();
    return nowMicros - ((nowMicros - this.sleep.sinceMicros) % periodMicros);
  }

  /** The runtime's name and version must be known before anything is asked of it. Tries until they are. */
  *greet(): Task<void> {
    for (;;) {
      const version = yield* this.cri.ask("Version", {});
      if (version.ok) {
        this.named = { name: version.message.runtimeName, version: version.message.runtimeVersion };
        break;
      }
      yield (resume) => this.cri.process.clock.after(1_000_000, () => resume(undefined));
    }
    // A runtime that does not know the call leaves the agent its own choice of driver.
    yield* this.cri.ask("RuntimeConfig", {});
  }

  /** The same empty list as long as nothing is wrong. */
  errors(): readonly string[] {
    const errors = this.found();
    return errors.length === 0 ? none : errors;
  }

  private found(): readonly string[] {
    const errors: string[] = [];
    const nowMicros = this.cri.process.clock.nowMicros();
    if (this.goodMicros < 0) errors.push(notAskedYet);
    else if (nowMicros - this.goodMicros > downMicros) errors.push("container runtime is down");
    const lastMicros = this.relistMicros();
    if (lastMicros < 0) {
      if (nowMicros - this.startedMicros > relistMicrosMax)
        errors.push("PLEG is not healthy: pleg has yet to be successful");
    } else if (nowMicros - lastMicros > relistMicrosMax) {
      const seconds = Math.floor((nowMicros - lastMicros) / 1_000_000);
      errors.push(`PLEG is not healthy: pleg was last seen active ${seconds}s ago; threshold is 3m0s`);
    }
    if (this.notReady !== undefined && this.goodMicros >= 0) errors.push(this.notReady);
    return errors;
  }

  networkError(): string | undefined {
    return this.network;
  }

  version(): { readonly name: string; readonly version: string } | undefined {
    return this.named;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private *check(): Task<void> {
    const status = yield* this.cri.ask("Status", {});
    if (status.ok) {
      const conditions = status.message.status?.conditions ?? [];
      const lacking = (type: string): string | undefined => {
        const found = conditions.find((condition) => condition.type === type);
        if (found?.status === true) return undefined;
        return `${type}=false reason:${found?.reason ?? ""} message:${found?.message ?? ""}`;
      };
      const network = lacking("NetworkReady");
      this.network = network === undefined ? undefined : `container runtime network not ready: ${network}`;
      const runtime = lacking("RuntimeReady");
      this.notReady = runtime === undefined ? undefined : `container runtime not ready: ${runtime}`;
      if (runtime === undefined) this.answeredMicros = this.cri.process.clock.nowMicros();
    } else this.notReady = `container runtime status check failed: ${failureWords(status)}`;
    this.tell();
  }

  private tell(): void {
    const words = [...this.errors(), this.network ?? ""].join("\n");
    if (words === this.told) return;
    this.told = words;
    for (const listener of this.listeners) listener();
  }
}
