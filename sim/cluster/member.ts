import { invariant } from "../kernel/invariant.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";

/** A member of a cluster: one process at a time under one name, which can crash and be started anew. */
export class Member<Made> {
  readonly name: string;
  private readonly kernel: Kernel;
  private readonly make: (process: Process) => Made;
  private current: { readonly process: Process; readonly made: Made } | undefined;

  constructor(kernel: Kernel, name: string, make: (process: Process) => Made) {
    this.kernel = kernel;
    this.name = name;
    this.make = make;
  }

  get isAlive(): boolean {
    return this.current?.process.alive === true;
  }

  /** Of the present or the last incarnation. */
  get process(): Process {
    return this.known().process;
  }

  /** What the present or the last incarnation runs. */
  get made(): Made {
    return this.known().made;
  }

  /** Makes the next incarnation at once. Throws when one is alive. */
  start(): void {
    invariant(!this.isAlive, "a member is started once it is down", this.name);
    const process = this.kernel.process(this.name);
    const made = this.kernel.enter(process, () => this.make(process));
    this.current = { process, made };
  }

  /** All that it has pending is gone, and whoever is connected to it notices. Nothing happens to one that is down. */
  crash(): void {
    if (this.isAlive) this.process.crash();
  }

  private known(): { readonly process: Process; readonly made: Made } {
    invariant(this.current !== undefined, "a member that was never started", this.name);
    return this.current;
  }
}
